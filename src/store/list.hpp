#pragma once

#include <functional>

#include "core/report.hpp"
#include "store/session.hpp"

namespace notify {

Result<void> list_rows(Session& session, ListSubject subject, const ListFilter& filter, Instant now,
                       const std::function<bool(const ListRow&)>& row);

}  // namespace notify

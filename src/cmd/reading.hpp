#pragma once

#include <memory>

#include "cmd/context.hpp"
#include "store/sqlite_store.hpp"

namespace notify {

// The database for a command that only looks. It warns when the database is an old copy restored from a backup: whoever
// writes refuses that, but the operator must be able to look.
Result<std::unique_ptr<SqliteStore>> open_for_reading(Context& context);

}  // namespace notify

#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "store/session.hpp"

namespace notify {

// Before what a row says is changed or removed: computes the fingerprint of its key, if it has a key and none yet (a row that
// another program inserted has none until it is first compared). A payload that cannot be read gets one that equals nothing.
Result<void> keep_first_fingerprint(Session& session, std::int64_t outbox_id);

}  // namespace notify

#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

class Context;

// `enqueue --now`: hands one committed message on at once, as the relay would. What keeps it from going (not yet due,
// transport down, database busy) is no error: it stays PENDING for the relay.
void publish_now(Context& context, std::int64_t outbox_id);

// `enqueue --wait`: waits until the message has come to an end. Exit status 0 for SENT, 1 for FAILED, SKIPPED, ERROR,
// EXPIRED or parked (said on standard error); kTimeout when the time is over first.
Result<int> wait_for(Context& context, const std::string& message_id, Duration at_most);

}  // namespace notify

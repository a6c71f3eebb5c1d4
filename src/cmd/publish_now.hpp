#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/outbox_state.hpp"

namespace notify {

class Context;

// `enqueue --now`: hands one committed message on at once, as the relay would. What keeps it from going (not yet due,
// transport down, database busy) is no error: it stays PENDING for the relay. The row's state afterwards; nothing when
// the try itself failed.
std::optional<OutboxState> publish_now(Context& context, std::int64_t outbox_id);

// Where a message was when the waiting ended.
struct Waited {
  std::string status{};  // the inbox's state, PARKED, or the outbox's while nobody has claimed it
  std::string reason{};  // "http-400: …"; may be empty
  bool final = false;    // false: the time was over first
};

// `enqueue --wait`: waits until the message has come to an end, or the time is over.
Result<Waited> wait_for(Context& context, const std::string& message_id, Duration at_most);

}  // namespace notify

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/config.hpp"
#include "core/instant.hpp"

namespace notify {

// A message whose first call was made at this instant or before must not be called again from `at` on: its vendor may have
// forgotten the key when the request arrives. `timeout` is left for that, a tenth of the window at the most. On a channel
// at most once nothing may be called again, whatever the clock says.
inline Instant forgotten_before(const ChannelConfig& channel, Instant at) {
  if (channel.semantics != Semantics::kAtLeastOnce) return Instant{INT64_MAX};
  return at - (channel.idempotency_window - std::min(channel.timeout, channel.idempotency_window / 10));
}

}  // namespace notify

#pragma once

#include <cstdint>
#include <span>

#include "core/instant.hpp"

namespace notify {

// How long to wait after the given number of failed attempts (1 = the first has failed; less counts as 1).
// The ladder's last step repeats for ever. On top of the step come 0 to 20 % of it, chosen by `random`: never
// earlier than the step says, and what failed in one second does not come back in one second. Saturates
// instead of overflowing; a negative step counts as 0. The ladder must not be empty.
Duration backoff_delay(std::span<const Duration> ladder, int attempts, std::uint64_t random);

}  // namespace notify

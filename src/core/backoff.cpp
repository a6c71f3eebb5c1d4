#include "core/backoff.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"

namespace notify {

Duration backoff_delay(std::span<const Duration> ladder, int attempts, std::uint64_t random) {
  ASSERT(!ladder.empty());
  const std::size_t step = std::min(static_cast<std::size_t>(std::max(attempts, 1)) - 1, ladder.size() - 1);
  const std::int64_t base = std::max<std::int64_t>(ladder[step].count(), 0);
  const std::uint64_t spread = static_cast<std::uint64_t>(base) / 5;
  const auto jitter = static_cast<std::int64_t>(random % (spread + 1));
  return Duration{jitter > std::numeric_limits<std::int64_t>::max() - base ? std::numeric_limits<std::int64_t>::max()
                                                                           : base + jitter};
}

}  // namespace notify

#pragma once

// Instants are integer milliseconds since 1970-01-01T00:00:00Z (wall clock); that is what the database stores.
// Durations are std::chrono::milliseconds. Time-outs inside a process use the monotonic clock (ports/clock.hpp).

#include <chrono>
#include <compare>
#include <cstdint>

namespace notify {

using Duration = std::chrono::milliseconds;
using namespace std::chrono_literals;

struct Instant {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Duration d) { return {t.ms + d.count()}; }
  friend constexpr Instant operator-(Instant t, Duration d) { return {t.ms - d.count()}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return Duration{a.ms - b.ms}; }
};

}  // namespace notify

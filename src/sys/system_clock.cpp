#include "sys/system_clock.hpp"

#include <ctime>

namespace notify {
namespace {

std::int64_t read_ms(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);  // cannot fail for these clocks
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

}  // namespace

Instant SystemClock::now() { return {read_ms(CLOCK_REALTIME)}; }
Duration SystemClock::monotonic() { return Duration{read_ms(CLOCK_MONOTONIC)}; }
Duration SystemClock::boottime() { return Duration{read_ms(CLOCK_BOOTTIME)}; }

}  // namespace notify

#include "sys/system_random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "core/error.hpp"

namespace notify {

std::uint64_t SystemRandom::next64() {
  std::uint64_t value = 0;
  for (;;) {
    const ssize_t n = getrandom(&value, sizeof value, 0);
    if (n == static_cast<ssize_t>(sizeof value)) return value;
    // Requests of up to 256 bytes are never cut short; only a signal may come before the pool is ready.
    ASSERT(n < 0 && errno == EINTR);
  }
}

}  // namespace notify

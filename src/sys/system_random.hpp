#pragma once

#include "core/ports/random.hpp"

namespace notify {

// Random over getrandom(2), no state, thread-safe. Waits until the kernel's pool is ready (only early in a boot).
class SystemRandom final : public Random {
 public:
  std::uint64_t next64() override;
};

}  // namespace notify

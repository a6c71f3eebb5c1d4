#pragma once

#include "core/ports/clock.hpp"

namespace notify {

// Clock over clock_gettime(2). Thread-safe, stateless.
class SystemClock final : public Clock {
 public:
  Instant now() override;
  Duration monotonic() override;
  Duration boottime() override;
};

}  // namespace notify

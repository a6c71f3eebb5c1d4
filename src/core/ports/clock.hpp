#pragma once

#include "core/instant.hpp"

namespace notify {

// Thread-safe. Nothing in core reads a clock in any other way.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock; may jump either way. For instants that are stored.
  virtual Instant now() = 0;
  // Never jumps; stands still while the machine is suspended. For time-outs inside this process.
  virtual Duration monotonic() = 0;
  // Like monotonic(), but goes on while the machine is suspended (CLOCK_BOOTTIME).
  virtual Duration boottime() = 0;
};

}  // namespace notify

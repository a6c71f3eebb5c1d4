#pragma once

#include <cstdint>

#include "core/error.hpp"

namespace notify {

// Who is alive. Every process that claims holds a kernel lock on its own byte (its run id) of "<db>-procs";
// the kernel drops it when the process dies, however it dies.
class Holders {
 public:
  virtual ~Holders() = default;
  // Takes this process's lock; held until the process ends.
  virtual Result<void> hold(std::int64_t run_id) = 0;
  // False only when it is certain that nobody holds that lock.
  virtual bool alive(std::int64_t run_id) = 0;
};

}  // namespace notify

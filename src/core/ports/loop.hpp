#pragma once

#include <cstdint>
#include <functional>

#include "core/instant.hpp"

namespace notify {

// The event loop of a process. Everything runs on the one thread that calls run(), except post(), which any
// thread may call.
class Loop {
 public:
  using Timer = std::uint64_t;  // 0 is never a timer

  virtual ~Loop() = default;
  // Runs `task` on the loop thread, after the current callback has returned. Thread-safe.
  virtual void post(std::function<void()> task) = 0;
  virtual Timer after(Duration delay, std::function<void()> task) = 0;
  virtual void cancel(Timer timer) = 0;
  // Calls `ready` whenever the descriptor is readable, until unwatch(). The descriptor stays the caller's.
  virtual void watch(int fd, std::function<void()> ready) = 0;
  virtual void unwatch(int fd) = 0;
};

}  // namespace notify

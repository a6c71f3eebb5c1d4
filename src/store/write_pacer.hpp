#pragma once

#include <chrono>
#include <optional>

#include "core/instant.hpp"

namespace notify {

// Leaves a gap between the commits of one connection. SQLite's write lock is not fair: a service that commits back to
// back starves the shell script that wants to insert one row. After a pause, a few commits may follow each other
// closely (a message that arrives at an idle service is not to wait), yet never so closely that a writer who looks
// every 100 to 300 µs finds no gap.
class WritePacer {
 public:
  // Nothing: no gaps.
  explicit WritePacer(std::optional<Duration> gap) : gap_(gap) {}

  void before_begin();  // sleeps for what is left of the gap
  void after_end();     // the write lock was given back

 private:
  std::optional<Duration> gap_;
  int close_ones_ = 0;  // commits that may still follow closely
  std::chrono::steady_clock::time_point last_end_{};
};

}  // namespace notify

// Deadlines in a binary heap. Timers are never cancelled: whoever they are for checks if they still matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "behaviour.hpp"

namespace stub {

enum class TimerKind : std::uint8_t { perform, tick, close };

struct Timer {
  std::int64_t deadline = 0;  // ns of the monotonic clock
  std::uint64_t connection = 0;
  const Behaviour* act = nullptr;
  int fd = -1;
  std::uint32_t stream = 0;
  TimerKind kind = TimerKind::perform;
};

class Timers {
 public:
  void add(const Timer& timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  bool empty() const { return heap_.empty(); }
  std::int64_t next() const { return heap_.front().deadline; }
  Timer take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Timer timer = heap_.back();
    heap_.pop_back();
    return timer;
  }

 private:
  static bool later(const Timer& a, const Timer& b) { return a.deadline > b.deadline; }
  std::vector<Timer> heap_;
};

}  // namespace stub

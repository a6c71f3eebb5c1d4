#include "store/write_pacer.hpp"

#include <thread>

namespace notify {

void WritePacer::before_begin() {
  if (gap_) std::this_thread::sleep_until(last_end_ + *gap_);
}

void WritePacer::after_end() {
  if (gap_) last_end_ = std::chrono::steady_clock::now();
}

}  // namespace notify

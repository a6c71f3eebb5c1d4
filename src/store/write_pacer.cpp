#include "store/write_pacer.hpp"

#include <thread>

namespace notify {

namespace {

constexpr int kCloseOnes = 3;
constexpr std::chrono::microseconds kCloseGap{400};

}  // namespace

void WritePacer::before_begin() {
  if (!gap_) return;
  const auto idle = std::chrono::steady_clock::now() - last_end_;
  if (idle >= 5 * *gap_) close_ones_ = kCloseOnes;
  if (idle >= *gap_) return;
  if (close_ones_ > 0) {
    --close_ones_;
    std::this_thread::sleep_until(last_end_ + kCloseGap);
  } else {
    std::this_thread::sleep_until(last_end_ + *gap_);
  }
}

void WritePacer::after_end() {
  if (gap_) last_end_ = std::chrono::steady_clock::now();
}

}  // namespace notify

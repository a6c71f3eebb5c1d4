#include "core/call_window.hpp"

#include <algorithm>

namespace notify {
namespace {

// An answer within twice the fastest and this is as fast: what is below is noise of the machine and the network.
constexpr Duration kNoise = 10ms;

// How much the share of 503s that is let pass, one in this many, may be exceeded before it counts.
constexpr int kOneIn = 8;
constexpr int kBadLuck = 4;

constexpr Duration kTryAgain = 1min;

}  // namespace

void CallWindow::note(const Outcome& outcome, Instant claimed_at, Instant now) noexcept {
  if (too_many(outcome)) {
    if (claimed_at <= narrowed_at_) return;
    too_many_at_ = size_;
    size_ = std::max(1, size_ / 2);
    answered_ = unwell_ = 0;
    narrowed_at_ = now;
    return;
  }
  if (outcome.cls != OutcomeClass::kSent && outcome.cls != OutcomeClass::kPermanent) return;
  const bool may_grow = size_ < most_ && (size_ + 1 < too_many_at_ || now - narrowed_at_ >= kTryAgain);
  if (!is_flat(outcome.elapsed) || !may_grow || ++answered_ < size_) return;
  answered_ = 0;
  ++size_;
}

bool CallWindow::too_many(const Outcome& outcome) noexcept {
  if (outcome.cls == OutcomeClass::kNotSent && (outcome.lane_wide || outcome.status == 429)) return true;
  if (outcome.cls != OutcomeClass::kNotSent || outcome.status != 503) {
    unwell_ = std::max(0, unwell_ - 1);
    return false;
  }
  unwell_ += kOneIn;
  return unwell_ > kBadLuck * kOneIn;
}

bool CallWindow::is_flat(Duration elapsed) noexcept {
  if (fastest_ == Duration{0} || elapsed < fastest_) fastest_ = std::max(elapsed, Duration{1});
  return elapsed <= 2 * fastest_ + kNoise;
}

}  // namespace notify

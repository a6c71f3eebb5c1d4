#pragma once

#include "core/instant.hpp"
#include "core/outcome.hpp"

namespace notify {

// How many calls a lane may have out at once. It begins with the configured number and never exceeds it. When the vendor
// says that there are too many it is halved, once for all calls that were out then; while answers come about as fast as
// the fastest, it grows by one for every full window of them (additive increase, multiplicative decrease, as in RFC
// 5681). The number that was too many is tried again after a minute, since that costs the lane a pause. A 429 says so by
// itself; a 503 may be bad luck, so those count only when they are more than one in eight. Memory of one process: each
// finds its own share.
class CallWindow {
 public:
  explicit CallWindow(int most) noexcept : most_(most), size_(most), too_many_at_(most + 1) {}

  int size() const noexcept { return size_; }

  // The outcome of a call that was claimed at `claimed_at`.
  void note(const Outcome& outcome, Instant claimed_at, Instant now) noexcept;

 private:
  bool too_many(const Outcome& outcome) noexcept;
  bool is_flat(Duration elapsed) noexcept;

  int most_;
  int size_;
  int unwell_ = 0;         // 503s lately: eight up for each, one down for every other answer
  int answered_ = 0;       // in time, since it has last grown
  int too_many_at_;        // the size that was last refused
  Instant narrowed_at_{};  // calls claimed until then have been counted
  Duration fastest_{0};    // answer so far; 0: none yet
};

}  // namespace notify

#include "store/fair_pick.hpp"

#include <algorithm>

namespace notify {

// The rows of one channel during one pick.
class ChannelPick {
 public:
  ChannelPick(FairPick& memory, WaitingIndex& index, WaitingRows& rows, std::string_view channel, Instant now)
      : memory_(memory), index_(index), rows_(rows), channel_(channel), now_(now) {}

  bool exhausted() const noexcept { return exhausted_; }

  // The next up to `limit` rows; fewer only when there are no more.
  Result<int> take(int limit) {
    int taken = 0;
    while (taken < limit && !exhausted_) {
      if (level_.empty()) TRY(seen_all_ ? open_next_level() : look_at_kinds(limit - taken));
      if (level_.empty()) continue;
      TRY_ASSIGN(const int got, share_out(limit - taken));
      taken += got;
    }
    remember();
    return taken;
  }

 private:
  struct Group {
    std::string kind{};
    int taken = 0;
  };

  Result<void> open_next_level() {
    TRY_ASSIGN(const std::optional<int> priority, index_.next_priority(channel_, priority_));
    if (!priority) {
      exhausted_ = true;
      return {};
    }
    priority_ = *priority;
    begin_.reset();
    if (const auto stopped = memory_.resume_after_.find({channel_, priority_});
        stopped != memory_.resume_after_.end()) {
      begin_ = stopped->second;
    }
    after_ = begin_;
    wrapped_ = !begin_;
    seen_all_ = false;
    return {};
  }

  // The next kinds of this level with a ready row, at most `wanted`: once round, beginning after the kind at which
  // the last pick stopped.
  Result<void> look_at_kinds(int wanted) {
    while (!seen_all_ && static_cast<int>(level_.size()) < std::min(wanted, FairPick::kKindsAtOnce)) {
      TRY_ASSIGN(const std::optional<WaitingKind> next, index_.next_kind(channel_, priority_, after_));
      if (!next && !wrapped_) {
        wrapped_ = true;
        after_.reset();
      } else if (!next || (wrapped_ && begin_ && next->kind > *begin_)) {
        seen_all_ = true;
      } else {
        after_ = next->kind;
        if (next->first_ready <= now_) level_.push_back({next->kind, 0});
      }
    }
    return {};
  }

  // Where the next pick goes on when this one has not been round.
  void remember() {
    if (priority_ > 9) return;
    if (!seen_all_ && after_) {
      memory_.resume_after_[{channel_, priority_}] = *after_;
    } else {
      memory_.resume_after_.erase({channel_, priority_});
    }
  }

  // One round over the kinds of the level: equal shares, beginning with the kind whose turn it is.
  Result<int> share_out(int limit) {
    const std::size_t kinds = level_.size();
    const int share = std::max(1, limit / static_cast<int>(kinds));
    const std::size_t first = memory_.turn_ % kinds;
    int taken = 0;
    std::vector<Group> left;
    for (std::size_t i = 0; i < kinds; ++i) {
      Group& group = level_[(first + i) % kinds];
      const int wanted = std::min(share, limit - taken);
      if (wanted > 0) {
        TRY_ASSIGN(const int got, rows_.fetch(channel_, priority_, group.kind, wanted, group.taken));
        taken += got;
        group.taken += got;
        ++memory_.turn_;
        if (got < wanted) continue;
      }
      left.push_back(std::move(group));
    }
    level_ = std::move(left);
    return taken;
  }

  FairPick& memory_;
  WaitingIndex& index_;
  WaitingRows& rows_;
  std::string channel_;
  Instant now_;
  bool exhausted_ = false;

  int priority_ = 10;                   // of the level; 10: none opened yet
  std::vector<Group> level_{};          // kinds that may have more ready rows
  std::optional<std::string> begin_{};  // the kind after which this round began; nothing: at the first
  std::optional<std::string> after_{};  // the last kind looked at
  bool wrapped_ = false;
  bool seen_all_ = true;
};

Result<int> FairPick::from_channel(WaitingIndex& index, WaitingRows& rows, std::string_view channel, Instant now,
                                   int limit) {
  return ChannelPick(*this, index, rows, channel, now).take(limit);
}

Result<int> FairPick::from_all(WaitingIndex& index, WaitingRows& rows, Instant now, int limit) {
  std::vector<ChannelPick> channels;
  std::string channel;
  while (true) {
    TRY_ASSIGN(std::optional<std::string> next, index.next_channel(channel));
    if (!next) break;
    channel = std::move(*next);
    channels.emplace_back(*this, index, rows, channel, now);
  }
  if (channels.empty()) return 0;

  const std::size_t first = turn_ % channels.size();
  int taken = 0;
  auto open = static_cast<int>(channels.size());
  while (taken < limit && open > 0) {
    const int share = std::max(1, (limit - taken) / open);
    open = 0;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      ChannelPick& pick = channels[(first + i) % channels.size()];
      if (pick.exhausted() || taken == limit) continue;
      TRY_ASSIGN(const int got, pick.take(std::min(share, limit - taken)));
      taken += got;
      if (!pick.exhausted()) ++open;
    }
  }
  return taken;
}

Result<std::optional<Instant>> FairPick::first_ready(WaitingIndex& index, std::string_view channel) {
  std::optional<Instant> first;
  int priority = 10;
  while (true) {
    TRY_ASSIGN(const std::optional<int> next_priority, index.next_priority(channel, priority));
    if (!next_priority) return first;
    priority = *next_priority;
    std::optional<std::string> after;
    while (true) {
      TRY_ASSIGN(const std::optional<WaitingKind> next, index.next_kind(channel, priority, after));
      if (!next) break;
      after = next->kind;
      if (!first || next->first_ready < *first) first = next->first_ready;
    }
  }
}

}  // namespace notify

#pragma once

// Which of many waiting rows go next: urgent first within a channel, fair between kinds of one priority, oldest first
// within a kind, fair between channels. Rows lie in an index (channel, priority DESC, kind, ready_at); each distinct
// (channel, priority, kind) is one seek, so rows that cannot go now (whole groups of them, or the tail of a group)
// cost nothing and hide nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

struct WaitingKind {
  std::string kind{};
  Instant first_ready{};  // of its earliest row
};

// The index, one seek a question. SQL stands behind it in production.
class WaitingIndex {
 public:
  virtual ~WaitingIndex() = default;
  // The first channel after `after` (empty: the first of all) in which rows wait.
  virtual Result<std::optional<std::string>> next_channel(std::string_view after) = 0;
  // The highest priority below `below` that rows of this channel have.
  virtual Result<std::optional<int>> next_priority(std::string_view channel, int below) = 0;
  // The first kind after `after` among the rows of this channel and priority; nothing given: the first of all.
  virtual Result<std::optional<WaitingKind>> next_kind(std::string_view channel, int priority,
                                                       std::optional<std::string_view> after) = 0;
};

// Where picked rows come from. Called with growing offsets within one group.
class WaitingRows {
 public:
  virtual ~WaitingRows() = default;
  // Takes up to `limit` rows of the group that are ready, after skipping `offset` ready ones. Returns how many.
  virtual Result<int> fetch(std::string_view channel, int priority, std::string_view kind, int limit, int offset) = 0;
};

// Remembers between picks whose turn it is. One object per table and connection.
class FairPick {
 public:
  // Takes up to `limit` rows of one channel that are ready at `now`. Returns how many.
  Result<int> from_channel(WaitingIndex& index, WaitingRows& rows, std::string_view channel, Instant now, int limit);

  // Takes up to `limit` rows of all channels, each channel with ready rows getting an equal share, what one does not
  // use going to the others.
  Result<int> from_all(WaitingIndex& index, WaitingRows& rows, Instant now, int limit);

  // When the earliest row of the channel is ready, be it in the past.
  static Result<std::optional<Instant>> first_ready(WaitingIndex& index, std::string_view channel);

 private:
  friend class ChannelPick;
  static constexpr int kKindsAtOnce = 64;

  std::uint64_t turn_ = 0;
  std::map<std::pair<std::string, int>, std::string> resume_after_{};  // (channel, priority) → last kind looked at
};

}  // namespace notify

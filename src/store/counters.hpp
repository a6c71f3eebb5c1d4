#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/inbox_state.hpp"
#include "core/instant.hpp"
#include "core/outbox_state.hpp"
#include "store/sqlite/database.hpp"

namespace notify {

// What is counted instead of being looked up: final states have millions of rows.
enum class Counter {
  kEnqueued,
  kOutboxPublished,
  kOutboxSkipped,
  kOutboxExpired,
  kOutboxFailed,
  kInboxSent,
  kInboxFailed,
  kInboxError,
  kInboxSkipped,
};
inline constexpr std::size_t kCounters = 9;

std::string_view counter_name(Counter counter) noexcept;  // as stored: "outbox.PUBLISHED"

// The counter of a final state; asserts that the state is one.
Counter counter_of(OutboxState state) noexcept;
Counter counter_of(InboxState state) noexcept;

// Rates are kept in spans of this length for a day and a bit.
inline constexpr Duration kCounterSpan{300'000};
inline constexpr Duration kCounterHistory{25 * 3'600'000};

// Changes of one write transaction, written just before its commit.
class Counters {
 public:
  void add(Counter counter, std::int64_t change, Instant now) noexcept;
  // Takes back one that was counted at `counted_at`, out of the rates as well: a message counts where it is now.
  void take_back(Counter counter, Instant counted_at, Instant now);
  Result<void> flush(sqlite::Database& database);
  void forget() noexcept {
    changes_ = {};
    added_ = {};
    taken_back_.clear();
  }

 private:
  Result<void> flush_totals(sqlite::Database& database);
  Result<void> drop_old_spans(sqlite::Database& database, std::int64_t span);

  std::array<std::int64_t, kCounters> changes_{};
  std::array<std::int64_t, kCounters> added_{};  // the additions among them, which are what happened
  std::map<std::pair<std::int64_t, Counter>, std::int64_t> taken_back_{};  // by span
  Instant now_{};
  std::int64_t swept_at_ = 0;  // span in which old spans were dropped last
};

}  // namespace notify

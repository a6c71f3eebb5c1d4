#include "store/counters.hpp"

#include <algorithm>
#include <utility>

namespace notify {
namespace {

constexpr std::array<std::string_view, kCounters> kNames{"enqueued",       "outbox.PUBLISHED", "outbox.SKIPPED",
                                                         "outbox.EXPIRED", "outbox.FAILED",    "inbox.SENT",
                                                         "inbox.FAILED",   "inbox.ERROR",      "inbox.SKIPPED"};

}  // namespace

std::string_view counter_name(Counter counter) noexcept { return kNames[static_cast<std::size_t>(counter)]; }

Counter counter_of(OutboxState state) noexcept {
  switch (state) {
    case OutboxState::kPublished: return Counter::kOutboxPublished;
    case OutboxState::kSkipped: return Counter::kOutboxSkipped;
    case OutboxState::kExpired: return Counter::kOutboxExpired;
    case OutboxState::kFailed: return Counter::kOutboxFailed;
    case OutboxState::kPending:
    case OutboxState::kPublishing: break;
  }
  UNREACHABLE("not a final state");
}

Counter counter_of(InboxState state) noexcept {
  switch (state) {
    case InboxState::kSent: return Counter::kInboxSent;
    case InboxState::kFailed: return Counter::kInboxFailed;
    case InboxState::kError: return Counter::kInboxError;
    case InboxState::kSkipped: return Counter::kInboxSkipped;
    case InboxState::kNone:
    case InboxState::kSending: break;
  }
  UNREACHABLE("not a final state");
}

void Counters::add(Counter counter, std::int64_t change, Instant now) noexcept {
  changes_[static_cast<std::size_t>(counter)] += change;
  added_[static_cast<std::size_t>(counter)] += std::max<std::int64_t>(change, 0);
  now_ = now;
}

void Counters::take_back(Counter counter, Instant counted_at, Instant now) {
  add(counter, -1, now);
  ++taken_back_[{counted_at.ms / kCounterSpan.count(), counter}];
}

Result<void> Counters::flush(sqlite::Database& database) {
  TRY(flush_totals(database));
  // After the additions: what is taken back may have been added by this very transaction.
  for (const auto& [where, count] : std::exchange(taken_back_, {})) {
    TRY_ASSIGN(sqlite::Use take, database.use(R"sql(
      UPDATE notification_counter SET value = max(value - ?3, 0) WHERE bucket = ?1 AND name = ?2)sql"));
    TRY(take.bind(where.first, counter_name(where.second), count).run());
  }
  return {};
}

Result<void> Counters::flush_totals(sqlite::Database& database) {
  const std::int64_t span = now_.ms / kCounterSpan.count();
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::int64_t change = std::exchange(changes_[i], 0);
    const std::int64_t added = std::exchange(added_[i], 0);
    if (change == 0 && added == 0) continue;
    TRY_ASSIGN(sqlite::Use add, database.use(R"sql(
      INSERT INTO notification_counter (bucket, name, value) VALUES (?1, ?2, ?3)
      ON CONFLICT (bucket, name) DO UPDATE SET value = value + excluded.value)sql"));
    TRY(add.bind(0, kNames[i], change).run());
    if (added == 0) continue;  // a correction, not an event
    add.reset();
    TRY(add.bind(span, kNames[i], added).run());
    TRY(drop_old_spans(database, span));
  }
  return {};
}

Result<void> Counters::drop_old_spans(sqlite::Database& database, std::int64_t span) {
  if (swept_at_ == span) return {};
  swept_at_ = span;
  TRY_ASSIGN(sqlite::Use drop, database.use("DELETE FROM notification_counter WHERE bucket > 0 AND bucket < ?1"));
  TRY(drop.bind(span - kCounterHistory / kCounterSpan).run());
  return {};
}

}  // namespace notify

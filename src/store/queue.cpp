#include "store/queue.hpp"

#include <algorithm>

#include "store/change_one.hpp"
#include "store/rows.hpp"

namespace notify {
namespace {

using sqlite::Use;

std::int64_t new_lease_token() {
  std::uint64_t random = 0;
  sqlite3_randomness(sizeof random, &random);
  return static_cast<std::int64_t>(random >> 1U) | 1;
}

// notification_queue_waiting as the picker sees it.
class WaitingQueue final : public WaitingIndex {
 public:
  explicit WaitingQueue(sqlite::Database& database) : database_(database) {}

  Result<std::optional<std::string>> next_channel(std::string_view after) override {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT channel FROM notification_queue WHERE leased_by IS NULL AND channel > ?1 ORDER BY channel LIMIT 1)sql"));
    TRY_ASSIGN(const bool found, query.bind(after).row());
    if (!found) return std::nullopt;
    return query.text(0);
  }

  Result<std::optional<int>> next_priority(std::string_view channel, int below) override {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT priority FROM notification_queue
       WHERE leased_by IS NULL AND channel = ?1 AND priority < ?2 ORDER BY priority DESC LIMIT 1)sql"));
    TRY_ASSIGN(const bool found, query.bind(channel, below).row());
    if (!found) return std::nullopt;
    return query.small(0);
  }

  Result<std::optional<WaitingKind>> next_kind(std::string_view channel, int priority,
                                               std::optional<std::string_view> after) override {
    if (after) {
      TRY_ASSIGN(Use query, database_.use(R"sql(
        SELECT kind, ready_at FROM notification_queue
         WHERE leased_by IS NULL AND channel = ?1 AND priority = ?2 AND kind > ?3
         ORDER BY kind, ready_at LIMIT 1)sql"));
      return first(query.bind(channel, priority, *after));
    }
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT kind, ready_at FROM notification_queue
       WHERE leased_by IS NULL AND channel = ?1 AND priority = ?2
       ORDER BY kind, ready_at LIMIT 1)sql"));
    return first(query.bind(channel, priority));
  }

 private:
  static Result<std::optional<WaitingKind>> first(Use& query) {
    TRY_ASSIGN(const bool found, query.row());
    if (!found) return std::nullopt;
    return WaitingKind{query.text(0), query.instant(1)};
  }

  sqlite::Database& database_;
};

// Reads what is picked; the leases are written afterwards, so that the index stands still meanwhile.
class ReadyMessages final : public WaitingRows {
 public:
  ReadyMessages(sqlite::Database& database, Instant now, std::vector<Delivery>& deliveries)
      : database_(database), now_(now), deliveries_(deliveries) {}

  Result<int> fetch(std::string_view channel, int priority, std::string_view kind, int limit, int offset) override {
    TRY_ASSIGN(Use query, database_.use("SELECT " NOTIFY_ENVELOPE_COLUMNS R"sql(, o.payload,
             q.message_id, q.lost_leases, q.tries, q.outbox_id, q.queued_at
        FROM notification_queue AS q LEFT JOIN notification_outbox AS o ON o.id = q.outbox_id
       WHERE q.leased_by IS NULL AND q.channel = ?1 AND q.priority = ?2 AND q.kind = ?3 AND q.ready_at <= ?4
       ORDER BY q.ready_at LIMIT ?5 OFFSET ?6)sql"));
    query.bind(channel, priority, kind, now_, limit, offset);
    for (int count = 0;; ++count) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return count;
      constexpr int kOwn = kEnvelopeColumns;
      Delivery& delivery = deliveries_.emplace_back();
      delivery.envelope = read_envelope(query, 0);
      delivery.envelope.payload = query.text(kOwn);
      delivery.envelope.message_id = query.text(kOwn + 1);
      delivery.lost_leases = query.small(kOwn + 2);
      delivery.tries = query.small(kOwn + 3);
      if (query.is_null(0)) {
        // Somebody has removed the outbox row. What is left goes on, so that the worker parks it as unreadable.
        delivery.envelope.outbox_id = query.integer(kOwn + 4);
        delivery.envelope.channel = channel;
        delivery.envelope.kind = kind;
        delivery.envelope.priority = priority;
        delivery.envelope.category = kTransactional;
        delivery.envelope.enqueued_at = query.instant(kOwn + 5);
      }
    }
  }

 private:
  sqlite::Database& database_;
  Instant now_;
  std::vector<Delivery>& deliveries_;
};

}  // namespace

Result<bool> SqliteQueue::put(std::int64_t outbox_id, std::int64_t holder, Instant now) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  const std::string message_id = ids->make(outbox_id);
  TRY_ASSIGN(const bool put, change_one(session_, R"sql(
    INSERT INTO notification_queue (message_id, outbox_id, channel, kind, priority, ready_at, due_at, queued_at)
    SELECT ?1, id, channel, kind, priority, ?4, due_at, ?4 FROM notification_outbox
     WHERE id = ?2 AND status = 'PUBLISHING' AND claimed_by = ?3
    ON CONFLICT (message_id) DO NOTHING)sql",
                                        message_id, outbox_id, holder, now));
  if (put) return true;
  TRY_ASSIGN(Use claimed, session_.database().use(R"sql(
    SELECT 1 FROM notification_outbox WHERE id = ?1 AND status = 'PUBLISHING' AND claimed_by = ?2)sql"));
  return claimed.bind(outbox_id, holder).row();
}

Result<std::vector<Delivery>> SqliteQueue::take(const ReceiveRequest& request) {
  std::vector<Delivery> deliveries;
  for (const ReceiveQuota& lane : request.lanes)
    if (lane.limit > 0) TRY(take_lane(lane.channel, lane.limit, request, deliveries));
  if (request.unlisted > 0) TRY(take_unlisted(request, deliveries));

  for (Delivery& delivery : deliveries) {
    delivery.handle = {delivery.envelope.message_id, new_lease_token()};
    TRY_ASSIGN(const bool leased, change_one(session_, R"sql(
      UPDATE notification_queue SET lease_token = ?2, leased_by = ?3, ready_at = ?4
       WHERE message_id = ?1 AND leased_by IS NULL)sql",
                                             delivery.handle.message_id, delivery.handle.lease_token, request.holder,
                                             request.lease_until));
    ASSERT(leased);  // read in this very transaction
  }
  return deliveries;
}

Result<void> SqliteQueue::take_lane(std::string_view channel, int limit, const ReceiveRequest& request,
                                    std::vector<Delivery>& deliveries) {
  TRY(end_leases(channel, request.now));
  WaitingQueue index(session_.writer());
  ReadyMessages rows(session_.writer(), request.now, deliveries);
  TRY(pick_.from_channel(index, rows, channel, request.now, limit));
  return {};
}

Result<void> SqliteQueue::take_unlisted(const ReceiveRequest& request, std::vector<Delivery>& deliveries) {
  WaitingQueue index(session_.writer());
  int left = request.unlisted;
  std::string channel;
  while (left > 0) {
    TRY_ASSIGN(std::optional<std::string> next, index.next_channel(channel));
    if (!next) return {};
    channel = std::move(*next);
    const bool listed = std::any_of(request.lanes.begin(), request.lanes.end(),
                                    [&](const ReceiveQuota& lane) { return lane.channel == channel; });
    if (listed) continue;
    const std::size_t before = deliveries.size();
    TRY(take_lane(channel, left, request, deliveries));
    left -= static_cast<int>(deliveries.size() - before);
  }
  return {};
}

// Leases of this channel that ended without an ack: lost, and waiting again. Usually there are none.
Result<void> SqliteQueue::end_leases(std::string_view channel, Instant now) {
  {
    TRY_ASSIGN(Use any, session_.writer().use(R"sql(
      SELECT 1 FROM notification_queue WHERE leased_by IS NOT NULL AND channel = ?1 AND ready_at <= ?2 LIMIT 1)sql"));
    TRY_ASSIGN(const bool found, any.bind(channel, now).row());
    if (!found) return {};
  }
  TRY_ASSIGN(Use end, session_.writer().use(R"sql(
    UPDATE notification_queue SET lease_token = NULL, leased_by = NULL, lost_leases = lost_leases + 1
     WHERE leased_by IS NOT NULL AND channel = ?1 AND ready_at <= ?2 -- may collect: rare)sql"));
  TRY(end.bind(channel, now).run());
  return {};
}

Result<bool> SqliteQueue::remove(std::string_view message_id, std::int64_t lease_token) {
  return change_one(session_, "DELETE FROM notification_queue WHERE message_id = ?1 AND lease_token = ?2", message_id,
                    lease_token);
}

// With unchanged tries and beyond the present lease it is a deferral (quiet hours), not trouble: the message is due
// only then. status shows the age of what is due.
Result<bool> SqliteQueue::put_back(std::string_view message_id, std::int64_t lease_token, Instant ready, int tries,
                                   std::string_view reason) {
  return change_one(session_, R"sql(
    UPDATE notification_queue
       SET lease_token = NULL, leased_by = NULL,
           due_at = CASE WHEN tries = ?4 AND ?3 > ready_at THEN ?3 ELSE due_at END,
           ready_at = ?3, tries = ?4, reason = ?5
     WHERE message_id = ?1 AND lease_token = ?2)sql",
                    message_id, lease_token, ready, tries, reason);
}

Result<bool> SqliteQueue::extend(std::string_view message_id, std::int64_t lease_token, Instant until) {
  return change_one(session_, "UPDATE notification_queue SET ready_at = ?3 WHERE message_id = ?1 AND lease_token = ?2",
                    message_id, lease_token, until);
}

Result<int> SqliteQueue::recover_holder(std::int64_t holder, Instant now) {
  // channel > '' names the whole of the small partial index.
  TRY_ASSIGN(Use end, session_.writer().use(R"sql(
    UPDATE notification_queue
       SET lease_token = NULL, leased_by = NULL, lost_leases = lost_leases + 1, ready_at = min(ready_at, ?2)
     WHERE leased_by IS NOT NULL AND channel > '' AND leased_by = ?1 -- may collect: a process has died)sql"));
  return end.bind(holder, now).run();
}

Result<std::optional<Instant>> SqliteQueue::next_ready(std::span<const std::string> channels, Instant /*now*/) {
  WaitingQueue index(session_.database());
  std::optional<Instant> first;
  const auto earlier = [&](std::optional<Instant> ready) {
    if (ready && (!first || *ready < *first)) first = ready;
  };
  for (const std::string& channel : channels) {
    TRY_ASSIGN(const std::optional<Instant> waiting, FairPick::first_ready(index, channel));
    earlier(waiting);
    TRY_ASSIGN(Use lease_end, session_.database().use(R"sql(
      SELECT ready_at FROM notification_queue WHERE leased_by IS NOT NULL AND channel = ?1 ORDER BY ready_at LIMIT 1)sql"));
    TRY_ASSIGN(const bool leased, lease_end.bind(channel).row());
    if (leased) earlier(lease_end.instant(0));
  }
  return first;
}

Result<bool> SqliteQueue::remove_any(std::string_view message_id) {
  return change_one(session_, "DELETE FROM notification_queue WHERE message_id = ?1", message_id);
}

// Only what is not being worked on.
Result<bool> SqliteQueue::make_ready(std::string_view message_id, Instant ready) {
  return change_one(session_, "UPDATE notification_queue SET ready_at = ?2 WHERE message_id = ?1 AND leased_by IS NULL",
                    message_id, ready);
}

}  // namespace notify

// What replay and reconcile do with outbox rows: they start again.

#include "store/change_one.hpp"
#include "store/outbox.hpp"
#include "store/rows.hpp"

namespace notify {

using sqlite::Use;

Result<bool> SqliteOutbox::reopen(std::int64_t id, const Reopening& reopening) {
  ASSERT(reopening.from != OutboxState::kPublishing);
  TRY_ASSIGN(const bool reopened, change_one(session_, R"sql(
    UPDATE notification_outbox
       SET status = 'PENDING', due_at = ?3, ready_at = ?3, attempts = 0, reason = '',
           expires_at = coalesce(?4, expires_at), copy_may_be_out = max(copy_may_be_out, ?5), updated_at = ?6
     WHERE id = ?1 AND status = ?2)sql",
                                             id, name(reopening.from), reopening.due, reopening.expires,
                                             reopening.copy_may_be_out, reopening.now));
  if (reopened && reopening.from != OutboxState::kPending)
    session_.count(counter_of(reopening.from), -1, reopening.now);
  return reopened;
}

// Message ids are made from ids, so each generation is a search of its own.
Result<std::vector<std::int64_t>> SqliteOutbox::nowhere(std::int64_t after, Instant published_before, int limit) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  std::vector<std::int64_t> found;
  while (static_cast<int>(found.size()) < limit) {
    const std::int64_t last = ids->last_of_range(after + 1);
    const std::string id = ids->make(after + 1);
    const std::string prefix = id.substr(0, id.rfind('-') + 1);
    TRY_ASSIGN(Use query, session_.database().use(R"sql(
      SELECT id FROM notification_outbox AS o
       WHERE id > ?1 AND id <= ?2 AND status = 'PUBLISHED' AND updated_at <= ?3 AND
             NOT EXISTS (SELECT 1 FROM notification_inbox WHERE message_id = ?4 || o.id) AND
             NOT EXISTS (SELECT 1 FROM notification_queue WHERE message_id = ?4 || o.id) AND
             NOT EXISTS (SELECT 1 FROM notification_parked WHERE message_id = ?4 || o.id)
       ORDER BY id LIMIT ?5)sql"));
    query.bind(after, last, published_before, prefix, limit - static_cast<int>(found.size()));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      found.push_back(query.integer(0));
    }
    if (last == INT64_MAX) break;
    after = last;
  }
  return found;
}

Result<bool> SqliteOutbox::republish(std::int64_t id, Instant published_before, bool copy_may_be_out, Instant now) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  const std::string message_id = ids->make(id);
  TRY_ASSIGN(const bool changed, change_one(session_, R"sql(
    UPDATE notification_outbox
       SET status = 'PENDING', due_at = ?5, ready_at = ?5, attempts = 0, copy_may_be_out = max(copy_may_be_out, ?4),
           reason = 'unaccounted', updated_at = ?5
     WHERE id = ?1 AND status = 'PUBLISHED' AND updated_at <= ?3 AND
           NOT EXISTS (SELECT 1 FROM notification_inbox WHERE message_id = ?2) AND
           NOT EXISTS (SELECT 1 FROM notification_queue WHERE message_id = ?2) AND
           NOT EXISTS (SELECT 1 FROM notification_parked WHERE message_id = ?2))sql",
                                            id, message_id, published_before, copy_may_be_out, now));
  if (changed) session_.count(Counter::kOutboxPublished, -1, now);
  return changed;
}

Result<std::optional<Envelope>> SqliteOutbox::envelope(std::int64_t outbox_id) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  TRY_ASSIGN(Use query, session_.database().use("SELECT " NOTIFY_ENVELOPE_COLUMNS ", o.payload"
                                                R"sql(
      FROM notification_outbox AS o WHERE id = ?1)sql"));
  TRY_ASSIGN(const bool found, query.bind(outbox_id).row());
  if (!found) return std::nullopt;
  Envelope envelope = read_envelope(query, 0);
  envelope.message_id = ids->make(outbox_id);
  envelope.payload = query.text(kEnvelopeColumns);
  return envelope;
}

}  // namespace notify

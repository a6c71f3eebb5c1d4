#include "store/operators.hpp"

#include "store/change_one.hpp"
#include "store/first_fingerprint.hpp"

namespace notify {
namespace {

using sqlite::Use;

}  // namespace

// --- looking ----------------------------------------------------------------------------------------------

Result<std::optional<Whereabouts>> SqliteOperators::whereabouts(std::string_view id_or_key) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  Whereabouts at;
  at.message_id = id_or_key;
  at.outbox_id = ids->parse(id_or_key).value_or(0);
  bool known = false;
  if (at.outbox_id != 0) {
    TRY_ASSIGN(known, read_outbox(at.outbox_id, at));
  }
  if (!known) {
    std::int64_t id = 0;
    {
      TRY_ASSIGN(Use query, session_.database().use("SELECT id FROM notification_outbox WHERE dedup_key = ?1"));
      TRY_ASSIGN(const bool found, query.bind(id_or_key).row());
      if (found) id = query.integer(0);
    }
    if (id != 0) {
      at.outbox_id = id;
      at.message_id = ids->make(id);
      TRY_ASSIGN(known, read_outbox(id, at));
    }
  }
  TRY_ASSIGN(const bool claimed, read_inbox(at));
  TRY_ASSIGN(const bool parked, read_parked(at));
  TRY_ASSIGN(const bool queued, read_queue(at));
  if (!known && !claimed && !parked && !queued) return std::nullopt;
  return at;
}

Result<bool> SqliteOperators::read_outbox(std::int64_t id, Whereabouts& at) {
  TRY_ASSIGN(Use row, session_.database().use(R"sql(
    SELECT status, dedup_key, channel, kind, recipient, payload, original_payload, reason, ready_at, attempts,
           copy_may_be_out, not_before, expires_at, updated_at
      FROM notification_outbox WHERE id = ?1)sql"));
  TRY_ASSIGN(const bool found, row.bind(id).row());
  if (!found) return false;
  at.outbox = parse_outbox_state(row.view(0));
  ASSERT(at.outbox.has_value());  // the schema admits no others
  at.key = row.text(1);
  at.channel = row.text(2);
  at.kind = row.text(3);
  at.recipient = row.text(4);
  at.payload = row.text(5);
  at.original_payload = row.text(6);
  at.outbox_reason = row.text(7);
  at.ready_at = row.instant(8);
  at.attempts = row.small(9);
  at.copy_may_be_out = row.flag(10);
  at.not_before = row.maybe_instant(11);
  at.expires = row.maybe_instant(12);
  at.changed_at = row.instant(13);
  return true;
}

Result<bool> SqliteOperators::read_inbox(Whereabouts& at) {
  TRY_ASSIGN(Use row, session_.database().use(R"sql(
    SELECT status, claim_token, reason, channel FROM notification_inbox WHERE message_id = ?1)sql"));
  TRY_ASSIGN(const bool found, row.bind(at.message_id).row());
  if (!found) return false;
  at.inbox = parse_inbox_state(row.view(0));
  ASSERT(at.inbox.has_value());
  at.inbox_token = row.integer(1);  // 0 for NULL
  at.inbox_reason = row.text(2);
  if (!at.outbox) at.channel = row.text(3);
  return true;
}

Result<bool> SqliteOperators::read_parked(Whereabouts& at) {
  TRY_ASSIGN(Use row, session_.database().use(R"sql(
    SELECT reason, dedup_key, channel, kind, recipient, payload, expires_at FROM notification_parked
     WHERE message_id = ?1)sql"));
  TRY_ASSIGN(at.parked, row.bind(at.message_id).row());
  if (!at.parked) return false;
  at.parked_reason = row.text(0);
  if (at.outbox) return true;
  at.key = row.text(1);
  at.channel = row.text(2);
  at.kind = row.text(3);
  at.recipient = row.text(4);
  at.payload = row.text(5);
  at.expires = row.maybe_instant(6);
  return true;
}

Result<bool> SqliteOperators::read_queue(Whereabouts& at) {
  TRY_ASSIGN(Use row, session_.database().use(R"sql(
    SELECT leased_by, lost_leases, channel FROM notification_queue WHERE message_id = ?1)sql"));
  TRY_ASSIGN(at.queued, row.bind(at.message_id).row());
  if (!at.queued) return false;
  at.leased_by = row.integer(0);
  at.lost_leases = row.small(1);
  if (at.channel.empty()) at.channel = row.text(2);
  return true;
}

// --- outbox -----------------------------------------------------------------------------------------------

// The schema lets what a message says change only while the entry 'mending' is there.
Result<bool> SqliteOperators::mend(std::int64_t outbox_id, const Mending& mending) {
  TRY(keep_first_fingerprint(session_, outbox_id));
  TRY(change_one(session_, "INSERT OR REPLACE INTO notification_meta (key, value) VALUES ('mending', '1')"));
  TRY_ASSIGN(const bool mended,
             change_one(session_, R"sql(
    UPDATE notification_outbox SET payload = ?2, original_payload = ?3, recipient = ?4, updated_at = ?5
     WHERE id = ?1 AND status = 'PENDING')sql",
                        outbox_id, mending.payload, mending.original, mending.recipient, mending.now));
  TRY(change_one(session_, "DELETE FROM notification_meta WHERE key = 'mending'"));
  return mended;
}

Result<bool> SqliteOperators::restore(std::string_view message_id, Instant due, Instant now) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  const std::optional<std::int64_t> id = ids->parse(message_id);
  if (!id) return false;
  TRY_ASSIGN(const bool restored, change_one(session_, R"sql(
    INSERT INTO notification_outbox (id, dedup_key, channel, recipient, kind, category, payload, priority, expires_at,
                                     correlation, created_at, due_at, ready_at, updated_at)
    SELECT ?2, dedup_key, channel, recipient, kind, category, payload, priority, expires_at, correlation, enqueued_at,
           ?3, ?3, ?4
      FROM notification_parked WHERE message_id = ?1
    ON CONFLICT DO NOTHING -- may collect: rare)sql",
                                             message_id, *id, due, now));
  if (restored) session_.count(Counter::kEnqueued, 1, now);
  return restored;
}

// --- downstream -------------------------------------------------------------------------------------------

Result<bool> SqliteOperators::take_from_queue(std::string_view message_id, std::int64_t dead_holder) {
  return change_one(session_, R"sql(
    DELETE FROM notification_queue
     WHERE message_id = ?1 AND (leased_by IS NULL OR leased_by = ?2))sql",
                    message_id, dead_holder);
}

Result<bool> SqliteOperators::park(std::string_view message_id, std::int64_t outbox_id, std::string_view reason,
                                   Instant now) {
  return change_one(session_, R"sql(
    INSERT INTO notification_parked (message_id, outbox_id, reason, tries, parked_at, channel, kind, category, priority,
                                     expires_at, enqueued_at, recipient, dedup_key, correlation, payload)
    SELECT ?1, id, ?3, coalesce((SELECT tries FROM notification_queue WHERE message_id = ?1), 0), ?4, channel, kind,
           category, priority, expires_at, created_at, recipient, dedup_key, correlation, payload
      FROM notification_outbox
     WHERE id = ?2 AND status = 'PUBLISHED' AND NOT EXISTS (SELECT 1 FROM notification_inbox WHERE message_id = ?1)
    ON CONFLICT (message_id) DO NOTHING)sql",
                    message_id, outbox_id, reason, now);
}

}  // namespace notify

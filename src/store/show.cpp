#include "store/show.hpp"

namespace notify {
namespace {

using sqlite::Database;
using sqlite::Use;

Result<std::optional<OutboxStory>> read_outbox(Database& database, std::int64_t id) {
  TRY_ASSIGN(Use row, database.use(R"sql(
    SELECT id, dedup_key, fingerprint, channel, recipient, kind, category, payload, original_payload, priority,
           correlation, not_before, expires_at, created_at, status, due_at, ready_at, claimed_by, claimed_until, attempts,
           copy_may_be_out, reason, updated_at
      FROM notification_outbox WHERE id = ?1)sql"));
  TRY_ASSIGN(const bool found, row.bind(id).row());
  if (!found) return std::nullopt;
  OutboxStory story;
  story.id = row.integer(0);
  story.key = row.text(1);
  story.fingerprint = row.text(2);
  story.channel = row.text(3);
  story.recipient = row.text(4);
  story.kind = row.text(5);
  story.category = row.text(6);
  story.payload = row.text(7);
  story.original_payload = row.text(8);
  story.priority = row.small(9);
  story.correlation = row.text(10);
  story.not_before = row.maybe_instant(11);
  story.expires_at = row.maybe_instant(12);
  story.created_at = row.instant(13);
  story.status = row.text(14);
  story.due_at = row.instant(15);
  story.ready_at = row.instant(16);
  story.claimed_by = row.integer(17);
  story.claimed_until = row.maybe_instant(18);
  story.attempts = row.small(19);
  story.copy_may_be_out = row.flag(20);
  story.reason = row.text(21);
  story.updated_at = row.instant(22);
  return story;
}

Result<std::optional<QueueStory>> read_queue(Database& database, std::string_view message_id, Instant now) {
  TRY_ASSIGN(Use row, database.use(R"sql(
    SELECT ready_at, leased_by, lost_leases, tries, reason, queued_at FROM notification_queue WHERE message_id = ?1)sql"));
  TRY_ASSIGN(const bool found, row.bind(message_id).row());
  if (!found) return std::nullopt;
  QueueStory story;
  story.ready_at = row.instant(0);
  story.leased_by = row.integer(1);
  story.status = story.ready_at <= now ? "READY" : row.is_null(1) ? "DELAYED" : "LEASED";
  story.lost_leases = row.small(2);
  story.tries = row.small(3);
  story.reason = row.text(4);
  story.queued_at = row.instant(5);
  return story;
}

Result<std::optional<InboxStory>> read_inbox(Database& database, std::string_view message_id) {
  TRY_ASSIGN(Use row, database.use(R"sql(
    SELECT status, channel, holder, claimed_at, resume_at, first_call_at, calls, unknown_before, reason, detail, reference,
           vendor_status, settled_at, created_at, updated_at
      FROM notification_inbox WHERE message_id = ?1)sql"));
  TRY_ASSIGN(const bool found, row.bind(message_id).row());
  if (!found) return std::nullopt;
  InboxStory story;
  story.status = row.text(0);
  story.channel = row.text(1);
  story.holder = row.integer(2);
  story.claimed_at = row.maybe_instant(3);
  story.resume_at = row.maybe_instant(4);
  story.first_call_at = row.maybe_instant(5);
  story.calls = row.small(6);
  story.unknown_before = row.flag(7);
  story.reason = row.text(8);
  story.detail = row.text(9);
  story.reference = row.text(10);
  story.vendor_status = row.small(11);
  story.settled_at = row.maybe_instant(12);
  story.created_at = row.instant(13);
  story.updated_at = row.instant(14);
  return story;
}

Result<std::optional<ParkedStory>> read_parked(Database& database, std::string_view message_id) {
  TRY_ASSIGN(Use row, database.use(R"sql(
    SELECT reason, detail, tries, parked_at FROM notification_parked WHERE message_id = ?1)sql"));
  TRY_ASSIGN(const bool found, row.bind(message_id).row());
  if (!found) return std::nullopt;
  return ParkedStory{row.text(0), row.text(1), row.small(2), row.instant(3)};
}

Result<std::vector<AttemptStory>> read_attempts(Database& database, std::string_view message_id) {
  TRY_ASSIGN(Use row, database.use(R"sql(
    SELECT at, number, outcome, reason, detail, reference, status, phase, bytes_sent, elapsed_ms, duplicate_risk
      FROM notification_attempt WHERE message_id = ?1 ORDER BY id)sql"));
  row.bind(message_id);
  std::vector<AttemptStory> attempts;
  while (true) {
    TRY_ASSIGN(const bool more, row.row());
    if (!more) return attempts;
    attempts.push_back({row.instant(0), row.small(1), row.text(2), row.text(3), row.text(4), row.text(5), row.small(6),
                        row.text(7), row.integer(8), Duration{row.integer(9)}, row.flag(10)});
  }
}

Result<std::vector<EventStory>> read_events(Database& database, std::string_view message_id) {
  TRY_ASSIGN(Use row, database.use(R"sql(
    SELECT at, name, detail, actor FROM notification_event WHERE message_id = ?1 ORDER BY id)sql"));
  row.bind(message_id);
  std::vector<EventStory> events;
  while (true) {
    TRY_ASSIGN(const bool more, row.row());
    if (!more) return events;
    events.push_back({row.instant(0), row.text(1), row.text(2), row.text(3)});
  }
}

}  // namespace

Result<std::optional<MessageStory>> read_story(Session& session, std::optional<std::int64_t> outbox_id,
                                               std::string_view id_or_key, Instant now) {
  Database& database = session.database();
  MessageStory story;
  story.message_id = id_or_key;
  if (outbox_id) {
    TRY_ASSIGN(const MessageIds* ids, session.ids());
    story.message_id = ids->make(*outbox_id);
    TRY_ASSIGN(story.outbox, read_outbox(database, *outbox_id));
  }
  TRY_ASSIGN(story.queue, read_queue(database, story.message_id, now));
  TRY_ASSIGN(story.inbox, read_inbox(database, story.message_id));
  TRY_ASSIGN(story.parked, read_parked(database, story.message_id));
  if (!story.outbox && !story.queue && !story.inbox && !story.parked) return std::nullopt;
  TRY_ASSIGN(story.attempts, read_attempts(database, story.message_id));
  TRY_ASSIGN(story.events, read_events(database, story.message_id));
  return story;
}

Result<std::optional<std::string>> read_pruned(Session& session, std::string_view id_or_key) {
  TRY_ASSIGN(Use key, session.database().use("SELECT message_id FROM notification_key WHERE dedup_key = ?1"));
  TRY_ASSIGN(const bool kept, key.bind(id_or_key).row());
  if (kept) return key.text(0);
  // Ids are never used again: one below the last that has no row was pruned, or left out.
  TRY_ASSIGN(const MessageIds* ids, session.ids());
  const std::optional<std::int64_t> id = ids->parse(id_or_key);
  if (!id) return std::nullopt;
  TRY_ASSIGN(Use given, session.database().use(R"sql(
    SELECT 1 FROM sqlite_sequence WHERE name = 'notification_outbox' AND seq >= ?1
       AND NOT EXISTS (SELECT 1 FROM notification_outbox WHERE id = ?1) -- may scan: sqlite_sequence has few rows)sql"));
  TRY_ASSIGN(const bool was_given, given.bind(*id).row());
  return was_given ? std::optional<std::string>(id_or_key) : std::nullopt;
}

}  // namespace notify

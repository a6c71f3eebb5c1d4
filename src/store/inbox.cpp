#include "store/inbox.hpp"

#include "store/change_one.hpp"

namespace notify {
namespace {

using sqlite::OrNull;
using sqlite::Use;

#define INBOX_COLUMNS                                                                                          \
  "message_id, outbox_id, channel, status, claim_token, holder, claimed_at, resume_at, first_call_at, calls, " \
  "unknown_before, reason, reference, settled_at, address"

InboxRow read_inbox(const Use& row) {
  InboxRow inbox;
  inbox.message_id = row.text(0);
  inbox.outbox_id = row.integer(1);
  inbox.channel = row.text(2);
  const std::optional<InboxState> state = parse_inbox_state(row.view(3));
  ASSERT(state.has_value());  // the schema admits no others
  inbox.state = *state;
  inbox.token = row.integer(4);
  inbox.holder = row.integer(5);
  inbox.claimed_at = row.instant(6);
  inbox.resume_at = row.maybe_instant(7);
  inbox.first_call_at = row.instant(8);
  inbox.calls = row.small(9);
  inbox.unknown_before = row.flag(10);
  inbox.reason = row.text(11);
  inbox.reference = row.text(12);
  inbox.settled_at = row.maybe_instant(13);
  inbox.address = row.text(14);
  return inbox;
}

Result<std::vector<InboxRow>> read_all(Use query) {
  std::vector<InboxRow> rows;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return rows;
    rows.push_back(read_inbox(query));
  }
}

}  // namespace

Result<std::optional<InboxRow>> SqliteInbox::find(std::string_view message_id) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT " INBOX_COLUMNS R"sql(
      FROM notification_inbox WHERE message_id = ?1)sql"));
  TRY_ASSIGN(const bool found, query.bind(message_id).row());
  if (!found) return std::nullopt;
  return read_inbox(query);
}

// The unique message id decides: whoever inserts calls the vendor. What an operator parked while a worker held it is not
// claimed; nobody can park it meanwhile. (As one INSERT … SELECT it would build a table at each claim, for the trigger.)
Result<bool> SqliteInbox::claim(const InboxClaim& claim) {
  {
    TRY_ASSIGN(Use parked, session_.writer().use("SELECT 1 FROM notification_parked WHERE message_id = ?1"));
    TRY_ASSIGN(const bool is_parked, parked.bind(claim.message_id).row());
    if (is_parked) return false;
  }
  return change_one(session_, R"sql(
    INSERT INTO notification_inbox (message_id, outbox_id, channel, status, claim_token, holder, claimed_at,
                                    first_call_at, calls, created_at, updated_at, address)
    VALUES (?1, ?2, ?3, 'SENDING', ?4, ?5, ?6, ?6, 1, ?6, ?6, ?7)
    ON CONFLICT (message_id) DO NOTHING)sql",
                    claim.message_id, claim.outbox_id, claim.channel, claim.token, claim.holder, claim.now,
                    claim.address);
}

Result<bool> SqliteInbox::resume(std::int64_t old_token, const InboxClaim& claim, Instant first_call_after) {
  return change_one(session_, R"sql(
    UPDATE notification_inbox
       SET claim_token = ?3, holder = ?4, claimed_at = ?5, resume_at = NULL, calls = calls + 1, updated_at = ?5,
           address = ?6
     WHERE message_id = ?1 AND claim_token = ?2 AND status = 'SENDING' AND holder = 0 AND resume_at <= ?5 AND
           first_call_at > ?7)sql",
                    claim.message_id, old_token, claim.token, claim.holder, claim.now, claim.address, first_call_after);
}

// Two statements, so that the counter of the state that is left is known.
Result<bool> SqliteInbox::settle(const Settlement& settlement) {
  ASSERT(settlement.to == InboxState::kSent || settlement.to == InboxState::kFailed ||
         settlement.to == InboxState::kError);
  TRY_ASSIGN(const bool settled,
             change_one(session_, R"sql(
    UPDATE notification_inbox
       SET status = ?3, reason = ?4, detail = ?5, reference = ?6, vendor_status = ?7, settled_at = ?8, updated_at = ?8
     WHERE message_id = ?1 AND claim_token = ?2 AND status = 'SENDING')sql",
                        settlement.message_id, settlement.token, name(settlement.to), settlement.reason,
                        settlement.detail, settlement.reference, settlement.status, settlement.now));
  if (settled) session_.count(counter_of(settlement.to), 1, settlement.now);
  if (settled || settlement.to == InboxState::kError) return settled;

  TRY_ASSIGN(const std::optional<Instant> became_error, ended_at(settlement.message_id));
  TRY_ASSIGN(const bool late,
             change_one(session_, R"sql(
    UPDATE notification_inbox
       SET status = ?3, reason = ?4, detail = ?5, reference = ?6, vendor_status = ?7, settled_at = ?8, updated_at = ?8
     WHERE message_id = ?1 AND claim_token = ?2 AND status = 'ERROR')sql",
                        settlement.message_id, settlement.token, name(settlement.to), settlement.reason,
                        settlement.detail, settlement.reference, settlement.status, settlement.now));
  if (!late) return false;
  session_.take_back(Counter::kInboxError, became_error.value_or(settlement.now), settlement.now);
  session_.count(counter_of(settlement.to), 1, settlement.now);
  return true;
}

Result<bool> SqliteInbox::rest(std::string_view message_id, std::int64_t token, Instant resume_at, int calls,
                               std::string_view reason, std::string_view detail, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_inbox
       SET holder = 0, resume_at = ?3, unknown_before = 1, calls = ?7, reason = ?4, detail = ?5, updated_at = ?6
     WHERE message_id = ?1 AND claim_token = ?2 AND status = 'SENDING')sql",
                    message_id, token, resume_at, reason, detail, now, calls);
}

Result<bool> SqliteInbox::release(std::string_view message_id, std::int64_t token) {
  return change_one(session_, R"sql(
    DELETE FROM notification_inbox
     WHERE message_id = ?1 AND claim_token = ?2 AND status = 'SENDING' AND unknown_before = 0)sql",
                    message_id, token);
}

Result<bool> SqliteInbox::skip(std::string_view message_id, std::int64_t outbox_id, std::string_view channel,
                               std::string_view reason, Instant now) {
  TRY_ASSIGN(const bool skipped, change_one(session_, R"sql(
    INSERT INTO notification_inbox (message_id, outbox_id, channel, status, reason, settled_at, created_at, updated_at)
    VALUES (?1, ?2, ?3, 'SKIPPED', ?4, ?5, ?5, ?5)
    ON CONFLICT (message_id) DO NOTHING)sql",
                                            message_id, outbox_id, channel, reason, now));
  if (skipped) session_.count(Counter::kInboxSkipped, 1, now);
  return skipped;
}

Result<std::optional<Instant>> SqliteInbox::ended_at(std::string_view message_id) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT settled_at FROM notification_inbox WHERE message_id = ?1"));
  TRY_ASSIGN(const bool found, query.bind(message_id).row());
  return found ? query.maybe_instant(0) : std::nullopt;
}

Result<bool> SqliteInbox::forget(std::string_view message_id, std::int64_t token, InboxState from, Instant now) {
  ASSERT(from == InboxState::kFailed || from == InboxState::kError || from == InboxState::kSkipped);
  TRY_ASSIGN(const std::optional<Instant> ended, ended_at(message_id));
  TRY_ASSIGN(const bool gone, change_one(session_, R"sql(
    DELETE FROM notification_inbox
     WHERE message_id = ?1 AND coalesce(claim_token, 0) = ?2 AND status = ?3)sql",
                                         message_id, token, name(from)));
  if (gone) session_.take_back(counter_of(from), ended.value_or(now), now);
  return gone;
}

Result<std::vector<InboxRow>> SqliteInbox::to_look_up(std::string_view channel, Instant oldest, Instant now,
                                                      int limit) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT " INBOX_COLUMNS R"sql(
      FROM notification_inbox
     WHERE status = 'ERROR' AND updated_at >= ?2 AND channel = ?1 AND
           (looked_up_at IS NULL OR (?3 - looked_up_at) * 4 >= ?3 - settled_at)
     ORDER BY updated_at LIMIT ?4)sql"));
  query.bind(channel, oldest, now, limit);
  return read_all(std::move(query));
}

Result<bool> SqliteInbox::looked_up(std::string_view message_id, std::int64_t token, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_inbox SET looked_up_at = ?3
     WHERE message_id = ?1 AND claim_token = ?2 AND status = 'ERROR')sql",
                    message_id, token, now);
}

Result<bool> SqliteInbox::any_error(std::string_view channel, std::string_view reason) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_inbox
     WHERE status = 'ERROR' AND channel = ?1 AND (?2 = '' OR reason = ?2) LIMIT 1)sql"));
  return query.bind(channel, reason).row();
}

Result<std::vector<InboxRow>> SqliteInbox::held_by(std::int64_t holder, int limit) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT " INBOX_COLUMNS R"sql(
      FROM notification_inbox WHERE status = 'SENDING' AND holder = ?1 LIMIT ?2)sql"));
  query.bind(holder, limit);
  return read_all(std::move(query));
}

// holder >= 0 names the whole of the small partial index.
Result<std::vector<InboxTable::Standing>> SqliteInbox::standing() {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT channel, min(claimed_at) FILTER (WHERE holder > 0), min(first_call_at) FILTER (WHERE holder = 0)
      FROM notification_inbox
     WHERE status = 'SENDING' AND holder >= 0 GROUP BY channel -- may scan: what is being sent)sql"));
  std::vector<Standing> channels;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return channels;
    channels.push_back({query.text(0), query.maybe_instant(1), query.maybe_instant(2)});
  }
}

Result<std::vector<InboxRow>> SqliteInbox::stale(std::string_view channel, Instant claimed_before,
                                                 Instant called_before, int limit) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT " INBOX_COLUMNS R"sql(
      FROM notification_inbox
     WHERE status = 'SENDING' AND holder >= 0 AND channel = ?1 AND
           CASE holder WHEN 0 THEN first_call_at < ?3 ELSE claimed_at < ?2 END
     LIMIT ?4)sql"));
  query.bind(channel, claimed_before, called_before, limit);
  return read_all(std::move(query));
}

}  // namespace notify

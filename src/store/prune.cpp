#include "store/prune.hpp"

#include "core/ports/operator_table.hpp"
#include "store/change_one.hpp"
#include "store/first_fingerprint.hpp"

namespace notify {
namespace {

using sqlite::Use;

constexpr int kRowsPruned = 500;

bool is_end(InboxState state) {
  return state == InboxState::kSent || state == InboxState::kFailed || state == InboxState::kSkipped;
}

}  // namespace

// --- looking ----------------------------------------------------------------------------------------------

// Ids grow with time, so a whole page of young rows is the end; rows whose created_at was set by hand come later.
Result<PruneTable::Page> SqlitePrune::finished_before(std::int64_t after, Instant cutoff, bool unscrubbed) {
  Page page;
  page.last = after;
  std::vector<std::int64_t> old;
  int read = 0;
  bool any_old = false;
  {
    TRY_ASSIGN(Use rows, session_.database().use(R"sql(
      SELECT id, created_at < ?2, status FROM notification_outbox WHERE id > ?1 ORDER BY id LIMIT ?3)sql"));
    rows.bind(after, cutoff, kRowsPruned);
    for (;; ++read) {
      TRY_ASSIGN(const bool more, rows.row());
      if (!more) break;
      page.last = rows.integer(0);
      any_old = any_old || rows.flag(1);
      if (rows.flag(1) && rows.view(2) != "PENDING" && rows.view(2) != "PUBLISHING") old.push_back(page.last);
    }
  }
  page.more = read == kRowsPruned && any_old;
  for (const std::int64_t id : old) {
    TRY_ASSIGN(const std::optional<Finished> message, finished(id, cutoff));
    if (message && !(unscrubbed && message->scrubbed)) page.finished.push_back(id);
  }
  return page;
}

Result<std::optional<SqlitePrune::Finished>> SqlitePrune::finished(std::int64_t outbox_id, Instant cutoff) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  Finished message;
  message.message_id = ids->make(outbox_id);
  {
    TRY_ASSIGN(Use row, session_.database().use(R"sql(
      SELECT status, recipient = ?3 AND payload = '{}' FROM notification_outbox
       WHERE id = ?1 AND updated_at < ?2 AND status <> 'PENDING' AND status <> 'PUBLISHING')sql"));
    TRY_ASSIGN(const bool found, row.bind(outbox_id, cutoff, kScrubbedRecipient).row());
    if (!found) return std::nullopt;
    message.outbox = parse_outbox_state(row.view(0)).value_or(OutboxState::kPublished);
    message.scrubbed = row.flag(1);
  }
  {
    TRY_ASSIGN(Use row, session_.database().use(R"sql(
      SELECT status, updated_at < ?2 FROM notification_inbox WHERE message_id = ?1)sql"));
    TRY_ASSIGN(const bool claimed, row.bind(message.message_id, cutoff).row());
    if (claimed) {
      message.inbox = parse_inbox_state(row.view(0));
      if (!message.inbox || !is_end(*message.inbox) || !row.flag(1)) return std::nullopt;
    } else if (message.outbox == OutboxState::kPublished) {
      return std::nullopt;  // on its way
    }
  }
  TRY_ASSIGN(Use elsewhere, session_.database().use(R"sql(
    SELECT EXISTS (SELECT 1 FROM notification_parked WHERE message_id = ?1)
        OR EXISTS (SELECT 1 FROM notification_queue WHERE message_id = ?1))sql"));
  TRY(elsewhere.bind(message.message_id).row());
  if (elsewhere.flag(0)) return std::nullopt;
  return message;
}

// Looked at again under the write lock: nobody can replay it from here on.
Result<std::optional<SqlitePrune::Finished>> SqlitePrune::still_finished(std::int64_t outbox_id, Instant cutoff) {
  ASSERT(session_.writing());
  return finished(outbox_id, cutoff);
}

// --- removing ---------------------------------------------------------------------------------------------

Result<void> SqlitePrune::begin() {
  TRY(change_one(session_, "INSERT OR REPLACE INTO notification_meta (key, value) VALUES ('pruning', '1')"));
  TRY(change_one(session_, "INSERT OR REPLACE INTO notification_meta (key, value) VALUES ('mending', '1')"));
  return {};
}

Result<void> SqlitePrune::end() {
  TRY(change_one(session_, "DELETE FROM notification_meta WHERE key = 'pruning'"));
  TRY(change_one(session_, "DELETE FROM notification_meta WHERE key = 'mending'"));
  return {};
}

Result<bool> SqlitePrune::remove(std::int64_t outbox_id, Instant cutoff, Instant now) {
  TRY_ASSIGN(const std::optional<Finished> message, still_finished(outbox_id, cutoff));
  if (!message) return false;
  TRY(keep_key(message->message_id, outbox_id, now));
  TRY(forget_history(message->message_id));
  if (message->inbox) {
    TRY_ASSIGN(const bool claim, change_one(session_, R"sql(
      DELETE FROM notification_inbox WHERE message_id = ?1 AND status = ?2)sql",
                                            message->message_id, name(*message->inbox)));
    ASSERT(claim);  // read in this very transaction, as the row below
    session_.count(counter_of(*message->inbox), -1, now);
  }
  TRY_ASSIGN(const bool row, change_one(session_, R"sql(
    DELETE FROM notification_outbox WHERE id = ?1 AND status = ?2)sql",
                                        outbox_id, name(message->outbox)));
  ASSERT(row);
  session_.count(counter_of(message->outbox), -1, now);
  session_.count(Counter::kEnqueued, -1, now);
  return true;
}

Result<void> SqlitePrune::keep_key(const std::string& message_id, std::int64_t outbox_id, Instant now) {
  TRY(keep_first_fingerprint(session_, outbox_id));
  TRY(change_one(session_, R"sql(
    INSERT INTO notification_key (dedup_key, fingerprint, message_id, pruned_at)
    SELECT dedup_key, fingerprint, ?2, ?3 FROM notification_outbox WHERE id = ?1 AND dedup_key IS NOT NULL
    ON CONFLICT (dedup_key) DO NOTHING)sql",
                 outbox_id, message_id, now));
  return {};
}

Result<void> SqlitePrune::forget_history(const std::string& message_id) {
  TRY_ASSIGN(Use attempts, session_.writer().use("DELETE FROM notification_attempt WHERE message_id = ?1"));
  TRY(attempts.bind(message_id).run());
  TRY_ASSIGN(Use events, session_.writer().use("DELETE FROM notification_event WHERE message_id = ?1"));
  TRY(events.bind(message_id).run());
  return {};
}

// What the vendor answered may repeat what was sent.
Result<bool> SqlitePrune::scrub(std::int64_t outbox_id, Instant cutoff, Instant /*now*/) {
  TRY_ASSIGN(const std::optional<Finished> message, still_finished(outbox_id, cutoff));
  if (!message || message->scrubbed) return false;
  TRY(keep_first_fingerprint(session_, outbox_id));
  TRY_ASSIGN(const bool scrubbed, change_one(session_, R"sql(
    UPDATE notification_outbox SET recipient = ?3, payload = '{}', original_payload = NULL
     WHERE id = ?1 AND status = ?2)sql",
                                             outbox_id, name(message->outbox), kScrubbedRecipient));
  ASSERT(scrubbed);
  TRY(change_one(session_, "UPDATE notification_inbox SET detail = '', address = '' WHERE message_id = ?1",
                 message->message_id));
  TRY_ASSIGN(Use attempts, session_.writer().use(R"sql(
    UPDATE notification_attempt SET detail = '' WHERE message_id = ?1)sql"));
  TRY(attempts.bind(message->message_id).run());
  return true;
}

// Its fingerprint stays, so that a rerun of the job is still the same broadcast.
Result<int> SqlitePrune::scrub_broadcasts(Instant cutoff) {
  TRY_ASSIGN(Use scrub, session_.writer().use(R"sql(
    UPDATE notification_broadcast SET payload = '{}'
     WHERE id IN (SELECT id FROM notification_broadcast
                   WHERE (status = 'DONE' OR status = 'CANCELLED') AND updated_at < ?1 AND payload <> '{}' LIMIT ?2)
     -- may scan: the broadcasts; may collect: a page of them)sql"));
  return scrub.bind(cutoff, kRowsPruned).run();
}

// --- what is left of removed messages ---------------------------------------------------------------------

Result<int> SqlitePrune::forget_keys(Instant cutoff) {
  TRY_ASSIGN(Use forget, session_.writer().use(R"sql(
    DELETE FROM notification_key
     WHERE dedup_key IN (SELECT dedup_key FROM notification_key WHERE pruned_at < ?1 LIMIT ?2)
     -- may scan: keys that are not kept for ever; may collect: a page of them)sql"));
  return forget.bind(cutoff, kRowsPruned).run();
}

Result<int> SqlitePrune::count_keys(Instant cutoff) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT count(*) FROM notification_key WHERE pruned_at < ?1 -- may scan: a dry run)sql"));
  TRY(query.bind(cutoff).row());
  return query.small(0);
}

Result<int> SqlitePrune::forget_alerts(Instant cutoff) {
  TRY_ASSIGN(Use forget, session_.writer().use(R"sql(
    DELETE FROM notification_alert
     WHERE id IN (SELECT id FROM notification_alert WHERE closed_at < ?1 LIMIT ?2)
     -- may scan: the alerts; may collect: a page of them)sql"));
  return forget.bind(cutoff, kRowsPruned).run();
}

Result<int> SqlitePrune::forget_receipts(Instant cutoff) {
  TRY_ASSIGN(Use forget, session_.writer().use(R"sql(
    DELETE FROM notification_receipt
     WHERE id IN (SELECT id FROM notification_receipt WHERE applied_at < ?1 LIMIT ?2)
     -- may scan: the receipts; may collect: a page of them)sql"));
  return forget.bind(cutoff, kRowsPruned).run();
}

Result<int> SqlitePrune::forget_credentials(Instant cutoff) {
  TRY_ASSIGN(Use forget, session_.writer().use(R"sql(
    DELETE FROM notification_credential
     WHERE name IN (SELECT name FROM notification_credential
                     WHERE coalesce(expires_at, 0) < ?1 AND coalesce(fetch_until, 0) < ?1 LIMIT ?2)
     -- may scan: a row per channel and key; may collect: a page of them)sql"));
  return forget.bind(cutoff, kRowsPruned).run();
}

}  // namespace notify

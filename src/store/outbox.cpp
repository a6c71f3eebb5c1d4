#include "store/outbox.hpp"

#include <algorithm>

#include "core/fingerprint.hpp"
#include "store/change_one.hpp"
#include "store/rows.hpp"

namespace notify {
namespace {

using sqlite::Blob;
using sqlite::OrNull;
using sqlite::Use;

OutboxState stored_state(std::string_view text) {
  const std::optional<OutboxState> state = parse_outbox_state(text);
  ASSERT(state.has_value());  // the schema admits no others
  return *state;
}

// notification_outbox_pending as the picker sees it.
class PendingIndex final : public WaitingIndex {
 public:
  explicit PendingIndex(sqlite::Database& database) : database_(database) {}

  Result<std::optional<std::string>> next_channel(std::string_view after) override {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT channel FROM notification_outbox WHERE status = 'PENDING' AND channel > ?1 ORDER BY channel LIMIT 1)sql"));
    TRY_ASSIGN(const bool found, query.bind(after).row());
    if (!found) return std::nullopt;
    return query.text(0);
  }

  Result<std::optional<int>> next_priority(std::string_view channel, int below) override {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT priority FROM notification_outbox
       WHERE status = 'PENDING' AND channel = ?1 AND priority < ?2 ORDER BY priority DESC LIMIT 1)sql"));
    TRY_ASSIGN(const bool found, query.bind(channel, below).row());
    if (!found) return std::nullopt;
    return query.small(0);
  }

  Result<std::optional<WaitingKind>> next_kind(std::string_view channel, int priority,
                                               std::optional<std::string_view> after) override {
    if (after) {
      TRY_ASSIGN(Use query, database_.use(R"sql(
        SELECT kind, ready_at FROM notification_outbox
         WHERE status = 'PENDING' AND channel = ?1 AND priority = ?2 AND kind > ?3
         ORDER BY kind, ready_at LIMIT 1)sql"));
      return first(query.bind(channel, priority, *after));
    }
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT kind, ready_at FROM notification_outbox
       WHERE status = 'PENDING' AND channel = ?1 AND priority = ?2
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

// "o" is the outbox; after the envelope's columns come these.
#define CANDIDATE_COLUMNS NOTIFY_ENVELOPE_COLUMNS ", o.due_at, o.ready_at, o.attempts, o.copy_may_be_out"
constexpr int kPayloadColumn = kEnvelopeColumns + 4;

Candidate read_candidate(const Use& row, const MessageIds& ids, bool with_payload) {
  Candidate candidate;
  candidate.envelope = read_envelope(row, 0);
  candidate.envelope.message_id = ids.make(candidate.envelope.outbox_id);
  if (with_payload) candidate.envelope.payload = row.text(kPayloadColumn);
  candidate.created_at = candidate.envelope.enqueued_at;
  candidate.due_at = std::max(row.instant(kEnvelopeColumns), candidate.created_at);
  candidate.ready_at = row.instant(kEnvelopeColumns + 1);
  candidate.attempts = row.small(kEnvelopeColumns + 2);
  candidate.copy_may_be_out = row.flag(kEnvelopeColumns + 3);
  return candidate;
}

class PendingRows final : public WaitingRows {
 public:
  PendingRows(sqlite::Database& database, const MessageIds& ids, Instant now, bool with_payload)
      : database_(database), ids_(ids), now_(now), with_payload_(with_payload) {}

  Result<int> fetch(std::string_view channel, int priority, std::string_view kind, int limit, int offset) override {
    TRY_ASSIGN(Use query, with_payload_ ? database_.use("SELECT " CANDIDATE_COLUMNS ", o.payload"
                                                        R"sql(
        FROM notification_outbox AS o
       WHERE status = 'PENDING' AND channel = ?1 AND priority = ?2 AND kind = ?3 AND ready_at <= ?4
       ORDER BY ready_at LIMIT ?5 OFFSET ?6)sql")
                                        : database_.use("SELECT " CANDIDATE_COLUMNS R"sql(
        FROM notification_outbox AS o
       WHERE status = 'PENDING' AND channel = ?1 AND priority = ?2 AND kind = ?3 AND ready_at <= ?4
       ORDER BY ready_at LIMIT ?5 OFFSET ?6)sql"));
    query.bind(channel, priority, kind, now_, limit, offset);
    for (int count = 0;; ++count) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return count;
      rows.push_back(read_candidate(query, ids_, with_payload_));
    }
  }

  std::vector<Candidate> rows{};

 private:
  sqlite::Database& database_;
  const MessageIds& ids_;
  Instant now_;
  bool with_payload_;
};

}  // namespace

// --- enqueue ----------------------------------------------------------------------------------------------

Result<InsertResult> SqliteOutbox::insert(const NewMessage& message, Instant now) {
  sqlite::Database& database = session_.writer();
  ASSERT(message.dedup_key.empty() || message.fingerprint.size() == kFingerprintBytes);
  if (expect_existing_ && !message.dedup_key.empty()) {
    // Only a short cut for reruns: nobody else can write meanwhile, and the INSERT below decides by itself.
    TRY_ASSIGN(std::optional<InsertResult> found, existing(message));
    if (found) return std::move(*found);
  }
  if (!message.dedup_key.empty()) {
    TRY_ASSIGN(std::optional<InsertResult> used, pruned(message));
    if (used) return std::move(*used);
  }

  const Instant due = std::max(now, message.not_before.value_or(now));
  TRY_ASSIGN(Use insert, database.use(R"sql(
    INSERT INTO notification_outbox (dedup_key, fingerprint, channel, recipient, kind, category, payload, priority,
                                     not_before, expires_at, correlation, broadcast_id, created_at, due_at, ready_at,
                                     updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, nullif(?12, 0), ?13, ?14, ?14, ?13)
    ON CONFLICT (dedup_key) DO NOTHING)sql"));
  insert.bind(OrNull{message.dedup_key}, Blob{message.fingerprint}, message.channel, message.recipient, message.kind,
              message.category, message.payload, message.priority, message.not_before, message.expires,
              message.correlation, message.broadcast_id, now, due);
  const Result<int> inserted = insert.run();
  if (!inserted) {
    Error error = inserted.error();
    if ((sqlite3_errcode(database.raw()) & 0xff) == SQLITE_CONSTRAINT) error.code = Code::kBadInput;
    return fail(std::move(error));
  }
  if (*inserted == 1) {
    expect_existing_ = false;
    session_.count(Counter::kEnqueued, 1, now);
    TRY_ASSIGN(const MessageIds* ids, session_.ids());
    const std::int64_t id = database.last_insert_id();
    return InsertResult{InsertResult::Kind::kCreated, id, ids->make(id), OutboxState::kPending, {}};
  }

  expect_existing_ = true;
  TRY_ASSIGN(std::optional<InsertResult> found, existing(message));
  ASSERT(found.has_value());  // what else could have been in the way?
  return std::move(*found);
}

Result<std::optional<InsertResult>> SqliteOutbox::existing(const NewMessage& message) {
  InsertResult result;
  {
    TRY_ASSIGN(Use query, session_.database().use(R"sql(
      SELECT id, status, fingerprint FROM notification_outbox WHERE dedup_key = ?1)sql"));
    TRY_ASSIGN(const bool found, query.bind(message.dedup_key).row());
    if (!found) return std::nullopt;
    result.outbox_id = query.integer(0);
    result.state = stored_state(query.view(1));
    result.existing_fingerprint = query.text(2);
  }
  if (result.existing_fingerprint.empty()) {
    TRY_ASSIGN(result.existing_fingerprint, keep_fingerprint(result.outbox_id));
  }
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  result.message_id = ids->make(result.outbox_id);
  result.given_fingerprint = message.fingerprint;
  result.kind = result.existing_fingerprint == message.fingerprint ? InsertResult::Kind::kExisting
                                                                   : InsertResult::Kind::kConflict;
  return result;
}

Result<bool> SqliteOutbox::any_pruned() {
  if (std::exchange(pruned_asked_in_, session_.transaction()) == session_.transaction()) return any_pruned_;
  TRY_ASSIGN(Use query, session_.database().use("SELECT 1 FROM notification_key WHERE dedup_key > '' LIMIT 1"));
  TRY_ASSIGN(any_pruned_, query.row());
  return any_pruned_;
}

// The message is gone, its key is not. Nobody can write meanwhile.
Result<std::optional<InsertResult>> SqliteOutbox::pruned(const NewMessage& message) {
  TRY_ASSIGN(const bool any, any_pruned());
  if (!any) return std::nullopt;
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT message_id, fingerprint FROM notification_key WHERE dedup_key = ?1)sql"));
  TRY_ASSIGN(const bool found, query.bind(message.dedup_key).row());
  if (!found) return std::nullopt;
  InsertResult result;
  result.message_id = query.text(0);
  result.existing_fingerprint = query.text(1);
  result.state = OutboxState::kPublished;
  result.pruned = true;
  result.given_fingerprint = message.fingerprint;
  result.kind = result.existing_fingerprint == message.fingerprint ? InsertResult::Kind::kExisting
                                                                   : InsertResult::Kind::kConflict;
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  result.outbox_id = ids->parse(result.message_id).value_or(0);
  return result;
}

// The fingerprint of a row that another program inserted, computed at the first comparison. A payload that cannot be
// read has none ("") and equals nothing.
Result<std::string> SqliteOutbox::keep_fingerprint(std::int64_t id) {
  std::string computed;
  {
    TRY_ASSIGN(Use query, session_.database().use(R"sql(
      SELECT channel, recipient, kind, category, payload FROM notification_outbox WHERE id = ?1)sql"));
    TRY_ASSIGN(const bool found, query.bind(id).row());
    ASSERT(found);
    const Result<std::string> content =
        fingerprint(query.view(0), query.view(1), query.view(2), query.view(3), query.view(4));
    if (!content) return std::string();
    computed = *content;
  }
  TRY(change_one(session_, "UPDATE notification_outbox SET fingerprint = ?2 WHERE id = ?1", id, Blob{computed}));
  return computed;
}

// --- relay ------------------------------------------------------------------------------------------------

Result<std::vector<Candidate>> SqliteOutbox::candidates(Instant now, int limit, bool with_payload) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  PendingIndex index(session_.database());
  PendingRows rows(session_.database(), *ids, now, with_payload);
  TRY(pick_.from_all(index, rows, now, limit));
  std::stable_sort(rows.rows.begin(), rows.rows.end(),
                   [](const Candidate& a, const Candidate& b) { return a.envelope.priority > b.envelope.priority; });
  return std::move(rows.rows);
}

Result<std::optional<Candidate>> SqliteOutbox::candidate(std::int64_t id, bool with_payload) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  TRY_ASSIGN(Use query, session_.database().use("SELECT " CANDIDATE_COLUMNS ", o.payload"
                                                R"sql(
      FROM notification_outbox AS o WHERE id = ?1 AND status = 'PENDING')sql"));
  TRY_ASSIGN(const bool found, query.bind(id).row());
  if (!found) return std::nullopt;
  return read_candidate(query, *ids, with_payload);
}

Result<bool> SqliteOutbox::claim(std::int64_t id, const OutboxClaim& claim) {
  return change_one(session_, R"sql(
    UPDATE notification_outbox
       SET status = 'PUBLISHING', claim_token = ?2, claimed_by = ?3, claimed_until = ?4, updated_at = ?5
     WHERE id = ?1 AND status = 'PENDING')sql",
                    id, claim.token, claim.holder, claim.lease_until, claim.now);
}

Result<bool> SqliteOutbox::confirm(std::int64_t id, std::int64_t token, Instant now) {
  TRY_ASSIGN(const bool ours, change_one(session_, R"sql(
    UPDATE notification_outbox
       SET status = 'PUBLISHED', claim_token = NULL, claimed_by = NULL, claimed_until = NULL, reason = '', updated_at = ?3
     WHERE id = ?1 AND claim_token = ?2 AND status = 'PUBLISHING')sql",
                                         id, token, now));
  if (ours) session_.count(Counter::kOutboxPublished, 1, now);
  return ours;
}

Result<bool> SqliteOutbox::back_off(std::int64_t id, std::int64_t token, Instant ready, bool copy_may_be_out,
                                    std::string_view reason, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_outbox
       SET status = 'PENDING', claim_token = NULL, claimed_by = NULL, claimed_until = NULL, attempts = attempts + 1,
           ready_at = ?3, copy_may_be_out = max(copy_may_be_out, ?4), reason = ?5, updated_at = ?6
     WHERE id = ?1 AND claim_token = ?2 AND status = 'PUBLISHING')sql",
                    id, token, ready, copy_may_be_out, reason, now);
}

Result<bool> SqliteOutbox::release(std::int64_t id, std::int64_t token, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_outbox
       SET status = 'PENDING', claim_token = NULL, claimed_by = NULL, claimed_until = NULL, updated_at = ?3
     WHERE id = ?1 AND claim_token = ?2 AND status = 'PUBLISHING')sql",
                    id, token, now);
}

// Due later, so failed publishes up to now count no longer.
Result<bool> SqliteOutbox::defer(std::int64_t id, Instant until, std::string_view reason, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_outbox SET ready_at = ?2, due_at = ?2, attempts = 0, reason = ?3, updated_at = ?4
     WHERE id = ?1 AND status = 'PENDING')sql",
                    id, until, reason, now);
}

Result<bool> SqliteOutbox::finish(std::int64_t id, OutboxState to, std::string_view reason, Instant now) {
  ASSERT(to == OutboxState::kSkipped || to == OutboxState::kExpired || to == OutboxState::kFailed);
  TRY_ASSIGN(const bool closed, change_one(session_, R"sql(
    UPDATE notification_outbox SET status = ?2, reason = ?3, updated_at = ?4
     WHERE id = ?1 AND status = 'PENDING' AND copy_may_be_out = 0)sql",
                                           id, name(to), reason, now));
  if (closed) session_.count(counter_of(to), 1, now);
  return closed;
}

// --- recovery ---------------------------------------------------------------------------------------------

Result<int> SqliteOutbox::recover_expired(Instant now, bool copy_may_be_out) {
  // claimed_by > 0 names the whole of the small partial index.
  TRY_ASSIGN(Use claims, session_.writer().use(R"sql(
    SELECT id, claim_token FROM notification_outbox
     WHERE status = 'PUBLISHING' AND claimed_by > 0 AND claimed_until <= ?1)sql"));
  claims.bind(now);
  return give_back(now, "lease-over", copy_may_be_out, std::move(claims));
}

Result<int> SqliteOutbox::recover_holder(std::int64_t holder, Instant now, bool copy_may_be_out) {
  TRY_ASSIGN(Use claims, session_.writer().use(R"sql(
    SELECT id, claim_token FROM notification_outbox WHERE status = 'PUBLISHING' AND claimed_by = ?1)sql"));
  claims.bind(holder);
  return give_back(now, "process-died", copy_may_be_out, std::move(claims));
}

Result<int> SqliteOutbox::give_back(Instant now, std::string_view why, bool copy_may_be_out, Use claims) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;  // id, token
  while (true) {
    TRY_ASSIGN(const bool more, claims.row());
    if (!more) break;
    found.emplace_back(claims.integer(0), claims.integer(1));
  }
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  for (const auto& [id, token] : found) {
    TRY_ASSIGN(const bool given_back, change_one(session_, R"sql(
      UPDATE notification_outbox
         SET status = 'PENDING', claim_token = NULL, claimed_by = NULL, claimed_until = NULL,
             copy_may_be_out = max(copy_may_be_out, ?3), reason = 'claim-expired', updated_at = ?4
       WHERE id = ?1 AND claim_token = ?2 AND status = 'PUBLISHING')sql",
                                                 id, token, copy_may_be_out, now));
    ASSERT(given_back);  // read in this very transaction
    TRY_ASSIGN(Use event, session_.writer().use(R"sql(
      INSERT INTO notification_event (message_id, at, name, actor, detail)
      VALUES (?1, ?2, 'claim-expired', 'relay', ?3))sql"));
    const std::string message_id = ids->make(id);
    TRY(event.bind(message_id, now, why).run());
  }
  return static_cast<int>(found.size());
}

// --- looking ----------------------------------------------------------------------------------------------

Result<std::vector<VolumeSpan>> SqliteOutbox::volume(Instant now) {
  const std::int64_t oldest = (now - kCounterHistory).ms / kCounterSpan.count();
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT bucket, value FROM notification_counter WHERE bucket > ?1 AND name = 'outbox.PUBLISHED' ORDER BY bucket)sql"));
  query.bind(std::max<std::int64_t>(oldest, 0));
  std::vector<VolumeSpan> spans;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return spans;
    spans.push_back({Instant{query.integer(0) * kCounterSpan.count()}, query.integer(1)});
  }
}

Result<std::optional<Instant>> SqliteOutbox::next_ready(Instant /*now*/) {
  PendingIndex index(session_.database());
  std::optional<Instant> first;
  std::string channel;
  while (true) {
    TRY_ASSIGN(std::optional<std::string> next, index.next_channel(channel));
    if (!next) return first;
    channel = std::move(*next);
    TRY_ASSIGN(const std::optional<Instant> ready, FairPick::first_ready(index, channel));
    if (ready && (!first || *ready < *first)) first = ready;
  }
}

Result<std::string> SqliteOutbox::message_id(std::int64_t outbox_id) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  return ids->make(outbox_id);
}

Result<std::optional<std::int64_t>> SqliteOutbox::find(std::string_view message_id_or_key) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  if (const std::optional<std::int64_t> id = ids->parse(message_id_or_key)) {
    TRY_ASSIGN(const std::optional<OutboxState> known, state(*id));
    if (known) return id;
  }
  TRY_ASSIGN(Use query, session_.database().use("SELECT id FROM notification_outbox WHERE dedup_key = ?1"));
  TRY_ASSIGN(const bool found, query.bind(message_id_or_key).row());
  if (!found) return std::nullopt;
  return query.integer(0);
}

Result<std::optional<OutboxState>> SqliteOutbox::state(std::int64_t outbox_id) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT status FROM notification_outbox WHERE id = ?1"));
  TRY_ASSIGN(const bool found, query.bind(outbox_id).row());
  if (!found) return std::nullopt;
  return stored_state(query.view(0));
}

}  // namespace notify

#include "store/broadcast.hpp"

#include <charconv>

#include "store/change_one.hpp"

namespace notify {
namespace {

using sqlite::Blob;
using sqlite::Use;

constexpr std::string_view kIdPrefix = "broadcast-";

#define BROADCAST_COLUMNS                                                                                              \
  "id, broadcast_key, fingerprint, status, reason, list, list_bytes, recipients, fanned_bytes, fanned_out, messages, " \
  "repeated, unreachable, channel, kind, category, payload, priority, not_before, expires_at, correlation, "           \
  "created_at, updated_at"

Broadcast read(const Use& row) {
  Broadcast broadcast;
  NewBroadcast& request = broadcast.request;
  broadcast.id = row.integer(0);
  request.key = row.text(1);
  request.fingerprint = row.text(2);
  const std::optional<BroadcastState> state = parse_broadcast_state(row.view(3));
  ASSERT(state.has_value());  // the schema admits no others
  broadcast.state = *state;
  broadcast.reason = row.text(4);
  request.list = row.text(5);
  request.list_bytes = row.integer(6);
  request.recipients = row.integer(7);
  broadcast.fanned_bytes = row.integer(8);
  broadcast.fanned_out = row.integer(9);
  broadcast.messages = row.integer(10);
  broadcast.repeated = row.integer(11);
  broadcast.unreachable = row.integer(12);
  request.message.channel = row.text(13);
  request.message.kind = row.text(14);
  request.message.category = row.text(15);
  request.message.payload = row.text(16);
  request.message.priority = row.small(17);
  request.message.not_before = row.maybe_instant(18);
  request.message.expires = row.maybe_instant(19);
  request.message.correlation = row.text(20);
  broadcast.created_at = row.instant(21);
  broadcast.updated_at = row.instant(22);
  return broadcast;
}

Result<std::optional<Broadcast>> first(Use& query) {
  TRY_ASSIGN(const bool found, query.row());
  if (!found) return std::nullopt;
  return read(query);
}

}  // namespace

// --- accepting

Result<BroadcastInsert> SqliteBroadcasts::insert(const NewBroadcast& request, Instant now) {
  const NewMessage& message = request.message;
  TRY_ASSIGN(const bool created,
             change_one(session_, R"sql(
    INSERT INTO notification_broadcast (broadcast_key, fingerprint, list, list_bytes, recipients, channel, kind, category,
                                        payload, priority, not_before, expires_at, correlation, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14)
    ON CONFLICT (broadcast_key) DO NOTHING)sql",
                        request.key, Blob{request.fingerprint}, request.list, request.list_bytes, request.recipients,
                        message.channel, message.kind, message.category, message.payload, message.priority,
                        message.not_before, message.expires, message.correlation, now));
  // The same list as before is back in the spool. (A group's may be another one: what was fanned out stays.)
  const auto reopen = [&]() {
    return change_one(session_, R"sql(
      UPDATE notification_broadcast SET status = 'OPEN', reason = '', updated_at = ?4
       WHERE broadcast_key = ?1 AND status = 'FAILED' AND fingerprint = ?2 AND list = ?3)sql",
                      request.key, Blob{request.fingerprint}, request.list, now);
  };
  if (!created) TRY(reopen());
  TRY_ASSIGN(std::optional<Broadcast> there, find(request.key));
  ASSERT(there.has_value());
  using Kind = BroadcastInsert::Kind;
  const bool same = there->request.fingerprint == request.fingerprint;
  return BroadcastInsert{created ? Kind::kCreated : same ? Kind::kExisting : Kind::kConflict, std::move(*there)};
}

// --- fanning out

Result<std::optional<Broadcast>> SqliteBroadcasts::next_open(std::int64_t after) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT " BROADCAST_COLUMNS R"sql(
      FROM notification_broadcast WHERE status = 'OPEN' AND id > ?1 ORDER BY id LIMIT 1)sql"));
  query.bind(after);
  return first(query);
}

Result<bool> SqliteBroadcasts::advance(std::int64_t id, std::int64_t from, std::int64_t to, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_broadcast
       SET fanned_bytes = ?3, status = iif(?3 = list_bytes, 'DONE', 'OPEN'), updated_at = ?4
     WHERE id = ?1 AND status = 'OPEN' AND fanned_bytes = ?2)sql",
                    id, from, to, now);
}

Result<void> SqliteBroadcasts::count(std::int64_t id, const BroadcastStep& step) {
  TRY(change_one(session_, R"sql(
    UPDATE notification_broadcast
       SET fanned_out = fanned_out + ?2, messages = messages + ?3, repeated = repeated + ?4,
           unreachable = unreachable + ?5
     WHERE id = ?1)sql",
                 id, step.recipients, step.messages, step.repeated, step.unreachable));
  return {};
}

Result<bool> SqliteBroadcasts::add_target(std::int64_t id, std::string_view recipient, std::string_view match_address) {
  return change_one(session_, R"sql(
    INSERT INTO notification_broadcast_target (broadcast_id, recipient, match_address) VALUES (?1, ?2, ?3)
    ON CONFLICT (broadcast_id, recipient, match_address) DO NOTHING)sql",
                    id, recipient, match_address);
}

Result<bool> SqliteBroadcasts::close(std::int64_t id, BroadcastState to, std::string_view reason, Instant now) {
  ASSERT(to == BroadcastState::kCancelled || to == BroadcastState::kFailed);
  return change_one(session_, R"sql(
    UPDATE notification_broadcast SET status = ?2, reason = ?3, updated_at = ?4
     WHERE id = ?1 AND (status = 'OPEN' OR (status = 'FAILED' AND ?2 = 'CANCELLED')))sql",
                    id, name(to), reason, now);
}

Result<int> SqliteBroadcasts::forget_targets(int limit) {
  TRY_ASSIGN(Use forget, session_.writer().use(R"sql(
    DELETE FROM notification_broadcast_target WHERE (broadcast_id, recipient, match_address) IN (
      SELECT t.broadcast_id, t.recipient, t.match_address
        FROM notification_broadcast AS b CROSS JOIN notification_broadcast_target AS t ON t.broadcast_id = b.id
       WHERE b.status = 'DONE' OR b.status = 'CANCELLED' LIMIT ?1)
     -- may scan: the broadcasts; may collect: a page of targets)sql"));
  return forget.bind(limit).run();
}

Result<bool> SqliteBroadcasts::any_target_to_forget() {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_broadcast AS b
     WHERE (b.status = 'DONE' OR b.status = 'CANCELLED') AND
           EXISTS (SELECT 1 FROM notification_broadcast_target AS t WHERE t.broadcast_id = b.id)
     LIMIT 1 -- may scan: the broadcasts)sql"));
  return query.row();
}

// --- looking

Result<std::optional<Broadcast>> SqliteBroadcasts::by_id(std::int64_t id) {
  TRY_ASSIGN(Use query,
             session_.database().use("SELECT " BROADCAST_COLUMNS " FROM notification_broadcast WHERE id = ?1"));
  query.bind(id);
  return first(query);
}

Result<std::optional<Broadcast>> SqliteBroadcasts::find(std::string_view key_or_id) {
  {
    TRY_ASSIGN(Use query, session_.database().use("SELECT " BROADCAST_COLUMNS
                                                  " FROM notification_broadcast WHERE broadcast_key = ?1"));
    query.bind(key_or_id);
    TRY_ASSIGN(std::optional<Broadcast> found, first(query));
    if (found) return found;
  }
  std::int64_t id = 0;
  if (!key_or_id.starts_with(kIdPrefix)) return std::nullopt;
  const std::string_view digits = key_or_id.substr(kIdPrefix.size());
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return by_id(id);
}

Result<std::vector<Broadcast>> SqliteBroadcasts::all(std::int64_t before, int limit) {
  TRY_ASSIGN(Use query, session_.database().use("SELECT " BROADCAST_COLUMNS R"sql(
      FROM notification_broadcast WHERE id < ?1 ORDER BY id DESC LIMIT ?2)sql"));
  query.bind(before, limit);
  std::vector<Broadcast> found;
  while (true) {
    TRY_ASSIGN(std::optional<Broadcast> one, first(query));
    if (!one) return found;
    found.push_back(std::move(*one));
  }
}

Result<std::vector<std::string>> SqliteBroadcasts::lists_in_use() {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT list FROM notification_broadcast WHERE status = 'OPEN' OR status = 'FAILED'
     -- may scan: the broadcasts, once a run)sql"));
  std::vector<std::string> lists;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return lists;
    lists.push_back(query.text(0));
  }
}

Result<BroadcastCounts> SqliteBroadcasts::counts(std::int64_t id) {
  BroadcastCounts counts;
  std::vector<std::int64_t> published;
  {
    TRY_ASSIGN(Use query, session_.database().use(R"sql(
      SELECT id, status FROM notification_outbox WHERE broadcast_id = ?1)sql"));
    query.bind(id);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      const OutboxState state = parse_outbox_state(query.view(1)).value_or(OutboxState::kPublished);
      switch (state) {
        case OutboxState::kPending:
        case OutboxState::kPublishing: ++counts.waiting; break;
        case OutboxState::kPublished: published.push_back(query.integer(0)); break;
        case OutboxState::kSkipped: ++counts.skipped; break;
        case OutboxState::kExpired: ++counts.expired; break;
        case OutboxState::kFailed: ++counts.failed; break;
      }
    }
  }
  for (const std::int64_t outbox_id : published) TRY(count_published(outbox_id, counts));
  return counts;
}

// Counted once, with the precedence of the accounting: inbox, parked, queue.
Result<void> SqliteBroadcasts::count_published(std::int64_t outbox_id, BroadcastCounts& counts) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  const std::string message_id = ids->make(outbox_id);
  {
    TRY_ASSIGN(Use inbox, session_.database().use("SELECT status FROM notification_inbox WHERE message_id = ?1"));
    TRY_ASSIGN(const bool found, inbox.bind(message_id).row());
    if (found) {
      switch (parse_inbox_state(inbox.view(0)).value_or(InboxState::kSending)) {
        case InboxState::kSent: ++counts.sent; break;
        case InboxState::kFailed: ++counts.failed; break;
        case InboxState::kError: ++counts.error; break;
        case InboxState::kSkipped: ++counts.skipped; break;
        default: ++counts.sending; break;
      }
      return {};
    }
  }
  TRY_ASSIGN(Use parked, session_.database().use("SELECT 1 FROM notification_parked WHERE message_id = ?1"));
  TRY_ASSIGN(const bool set_aside, parked.bind(message_id).row());
  ++(set_aside ? counts.parked : counts.waiting);
  return {};
}

Result<std::vector<std::string>> SqliteBroadcasts::message_ids(std::int64_t id) {
  TRY_ASSIGN(const MessageIds* ids, session_.ids());
  TRY_ASSIGN(Use query, session_.database().use("SELECT id FROM notification_outbox WHERE broadcast_id = ?1"));
  query.bind(id);
  std::vector<std::string> found;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return found;
    found.push_back(ids->make(query.integer(0)));
  }
}

}  // namespace notify

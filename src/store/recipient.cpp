#include "store/recipient.hpp"

#include "store/change_one.hpp"

namespace notify {
namespace {

using sqlite::Use;

Result<bool> any(Use query) { return query.row(); }

OptOut read_opt_out(const Use& row) { return {row.text(0), {row.text(1), row.text(2), row.text(3)}, row.instant(4)}; }

Result<std::vector<OptOut>> read_opt_outs(Use& query) {
  std::vector<OptOut> found;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return found;
    found.push_back(read_opt_out(query));
  }
}

}  // namespace

// --- one message --------------------------------------------------------------------------------------------

Result<const SqliteRecipients::InUse*> SqliteRecipients::in_use() {
  // Outside a transaction somebody else may write between two questions.
  if (session_.writing() && in_use_.asked_in == session_.transaction()) return &in_use_;
  sqlite::Database& database = session_.database();
  TRY_ASSIGN(Use consent, database.use("SELECT 1 FROM notification_consent WHERE subject > '' LIMIT 1"));
  TRY_ASSIGN(in_use_.consent, any(std::move(consent)));
  TRY_ASSIGN(Use endpoint, database.use("SELECT 1 FROM notification_endpoint WHERE recipient_id > '' LIMIT 1"));
  TRY_ASSIGN(in_use_.endpoints, any(std::move(endpoint)));
  TRY_ASSIGN(Use dead, database.use("SELECT 1 FROM notification_dead_address WHERE channel > '' LIMIT 1"));
  TRY_ASSIGN(in_use_.dead, any(std::move(dead)));
  in_use_.asked_in = session_.transaction();
  return &in_use_;
}

Result<Resolved> SqliteRecipients::resolve(std::string_view id, std::string_view channel) {
  Resolved resolved;
  {
    TRY_ASSIGN(Use recipient, session_.database().use("SELECT locale FROM notification_recipient WHERE id = ?1"));
    TRY_ASSIGN(const bool found, recipient.bind(id).row());
    if (!found) return resolved;
    resolved.locale = recipient.text(0);
  }
  resolved.kind = Resolved::Kind::kNoEndpoint;
  TRY_ASSIGN(Use endpoints, session_.database().use(R"sql(
    SELECT e.address, e.disabled_at IS NOT NULL OR d.match_address IS NOT NULL
      FROM notification_endpoint AS e
      LEFT JOIN notification_dead_address AS d ON d.channel = e.channel AND d.match_address = e.match_address
     WHERE e.recipient_id = ?1 AND e.channel = ?2 ORDER BY e.position)sql"));
  endpoints.bind(id, channel);
  while (true) {
    TRY_ASSIGN(const bool more, endpoints.row());
    if (!more) return resolved;
    resolved.kind = Resolved::Kind::kDisabled;
    if (endpoints.flag(1)) continue;
    resolved.kind = Resolved::Kind::kFound;
    resolved.address = endpoints.text(0);
    return resolved;
  }
}

Result<bool> SqliteRecipients::opted_out(std::string_view recipient, std::string_view address, std::string_view channel,
                                         std::string_view category, std::string_view kind) {
  TRY_ASSIGN(const InUse* used, in_use());
  if (!used->consent) return false;
  if (is_recipient_reference(recipient)) {
    TRY_ASSIGN(const bool out, covered(std::string(recipient), channel, category, kind));
    if (out || address.empty()) return out;
  }
  const std::string match = match_address(address.empty() ? recipient : address);
  TRY_ASSIGN(const bool out, covered(match, channel, category, kind));
  if (out || !used->endpoints) return out;
  return owner_covered(match, channel, category, kind);
}

Result<bool> SqliteRecipients::covered(const std::string& subject, std::string_view channel, std::string_view category,
                                       std::string_view kind) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_consent
     WHERE subject = ?1 AND (channel = '' OR channel = ?2) AND (category = '' OR category = ?3) AND
           (kind = '' OR kind = ?4) LIMIT 1)sql"));
  return query.bind(subject, channel, category, kind).row();
}

// The address may be an endpoint of somebody who opted out by their id.
Result<bool> SqliteRecipients::owner_covered(std::string_view match_address, std::string_view channel,
                                             std::string_view category, std::string_view kind) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_endpoint AS e CROSS JOIN notification_consent AS c ON c.subject = '@' || e.recipient_id
     WHERE e.channel = ?2 AND e.match_address = ?1 AND (c.channel = '' OR c.channel = ?2) AND
           (c.category = '' OR c.category = ?3) AND (c.kind = '' OR c.kind = ?4) LIMIT 1)sql"));
  return query.bind(match_address, channel, category, kind).row();
}

Result<bool> SqliteRecipients::dead(std::string_view channel, std::string_view address) {
  TRY_ASSIGN(const InUse* used, in_use());
  if (!used->dead) return false;
  const std::string match = match_address(address);
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_dead_address WHERE channel = ?1 AND match_address = ?2)sql"));
  return query.bind(channel, match).row();
}

// --- calls per recipient ------------------------------------------------------------------------------------

Result<std::optional<Instant>> SqliteRecipients::full_until(std::string_view channel,
                                                            std::span<const std::string> subjects,
                                                            std::string_view message_id, int limit, Duration per,
                                                            Instant now) {
  std::optional<Instant> room;
  for (const std::string& subject : subjects) {
    // The limit-th call before this one: while it lies within the span, there is no room.
    TRY_ASSIGN(Use query, session_.database().use(R"sql(
      SELECT at FROM notification_recipient_call
       WHERE channel = ?1 AND subject = ?2 AND at > ?3 AND message_id <> ?4
       ORDER BY at DESC LIMIT 1 OFFSET ?5)sql"));
    TRY_ASSIGN(const bool full, query.bind(channel, subject, now - per, message_id, limit - 1).row());
    if (full && (!room || query.instant(0) + per > *room)) room = query.instant(0) + per;
  }
  return room;
}

Result<void> SqliteRecipients::count_call(std::string_view channel, std::span<const std::string> subjects,
                                          std::string_view message_id, Duration per, Instant now) {
  for (const std::string& subject : subjects) {
    TRY_ASSIGN(Use insert, session_.writer().use(R"sql(
      INSERT OR IGNORE INTO notification_recipient_call (channel, subject, at, message_id) VALUES (?1, ?2, ?3, ?4))sql"));
    TRY(insert.bind(channel, subject, now, message_id).run());
  }
  return drop_old_calls(channel, now - per);
}

// More than come in, so that the table stays small without ever being swept at once.
Result<void> SqliteRecipients::drop_old_calls(std::string_view channel, Instant before) {
  for (int i = 0; i < 4; ++i) {
    std::string subject;
    std::string message_id;
    Instant at{};
    {
      TRY_ASSIGN(Use oldest, session_.writer().use(R"sql(
        SELECT at, subject, message_id FROM notification_recipient_call
         WHERE channel = ?1 AND at <= ?2 ORDER BY at LIMIT 1)sql"));
      TRY_ASSIGN(const bool found, oldest.bind(channel, before).row());
      if (!found) return {};
      at = oldest.instant(0);
      subject = oldest.text(1);
      message_id = oldest.text(2);
    }
    TRY(change_one(session_, R"sql(
      DELETE FROM notification_recipient_call WHERE channel = ?1 AND subject = ?2 AND at = ?3 AND message_id = ?4)sql",
                   channel, subject, at, message_id));
  }
  return {};
}

Result<void> SqliteRecipients::forget_call(std::string_view channel, std::span<const std::string> subjects,
                                           std::string_view message_id, Instant claimed_at) {
  for (const std::string& subject : subjects)
    TRY(change_one(session_, R"sql(
      DELETE FROM notification_recipient_call WHERE channel = ?1 AND subject = ?2 AND at = ?3 AND message_id = ?4)sql",
                   channel, subject, claimed_at, message_id));
  return {};
}

// --- changes ------------------------------------------------------------------------------------------------

Result<void> SqliteRecipients::set(const RecipientChange& change, Instant now) {
  {
    TRY_ASSIGN(Use upsert, session_.writer().use(R"sql(
      INSERT INTO notification_recipient (id, locale, created_at, updated_at) VALUES (?1, ?2, ?3, ?3)
      ON CONFLICT (id) DO UPDATE SET locale = iif(?4, excluded.locale, locale), updated_at = excluded.updated_at)sql"));
    const std::string_view locale = change.locale ? std::string_view(*change.locale) : std::string_view();
    TRY(upsert.bind(change.id, locale, now, change.locale.has_value()).run());
  }
  for (const auto& [channel, addresses] : change.endpoints)
    TRY(set_endpoints(change.id, channel, addresses, change.enable, now));
  if (change.groups) TRY(set_groups(change.id, *change.groups));
  return {};
}

// What stays of an endpoint whose address is named again.
struct SqliteRecipients::Known {
  std::optional<Instant> disabled_at{};
  std::string reason{};
  std::optional<Instant> registered_at{};
};

Result<std::map<std::string, SqliteRecipients::Known>> SqliteRecipients::known_endpoints(std::string_view id,
                                                                                         std::string_view channel) {
  TRY_ASSIGN(Use query, session_.writer().use(R"sql(
    SELECT match_address, disabled_at, disabled_reason, registered_at FROM notification_endpoint
     WHERE recipient_id = ?1 AND channel = ?2)sql"));
  query.bind(id, channel);
  std::map<std::string, Known> known;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return known;
    known[query.text(0)] = {query.maybe_instant(1), query.text(2), query.maybe_instant(3)};
  }
}

// The list replaces the one before. An address that was there keeps its being disabled and the time of its registration,
// unless it is to be enabled: a nightly import must not bring dead ones back to life.
Result<void> SqliteRecipients::set_endpoints(std::string_view id, const std::string& channel,
                                             const std::vector<std::string>& addresses, bool enable, Instant now) {
  std::map<std::string, Known> known;
  if (!enable) {
    TRY_ASSIGN(known, known_endpoints(id, channel));
  }
  {
    TRY_ASSIGN(Use drop,
               session_.writer().use("DELETE FROM notification_endpoint WHERE recipient_id = ?1 AND channel = ?2"));
    TRY(drop.bind(id, channel).run());
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string match = match_address(addresses[i]);
    const auto before = known.find(match);
    const Known kept = before != known.end() ? before->second : Known{{}, {}, now};
    TRY_ASSIGN(Use insert, session_.writer().use(R"sql(
      INSERT INTO notification_endpoint (recipient_id, channel, position, address, match_address, disabled_at,
                                         disabled_reason, registered_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))sql"));
    TRY(insert
            .bind(id, channel, static_cast<std::int64_t>(i), addresses[i], match, kept.disabled_at, kept.reason,
                  kept.registered_at)
            .run());
    if (enable) {
      TRY(change_one(session_, "DELETE FROM notification_dead_address WHERE channel = ?1 AND match_address = ?2",
                     channel, match));
    }
  }
  return {};
}

Result<void> SqliteRecipients::set_groups(std::string_view id, const std::vector<std::string>& groups) {
  {
    TRY_ASSIGN(Use drop, session_.writer().use("DELETE FROM notification_member WHERE recipient_id = ?1"));
    TRY(drop.bind(id).run());
  }
  for (const std::string& group : groups) {
    TRY_ASSIGN(Use insert, session_.writer().use(R"sql(
      INSERT INTO notification_member (group_name, recipient_id) VALUES (?1, ?2)
      ON CONFLICT (group_name, recipient_id) DO NOTHING)sql"));
    TRY(insert.bind(group, id).run());
  }
  return {};
}

Result<bool> SqliteRecipients::opt_out(const OptOut& opt_out) {
  return change_one(session_, R"sql(
    INSERT INTO notification_consent (subject, channel, category, kind, opted_out_at) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (subject, channel, category, kind) DO NOTHING)sql",
                    opt_out.subject, opt_out.scope.channel, opt_out.scope.category, opt_out.scope.kind, opt_out.since);
}

Result<int> SqliteRecipients::opt_in(std::string_view subject, const ConsentScope& scope) {
  TRY_ASSIGN(Use drop, session_.writer().use(R"sql(
    DELETE FROM notification_consent
     WHERE subject = ?1 AND (?2 = '' OR channel = ?2) AND (?3 = '' OR category = ?3) AND (?4 = '' OR kind = ?4))sql"));
  return drop.bind(subject, scope.channel, scope.category, scope.kind).run();
}

Result<bool> SqliteRecipients::disable_address(std::string_view channel, std::string_view address,
                                               std::string_view reason, std::optional<Instant> gone_since,
                                               Instant now) {
  const std::string match = match_address(address);
  return change_one(session_, R"sql(
    INSERT INTO notification_dead_address (channel, match_address, disabled_at, reason)
    SELECT ?1, ?2, ?3, ?4
     WHERE ?5 IS NULL OR NOT EXISTS (SELECT 1 FROM notification_endpoint
                                      WHERE channel = ?1 AND match_address = ?2 AND registered_at >= ?5)
    ON CONFLICT (channel, match_address) DO NOTHING)sql",
                    channel, match, now, reason, gone_since);
}

Result<int> SqliteRecipients::disable_endpoints(std::string_view id, std::string_view channel, std::string_view reason,
                                                Instant now) {
  TRY_ASSIGN(Use disable, session_.writer().use(R"sql(
    UPDATE notification_endpoint SET disabled_at = ?4, disabled_reason = ?3
     WHERE recipient_id = ?1 AND channel = ?2 AND disabled_at IS NULL)sql"));
  return disable.bind(id, channel, reason, now).run();
}

// --- for people ---------------------------------------------------------------------------------------------

Result<std::optional<RecipientRecord>> SqliteRecipients::find(std::string_view id) {
  RecipientRecord record;
  {
    TRY_ASSIGN(Use query, session_.database().use(
                              "SELECT id, locale, created_at, updated_at FROM notification_recipient WHERE id = ?1"));
    TRY_ASSIGN(const bool found, query.bind(id).row());
    if (!found) return std::nullopt;
    record = {query.text(0), query.text(1), {}, {}, {}, query.instant(2), query.instant(3)};
  }
  {
    TRY_ASSIGN(Use query, session_.database().use(R"sql(
      SELECT e.channel, e.address, coalesce(e.disabled_at, d.disabled_at),
             CASE WHEN e.disabled_at IS NOT NULL THEN e.disabled_reason ELSE coalesce(d.reason, '') END
        FROM notification_endpoint AS e
        LEFT JOIN notification_dead_address AS d ON d.channel = e.channel AND d.match_address = e.match_address
       WHERE e.recipient_id = ?1 ORDER BY e.channel, e.position)sql"));
    query.bind(id);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      record.endpoints.push_back({query.text(0), query.text(1), query.maybe_instant(2), query.text(3)});
    }
  }
  {
    TRY_ASSIGN(Use query,
               session_.database().use(
                   "SELECT group_name FROM notification_member WHERE recipient_id = ?1 ORDER BY group_name"));
    query.bind(id);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      record.groups.push_back(query.text(0));
    }
  }
  const std::string reference = "@" + record.id;
  TRY_ASSIGN(record.opt_outs, opt_outs(reference));
  for (const Endpoint& endpoint : record.endpoints) {
    const std::string match = match_address(endpoint.address);
    TRY_ASSIGN(const std::vector<OptOut> of_address, opt_outs(match));
    record.opt_outs.insert(record.opt_outs.end(), of_address.begin(), of_address.end());
  }
  return record;
}

Result<std::vector<OptOut>> SqliteRecipients::opt_outs(std::string_view subject) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT subject, channel, category, kind, opted_out_at FROM notification_consent WHERE subject = ?1
     ORDER BY channel, category, kind)sql"));
  query.bind(subject);
  return read_opt_outs(query);
}

Result<std::vector<std::string>> SqliteRecipients::members(std::string_view group, std::string_view after, int limit) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT recipient_id FROM notification_member
     WHERE group_name = ?1 AND recipient_id > ?2 ORDER BY recipient_id LIMIT ?3)sql"));
  query.bind(group, after, limit);
  std::vector<std::string> found;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return found;
    found.push_back(query.text(0));
  }
}

}  // namespace notify

#include "store/list.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/alert.hpp"
#include "core/inbox_state.hpp"
#include "core/outbox_state.hpp"
#include "store/broadcast.hpp"

namespace notify {
namespace {

using sqlite::Database;
using sqlite::Use;

// Rows read per statement, before the caller gets them with no statement open.
constexpr int kRowsListed = 500;

// Everything before the next key in text order: the prefix with its last byte raised. Keys are UTF-8, so 0xff never occurs.
std::string after_prefix(std::string_view prefix) { return std::string(prefix) + "\xff"; }

class Lister {
 public:
  Lister(Session& session, const ListFilter& filter, Instant now, const std::function<bool(const ListRow&)>& row)
      : session_(session), database_(session.database()), filter_(filter), now_(now), row_(row) {}

  Result<void> run(ListSubject subject) {
    switch (subject) {
      case ListSubject::kOutbox: return outbox();
      case ListSubject::kQueue: return queue();
      case ListSubject::kInbox: return inbox();
      case ListSubject::kParked: return parked();
      case ListSubject::kAlerts: return alerts();
      case ListSubject::kBroadcasts: return broadcasts();
    }
    return {};
  }

 private:
  // Hands a row out if it matches. False: enough.
  bool show(const ListRow& row) {
    if (!matches(row)) return true;
    if (!row_(row)) return false;
    return filter_.limit == 0 || ++shown_ < filter_.limit;
  }

  bool matches(const ListRow& row) const {
    const auto same = [](const std::string& wanted, const std::string& given) {
      return wanted.empty() || wanted == given;
    };
    return same(filter_.channel, row.channel) && same(filter_.kind, row.kind) && same(filter_.state, row.status) &&
           same(filter_.reason, row.reason) && (!filter_.since || row.created_at >= *filter_.since) &&
           (!filter_.until || row.created_at < *filter_.until) && row.key.starts_with(filter_.key_prefix);
  }

  // --- outbox ---------------------------------------------------------------------------------------------

  // What an index leads to is looked up; the rest is read through in the order of ids.
  Result<void> outbox() {
    if (!filter_.key_prefix.empty()) {
      const std::string end = after_prefix(filter_.key_prefix);
      TRY_ASSIGN(Use ids, database_.use("SELECT id FROM notification_outbox WHERE dedup_key >= ?1 AND dedup_key < ?2"));
      ids.bind(filter_.key_prefix, end);
      return outbox_by_id(std::move(ids));
    }
    const std::optional<OutboxState> state = parse_outbox_state(filter_.state);
    if (state == OutboxState::kPending) {
      TRY_ASSIGN(Use ids, database_.use(R"sql(
        SELECT id FROM notification_outbox WHERE status = 'PENDING' AND channel > '')sql"));
      return outbox_by_id(std::move(ids));
    }
    if (state == OutboxState::kPublishing) {
      TRY_ASSIGN(Use ids, database_.use(R"sql(
        SELECT id FROM notification_outbox WHERE status = 'PUBLISHING' AND claimed_by > 0)sql"));
      return outbox_by_id(std::move(ids));
    }
    if (state && *state != OutboxState::kPublished) {
      TRY_ASSIGN(Use ids, database_.use(R"sql(
        SELECT id FROM notification_outbox
         WHERE (status = 'SKIPPED' OR status = 'EXPIRED' OR status = 'FAILED') AND status = ?1)sql"));
      ids.bind(filter_.state);
      return outbox_by_id(std::move(ids));
    }
    return outbox_in_order();
  }

#define OUTBOX_LIST_COLUMNS                                                                                          \
  "id, dedup_key, channel, recipient, kind, status, reason, attempts, priority, ready_at, expires_at, correlation, " \
  "created_at, updated_at"

  static ListRow read_outbox(const Use& query, const MessageIds& ids) {
    ListRow row;
    row.outbox_id = query.integer(0);
    row.message_id = ids.make(row.outbox_id);
    row.key = query.text(1);
    row.channel = query.text(2);
    row.to = query.text(3);
    row.kind = query.text(4);
    row.status = query.text(5);
    row.reason = query.text(6);
    row.attempts = query.integer(7);
    row.priority = query.small(8);
    row.ready_at = query.maybe_instant(9);
    row.expires_at = query.maybe_instant(10);
    row.correlation = query.text(11);
    row.created_at = query.instant(12);
    row.updated_at = query.instant(13);
    return row;
  }

  Result<void> outbox_by_id(Use query) {
    std::vector<std::int64_t> found;
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      found.push_back(query.integer(0));
    }
    query.reset();
    if (filter_.newest_first) {
      std::sort(found.begin(), found.end(), std::greater<>());
    } else {
      std::sort(found.begin(), found.end());
    }
    TRY_ASSIGN(const MessageIds ids, MessageIds::load(database_));
    for (const std::int64_t id : found) {
      ListRow row;
      {
        TRY_ASSIGN(Use one, database_.use("SELECT " OUTBOX_LIST_COLUMNS " FROM notification_outbox WHERE id = ?1"));
        TRY_ASSIGN(const bool there, one.bind(id).row());
        if (!there) continue;
        row = read_outbox(one, ids);
      }
      if (!show(row)) return {};
    }
    return {};
  }

#define OUTBOX_LIST_IN_ORDER                                                                 \
  "SELECT " OUTBOX_LIST_COLUMNS                                                              \
  " FROM notification_outbox WHERE (?3 = '' OR channel = ?3) AND (?4 = '' OR kind = ?4) AND" \
  " (?5 = '' OR status = ?5) AND (?6 = '' OR reason = ?6) AND created_at >= ?7 AND created_at < ?8 AND "

  Result<void> outbox_in_order() {
    TRY_ASSIGN(const MessageIds ids, MessageIds::load(database_));
    std::int64_t last = filter_.newest_first ? std::numeric_limits<std::int64_t>::max() : 0;
    std::vector<ListRow> page;
    do {
      page.clear();
      {
        TRY_ASSIGN(Use query, filter_.newest_first
                                  ? database_.use(OUTBOX_LIST_IN_ORDER "id < ?1 ORDER BY id DESC LIMIT ?2")
                                  : database_.use(OUTBOX_LIST_IN_ORDER "id > ?1 ORDER BY id LIMIT ?2"));
        query.bind(last, kRowsListed, filter_.channel, filter_.kind, filter_.state, filter_.reason,
                   filter_.since.value_or(Instant{0}),
                   filter_.until.value_or(Instant{std::numeric_limits<std::int64_t>::max()}));
        while (true) {
          TRY_ASSIGN(const bool more, query.row());
          if (!more) break;
          page.push_back(read_outbox(query, ids));
        }
      }
      for (const ListRow& row : page)
        if (!show(row)) return {};
      if (!page.empty()) last = page.back().outbox_id;
    } while (page.size() == kRowsListed);
    return {};
  }

  // --- tables by message id -------------------------------------------------------------------------------

  // Message ids end in the number by which they are ordered; as texts they would not be.
  struct Key {
    std::int64_t number = 0;
    std::string message_id{};
  };

  static std::int64_t number_of(std::string_view message_id) {
    std::int64_t number = 0;
    for (const char digit : message_id.substr(message_id.rfind('-') + 1)) {
      if (digit < '0' || digit > '9' || number > std::numeric_limits<std::int64_t>::max() / 100) return 0;
      number = number * 10 + (digit - '0');
    }
    return number;
  }

  // Reads all message ids of `query`, then the rows one by one through `read`.
  template <class Read>
  Result<void> by_message_id(Use query, Read read) {
    std::vector<Key> keys;
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      keys.push_back({number_of(query.view(0)), query.text(0)});
    }
    query.reset();
    std::stable_sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
      return filter_.newest_first ? a.number > b.number : a.number < b.number;
    });
    for (const Key& key : keys) {
      TRY_ASSIGN(const std::optional<ListRow> row, read(key.message_id));
      if (row && !show(*row)) return {};
    }
    return {};
  }

  // The columns of the outbox row that a row downstream is shown with, from `first` on.
  static void add_envelope(ListRow& row, const Use& query, int first) {
    row.key = query.text(first);
    row.to = query.text(first + 1);
    row.kind = query.text(first + 2);
    row.priority = query.is_null(first + 3) ? 5 : query.small(first + 3);
    row.expires_at = query.maybe_instant(first + 4);
    row.correlation = query.text(first + 5);
  }

  Result<void> queue() {
    TRY_ASSIGN(Use ids, database_.use(R"sql(
      SELECT message_id FROM notification_queue
       WHERE ?1 = '' OR channel = ?1 -- may scan: what is queued)sql"));
    ids.bind(filter_.channel);
    return by_message_id(std::move(ids), [&](const std::string& id) { return read_queue(id); });
  }

  Result<std::optional<ListRow>> read_queue(const std::string& message_id) {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT q.outbox_id, q.channel, q.reason, q.tries, q.ready_at, q.queued_at, q.leased_by,
             o.dedup_key, o.recipient, q.kind, q.priority, o.expires_at, o.correlation,
             (SELECT count(*) FROM notification_attempt AS a WHERE a.message_id = q.message_id),
             (SELECT max(at) FROM notification_attempt AS a WHERE a.message_id = q.message_id)
        FROM notification_queue AS q LEFT JOIN notification_outbox AS o ON o.id = q.outbox_id
       WHERE q.message_id = ?1)sql"));
    TRY_ASSIGN(const bool there, query.bind(message_id).row());
    if (!there) return std::nullopt;
    ListRow row;
    row.message_id = message_id;
    row.outbox_id = query.integer(0);
    row.channel = query.text(1);
    row.reason = query.text(2);
    // Trouble of the lane costs the message no try, but a call was made all the same.
    row.attempts = std::max(query.integer(3), query.integer(13));
    row.ready_at = query.instant(4);
    row.created_at = query.instant(5);
    row.updated_at = std::max(row.created_at, query.maybe_instant(14).value_or(row.created_at));
    row.status = *row.ready_at <= now_ ? "READY" : query.is_null(6) ? "DELAYED" : "LEASED";
    add_envelope(row, query, 7);
    return row;
  }

  Result<void> inbox() {
    const std::optional<InboxState> state = parse_inbox_state(filter_.state);
    const auto read = [&](const std::string& id) { return read_inbox(id); };
    if (state == InboxState::kSending) {
      TRY_ASSIGN(Use ids, database_.use(R"sql(
        SELECT message_id FROM notification_inbox WHERE status = 'SENDING' AND holder >= 0)sql"));
      return by_message_id(std::move(ids), read);
    }
    if (state && *state != InboxState::kSent) {
      TRY_ASSIGN(Use ids, database_.use(R"sql(
        SELECT message_id FROM notification_inbox
         WHERE (status = 'FAILED' OR status = 'ERROR' OR status = 'SKIPPED') AND status = ?1)sql"));
      ids.bind(filter_.state);
      return by_message_id(std::move(ids), read);
    }
    return inbox_in_order(read);
  }

  // SENT may be millions: the outbox gives the order. Rows whose outbox row is not here come last.
  template <class Read>
  Result<void> inbox_in_order(Read read) {
    TRY_ASSIGN(const MessageIds ids, MessageIds::load(database_));
    std::int64_t last = filter_.newest_first ? std::numeric_limits<std::int64_t>::max() : 0;
    std::vector<std::int64_t> page;
    do {
      page.clear();
      {
        TRY_ASSIGN(Use query,
                   filter_.newest_first
                       ? database_.use("SELECT id FROM notification_outbox WHERE id < ?1 ORDER BY id DESC LIMIT ?2")
                       : database_.use("SELECT id FROM notification_outbox WHERE id > ?1 ORDER BY id LIMIT ?2"));
        query.bind(last, kRowsListed);
        while (true) {
          TRY_ASSIGN(const bool more, query.row());
          if (!more) break;
          page.push_back(query.integer(0));
        }
      }
      for (const std::int64_t id : page) {
        TRY_ASSIGN(const std::optional<ListRow> row, read(ids.make(id)));
        if (row && !show(*row)) return {};
        last = id;
      }
    } while (page.size() == kRowsListed);
    TRY_ASSIGN(Use strangers, database_.use(R"sql(
      SELECT message_id FROM notification_inbox AS i
       WHERE NOT EXISTS (SELECT 1 FROM notification_outbox AS o WHERE o.id = i.outbox_id)
       -- may scan: a list)sql"));
    return by_message_id(std::move(strangers), [&](const std::string& message_id) -> Result<std::optional<ListRow>> {
      TRY_ASSIGN(const bool shown, in_outbox(ids.parse(message_id)));
      if (shown) return std::nullopt;
      return read(message_id);
    });
  }

  Result<bool> in_outbox(std::optional<std::int64_t> id) {
    if (!id) return false;
    TRY_ASSIGN(Use query, database_.use("SELECT 1 FROM notification_outbox WHERE id = ?1"));
    return query.bind(*id).row();
  }

  Result<std::optional<ListRow>> read_inbox(const std::string& message_id) {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT i.outbox_id, i.channel, i.status, i.reason, i.detail, i.calls, i.reference, i.created_at, i.updated_at,
             o.dedup_key, o.recipient, o.kind, o.priority, o.expires_at, o.correlation,
             EXISTS (SELECT 1 FROM notification_parked AS p WHERE p.message_id = i.message_id)
        FROM notification_inbox AS i LEFT JOIN notification_outbox AS o ON o.id = i.outbox_id
       WHERE i.message_id = ?1)sql"));
    TRY_ASSIGN(const bool there, query.bind(message_id).row());
    if (!there) return std::nullopt;
    ListRow row;
    row.message_id = message_id;
    row.outbox_id = query.integer(0);
    row.channel = query.text(1);
    row.status = query.text(2);
    row.reason = query.text(3);
    row.detail = query.text(4);
    row.attempts = query.integer(5);
    row.reference = query.text(6);
    row.created_at = query.instant(7);
    row.updated_at = query.instant(8);
    row.parked = query.flag(15);
    add_envelope(row, query, 9);
    return row;
  }

  Result<void> parked() {
    const auto read = [&](const std::string& id) { return read_parked(id); };
    if (!filter_.reason.empty()) {
      TRY_ASSIGN(Use ids, database_.use("SELECT message_id FROM notification_parked WHERE reason = ?1"));
      ids.bind(filter_.reason);
      return by_message_id(std::move(ids), read);
    }
    TRY_ASSIGN(Use ids, database_.use("SELECT message_id FROM notification_parked WHERE reason > ''"));
    return by_message_id(std::move(ids), read);
  }

  Result<std::optional<ListRow>> read_parked(const std::string& message_id) {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT outbox_id, channel, reason, detail, tries, parked_at,
             dedup_key, recipient, kind, priority, expires_at, correlation
        FROM notification_parked WHERE message_id = ?1)sql"));
    TRY_ASSIGN(const bool there, query.bind(message_id).row());
    if (!there) return std::nullopt;
    ListRow row;
    row.message_id = message_id;
    row.outbox_id = query.integer(0);
    row.channel = query.text(1);
    row.status = "PARKED";
    row.parked = true;
    row.reason = query.text(2);
    row.detail = query.text(3);
    row.attempts = query.integer(4);
    row.created_at = query.instant(5);
    row.updated_at = row.created_at;
    add_envelope(row, query, 6);
    return row;
  }

  // They are few: one for each time somebody wrote to many.
  Result<void> broadcasts() {
    std::vector<Broadcast> found;
    SqliteBroadcasts table(session_);
    for (std::int64_t before = std::numeric_limits<std::int64_t>::max();;) {
      TRY_ASSIGN(std::vector<Broadcast> page, table.all(before, kRowsListed));
      if (page.empty()) break;
      before = page.back().id;
      std::move(page.begin(), page.end(), std::back_inserter(found));
    }
    if (!filter_.newest_first) std::reverse(found.begin(), found.end());
    for (const Broadcast& broadcast : found)
      if (!show(row_of(broadcast))) break;
    return {};
  }

  static ListRow row_of(const Broadcast& broadcast) {
    ListRow row;
    row.message_id = "broadcast-" + std::to_string(broadcast.id);
    row.key = broadcast.request.key;
    row.channel = broadcast.request.message.channel;
    row.to = std::to_string(broadcast.request.recipients) + " recipients";
    row.kind = broadcast.request.message.kind;
    row.status = name(broadcast.state);
    row.reason = broadcast.reason;
    row.priority = broadcast.request.message.priority;
    row.expires_at = broadcast.request.message.expires;
    row.correlation = broadcast.request.message.correlation;
    row.created_at = broadcast.created_at;
    row.updated_at = broadcast.updated_at;
    return row;
  }

  Result<void> alerts() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT kind, subject, message_id, detail, count, first_at, last_at, closed_at IS NULL, told FROM notification_alert
       ORDER BY id -- may scan: the alerts)sql"));
    std::vector<ListRow> rows;
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      ListRow& row = rows.emplace_back();
      row.kind = query.text(0);
      row.key = query.text(1);
      row.channel = alert_channel(row.kind, row.key);
      row.message_id = query.text(2);
      row.detail = query.text(3);
      row.attempts = query.integer(4);
      row.created_at = query.instant(5);
      row.updated_at = query.instant(6);
      row.status = query.flag(7) ? "OPEN" : "CLOSED";
      row.reason = query.flag(8) ? "told" : "untold";
    }
    query.reset();
    if (filter_.newest_first) std::reverse(rows.begin(), rows.end());
    for (const ListRow& row : rows)
      if (!show(row)) return {};
    return {};
  }

  Session& session_;
  Database& database_;
  const ListFilter& filter_;
  Instant now_;
  const std::function<bool(const ListRow&)>& row_;
  std::int64_t shown_ = 0;
};

}  // namespace

Result<void> list_rows(Session& session, ListSubject subject, const ListFilter& filter, Instant now,
                       const std::function<bool(const ListRow&)>& row) {
  return Lister(session, filter, now, row).run(subject);
}

}  // namespace notify

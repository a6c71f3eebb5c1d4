#include "store/status.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "store/lane.hpp"

namespace notify {
namespace {

using sqlite::Database;
using sqlite::Use;

constexpr int kAlertsShown = 20;
// The log is cut to 16 MiB after each complete checkpoint; well above that, none has been complete for long.
constexpr std::int64_t kBlockedWalBytes = 32LL * 1024 * 1024;

// Builds the report piece by piece; every piece is one question to the database.
class StatusReader {
 public:
  StatusReader(Session& session, Instant now) : session_(session), database_(session.database()) { report_.now = now; }

  Result<StatusReport> read(const std::string& filesystem) {
    TRY(counters());
    TRY(pending());
    TRY(publishing());
    TRY(queued());
    TRY(leased());
    TRY(sending());
    TRY(parked());
    TRY(identity());
    TRY(broadcasts());
    TRY(alerts());
    TRY(last_runs());
    TRY(lanes());
    TRY(rates());
    TRY(clock());
    TRY(database(filesystem));
    if (oldest_due_) report_.oldest_unsent = report_.now - *oldest_due_;
    for (auto& [name, channel] : channels_) report_.channels.push_back(std::move(channel));
    return std::move(report_);
  }

 private:
  ChannelReport& channel(std::string_view name) {
    ChannelReport& report = channels_[std::string(name)];
    if (report.channel.empty()) {
      report.channel = name;
      report.state = "open";
    }
    return report;
  }

  void unsent_since(std::optional<Instant> due) {
    if (due && *due <= report_.now && (!oldest_due_ || *due < *oldest_due_)) oldest_due_ = due;
  }

  Result<void> counters() {
    TRY_ASSIGN(Use query, database_.use("SELECT name, value FROM notification_counter WHERE bucket = 0"));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      counters_[query.text(0)] = query.integer(1);
    }
    report_.outbox.published = counted(Counter::kOutboxPublished);
    report_.outbox.skipped = counted(Counter::kOutboxSkipped);
    report_.outbox.expired = counted(Counter::kOutboxExpired);
    report_.outbox.failed = counted(Counter::kOutboxFailed);
    report_.inbox.sent = counted(Counter::kInboxSent);
    report_.inbox.failed = counted(Counter::kInboxFailed);
    report_.inbox.error = counted(Counter::kInboxError);
    report_.inbox.skipped = counted(Counter::kInboxSkipped);
    return {};
  }

  std::int64_t counted(Counter counter) const {
    const auto found = counters_.find(std::string(counter_name(counter)));
    return found == counters_.end() ? 0 : found->second;
  }

  Result<void> pending() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT channel, count(*), min(due_at) FROM notification_outbox
       WHERE status = 'PENDING' GROUP BY channel -- may scan: the partial index of what waits)sql"));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      report_.outbox.pending += query.integer(1);
      channel(query.view(0)).pending = query.integer(1);
      unsent_since(query.maybe_instant(2));
    }
  }

  Result<void> publishing() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT count(*), min(due_at) FROM notification_outbox
       WHERE status = 'PUBLISHING' AND claimed_by > 0)sql"));
    TRY(query.row());
    report_.outbox.publishing = query.integer(0);
    unsent_since(query.maybe_instant(1));
    return {};
  }

  Result<void> queued() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT channel, count(*), sum(ready_at <= ?1), min(due_at) FROM notification_queue
       WHERE leased_by IS NULL GROUP BY channel -- may scan: the partial index of what waits)sql"));
    query.bind(report_.now);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      report_.queue.ready += query.integer(2);
      report_.queue.delayed += query.integer(1) - query.integer(2);
      channel(query.view(0)).queued += query.integer(1);
      unsent_since(query.maybe_instant(3));
    }
  }

  Result<void> leased() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT channel, count(*), sum(ready_at <= ?1), min(due_at) FROM notification_queue
       WHERE leased_by IS NOT NULL GROUP BY channel -- may scan: the partial index of what is leased)sql"));
    query.bind(report_.now);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      report_.queue.ready += query.integer(2);
      report_.queue.leased += query.integer(1) - query.integer(2);
      channel(query.view(0)).queued += query.integer(1);
      unsent_since(query.maybe_instant(3));
    }
  }

  Result<void> sending() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT count(*) FROM notification_inbox WHERE status = 'SENDING' AND holder >= 0)sql"));
    TRY(query.row());
    report_.inbox.sending = query.integer(0);
    return {};
  }

  Result<void> parked() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT reason, channel, count(*) FROM notification_parked
       GROUP BY reason, channel -- may scan: an index of what is parked)sql"));
    std::map<std::string, std::int64_t> reasons;
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) break;
      reasons[query.text(0)] += query.integer(2);
      report_.parked.total += query.integer(2);
      if (!query.view(1).empty()) channel(query.view(1)).parked += query.integer(2);
    }
    report_.parked.reasons.assign(reasons.begin(), reasons.end());
    std::stable_sort(report_.parked.reasons.begin(), report_.parked.reasons.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return {};
  }

  Result<void> identity() {
    Identity& identity = report_.identity;
    identity.enqueued = counted(Counter::kEnqueued);
    identity.in_outbox = report_.outbox.total();
    identity.published = report_.outbox.published;
    identity.sending = report_.inbox.sending;
    identity.sent = report_.inbox.sent;
    identity.failed = report_.inbox.failed;
    identity.error = report_.inbox.error;
    identity.skipped = report_.inbox.skipped;
    TRY(overlaps());
    TRY(early());
    const std::int64_t downstream = identity.in_queue + identity.parked + identity.sending + identity.sent +
                                    identity.failed + identity.error + identity.skipped - identity.early;
    identity.unaccounted = identity.published - downstream;
    identity.holds = identity.enqueued == identity.in_outbox && identity.unaccounted == 0;
    report_.unaccounted = identity.unaccounted;
    return {};
  }

  // Each message counts once, with precedence inbox > parked > queue. Overlaps are found from the smaller side: all of
  // these tables may be large, though hardly all at once.
  Result<void> overlaps() {
    const std::int64_t in_inbox = report_.inbox.total();
    const std::int64_t is_parked = report_.parked.total;
    const std::int64_t is_queued = report_.queue.total();
    TRY_ASSIGN(const std::int64_t parked_and_claimed, one(is_parked < in_inbox ? sqlite::Sql(R"sql(
      SELECT count(*) FROM notification_parked AS p CROSS JOIN notification_inbox AS i ON i.message_id = p.message_id
      -- may scan: what is parked)sql")
                                                                               : sqlite::Sql(R"sql(
      SELECT count(*) FROM notification_inbox AS i CROSS JOIN notification_parked AS p ON p.message_id = i.message_id
      -- may scan: a small inbox)sql")));
    TRY_ASSIGN(const std::int64_t queued_and_claimed, one(is_queued < in_inbox ? sqlite::Sql(R"sql(
      SELECT count(*) FROM notification_queue AS q CROSS JOIN notification_inbox AS i ON i.message_id = q.message_id
      -- may scan: what is queued)sql")
                                                                               : sqlite::Sql(R"sql(
      SELECT count(*) FROM notification_inbox AS i CROSS JOIN notification_queue AS q ON q.message_id = i.message_id
      -- may scan: a small inbox)sql")));
    TRY_ASSIGN(const std::int64_t queued_and_parked, one(is_queued < is_parked ? sqlite::Sql(R"sql(
      SELECT count(*) FROM notification_queue AS q CROSS JOIN notification_parked AS p ON p.message_id = q.message_id
       WHERE NOT EXISTS (SELECT 1 FROM notification_inbox AS i WHERE i.message_id = q.message_id)
      -- may scan: what is queued)sql")
                                                                               : sqlite::Sql(R"sql(
      SELECT count(*) FROM notification_parked AS p CROSS JOIN notification_queue AS q ON q.message_id = p.message_id
       WHERE NOT EXISTS (SELECT 1 FROM notification_inbox AS i WHERE i.message_id = p.message_id)
      -- may scan: what is parked)sql")));
    report_.identity.parked = is_parked - parked_and_claimed;
    report_.identity.in_queue = is_queued - queued_and_claimed - queued_and_parked;
    return {};
  }

  // Messages that are downstream although their outbox row is not PUBLISHED: the relay has not written it yet, or tries
  // again after an unknown answer.
  Result<void> early() {
    TRY_ASSIGN(const MessageIds* ids, session_.ids());
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT id FROM notification_outbox WHERE status = 'PENDING' AND copy_may_be_out = 1 AND id > 0
      UNION ALL
      SELECT id FROM notification_outbox WHERE status = 'PUBLISHING' AND claimed_by > 0)sql"));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      const std::string message_id = ids->make(query.integer(0));
      TRY_ASSIGN(Use known, database_.use(R"sql(
        SELECT EXISTS (SELECT 1 FROM notification_inbox WHERE message_id = ?1)
            OR EXISTS (SELECT 1 FROM notification_parked WHERE message_id = ?1)
            OR EXISTS (SELECT 1 FROM notification_queue WHERE message_id = ?1))sql"));
      TRY(known.bind(message_id).row());
      report_.identity.early += known.integer(0);
    }
  }

  Result<std::int64_t> one(sqlite::Sql sql) {
    TRY_ASSIGN(Use query, database_.use(sql));
    TRY(query.row());
    return query.integer(0);
  }

  Result<void> broadcasts() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT coalesce(sum(status = 'OPEN'), 0), coalesce(sum(status = 'FAILED'), 0) FROM notification_broadcast
       WHERE status = 'OPEN' OR status = 'FAILED' -- may scan: the broadcasts)sql"));
    TRY(query.row());
    report_.broadcasts_open = query.integer(0);
    report_.broadcasts_failed = query.integer(1);
    return {};
  }

  Result<void> alerts() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT kind, subject, message_id, detail, count, first_at, last_at FROM notification_alert
       WHERE closed_at IS NULL ORDER BY last_at DESC -- may scan: open alerts)sql"));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      if (++report_.alerts_open > kAlertsShown) continue;
      report_.alerts.push_back({query.text(0), query.text(1), query.text(2), query.text(3), query.integer(4),
                                query.instant(5), query.instant(6), true});
    }
  }

  Result<void> last_runs() {
    report_.last_run = {{"relay", {}}, {"work", {}}, {"reconcile", {}}};
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT substr(key, 10), CAST(value AS INTEGER) FROM notification_meta WHERE key > 'last-run.' AND key < 'last-run/')sql"));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      const auto known = std::find_if(report_.last_run.begin(), report_.last_run.end(),
                                      [&](const LastRun& run) { return run.command == query.view(0); });
      LastRun& run = known != report_.last_run.end() ? *known : report_.last_run.emplace_back();
      run.command = query.text(0);
      run.succeeded_at = query.instant(1);
    }
  }

  Result<void> lanes() {
    TRY_ASSIGN(const std::vector<Lane> rows, SqliteLanes(session_).all());
    for (const Lane& lane : rows) {
      ChannelReport& report = channel(lane.channel);
      const bool paused = lane.paused && (!lane.paused_until || *lane.paused_until > report_.now);
      const bool held = lane.hold_until && *lane.hold_until > report_.now;
      if (paused) {
        report.state = "paused";
        report.until = lane.paused_until;
      } else if (held) {
        report.state = "held";
        report.until = lane.hold_until;
      } else if (lane.halted) {
        report.state = "halted";
        report.until = lane.probe_at;
      }
      if (paused || lane.halted || held) report.reason = paused ? lane.pause_reason : lane.reason;
    }
    return closed_lanes();
  }

  // Lanes that a worker could not serve at all: its own trouble, of which only the alert tells.
  Result<void> closed_lanes() {
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT subject, detail FROM notification_alert WHERE kind = 'lane-halted' AND closed_at IS NULL)sql"));
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      ChannelReport& report = channel(query.view(0));
      if (report.state != "open") continue;
      report.state = "halted";
      report.reason = query.text(1);
    }
  }

  Result<void> rates() {
    const std::int64_t span = kCounterSpan.count();
    const std::int64_t current = report_.now.ms / span;
    const std::int64_t hour = (report_.now - std::chrono::hours(1)).ms / span;
    const std::int64_t day = (report_.now - std::chrono::hours(24)).ms / span;
    TRY_ASSIGN(Use query, database_.use(R"sql(
      SELECT name, value, bucket > ?1 FROM notification_counter WHERE bucket > ?2 AND bucket <= ?3)sql"));
    query.bind(hour, day, current);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      add_rate(report_.rates.day, query.view(0), query.integer(1));
      if (query.flag(2)) add_rate(report_.rates.hour, query.view(0), query.integer(1));
    }
  }

  static void add_rate(Rates::Span& span, std::string_view name, std::int64_t value) {
    if (name == counter_name(Counter::kEnqueued)) span.enqueued += value;
    if (name == counter_name(Counter::kOutboxPublished)) span.published += value;
    if (name == counter_name(Counter::kInboxSent)) span.sent += value;
    if (name == counter_name(Counter::kInboxFailed)) span.failed += value;
    if (name == counter_name(Counter::kInboxError)) span.error += value;
  }

  Result<void> clock() {
    TRY_ASSIGN(const std::int64_t newest, one(R"sql(
      SELECT max(coalesce((SELECT created_at FROM notification_outbox ORDER BY id DESC LIMIT 1), 0),
                 coalesce((SELECT started_at FROM notification_run ORDER BY id DESC LIMIT 1), 0))
      -- may scan: one row each)sql"));
    if (Instant{newest} > report_.now) report_.clock_behind = Instant{newest} - report_.now;
    return {};
  }

  Result<void> database(const std::string& filesystem) {
    DatabaseReport& report = report_.database;
    report.path = database_.path();
    report.filesystem = filesystem;
    report.sqlite_version = sqlite3_libversion();
    // Only looked at: opening and closing the file would drop this process's locks on it.
    struct stat info {};
    if (::stat(report.path.c_str(), &info) == 0) report.size = info.st_size;
    if (::stat((report.path + "-wal").c_str(), &info) == 0) report.wal_bytes = info.st_size;
    report.checkpoint_blocked = report.wal_bytes > kBlockedWalBytes;
    TRY_ASSIGN(report.page_size, database_.integer("PRAGMA page_size"));
    TRY_ASSIGN(report.pages, database_.integer("PRAGMA page_count"));
    TRY_ASSIGN(report.free_pages, database_.integer("PRAGMA freelist_count"));
    TRY_ASSIGN(report.journal_mode, database_.text("PRAGMA journal_mode"));
    TRY_ASSIGN(const std::int64_t schema,
               database_.integer("SELECT CAST(value AS INTEGER) FROM notification_meta WHERE key = 'schema'"));
    report.schema = static_cast<int>(schema);
    TRY_ASSIGN(const MessageIds* ids, session_.ids());
    report.source = ids->source();
    report.generation = ids->newest_generation();
    return {};
  }

  Session& session_;
  Database& database_;
  StatusReport report_{};
  std::map<std::string, std::int64_t> counters_{};
  std::map<std::string, ChannelReport> channels_{};
  std::optional<Instant> oldest_due_{};
};

Result<std::map<std::string, std::int64_t>> found_in_tables(Database& database) {
  std::map<std::string, std::int64_t> found;
  TRY_ASSIGN(Use query, database.use(R"sql(
    SELECT 'enqueued', count(*) FROM notification_outbox
    UNION ALL
    SELECT 'outbox.' || status, count(*) FROM notification_outbox
     WHERE status NOT IN ('PENDING', 'PUBLISHING') GROUP BY status
    UNION ALL
    SELECT 'inbox.' || status, count(*) FROM notification_inbox WHERE status <> 'SENDING' GROUP BY status
    -- may scan: the tables, to verify the counters)sql"));
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return found;
    found[query.text(0)] = query.integer(1);
  }
}

}  // namespace

Result<StatusReport> read_status(Session& session, Instant now, const std::string& filesystem) {
  return StatusReader(session, now).read(filesystem);
}

Result<std::vector<CounterDrift>> compare_counters(Database& database) {
  TRY_ASSIGN(const auto found, found_in_tables(database));
  std::vector<CounterDrift> drifts;
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::string name(counter_name(static_cast<Counter>(i)));
    TRY_ASSIGN(Use query, database.use("SELECT value FROM notification_counter WHERE bucket = 0 AND name = ?1"));
    TRY_ASSIGN(const bool counted, query.bind(name).row());
    const std::int64_t value = counted ? query.integer(0) : 0;
    const auto known = found.find(name);
    const std::int64_t actual = known == found.end() ? 0 : known->second;
    if (value != actual) drifts.push_back({name, value, actual});
  }
  return drifts;
}

}  // namespace notify

#include "store/alert.hpp"

#include "store/change_one.hpp"

namespace notify {
namespace {

#define ALERT_COLUMNS \
  "id, kind, subject, message_id, detail, count, first_at, last_at, closed_at IS NULL, told, notified_at"

Result<std::vector<Alert>> read_alerts(sqlite::Use query) {
  std::vector<Alert> alerts;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return alerts;
    alerts.push_back({query.integer(0), query.text(1), query.text(2), query.text(3), query.text(4), query.integer(5),
                      query.instant(6), query.instant(7), query.flag(8), query.integer(9), query.maybe_instant(10)});
  }
}

}  // namespace

Result<void> SqliteAlerts::raise(std::string_view kind, std::string_view subject, std::string_view message_id,
                                 std::string_view detail, Instant now) {
  TRY_ASSIGN(sqlite::Use raise, session_.writer().use(R"sql(
    INSERT INTO notification_alert (kind, subject, message_id, detail, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
    ON CONFLICT (kind, subject) WHERE closed_at IS NULL
    DO UPDATE SET count = count + 1, message_id = excluded.message_id, detail = excluded.detail,
                  last_at = excluded.last_at)sql"));
  TRY(raise.bind(kind, subject, message_id, detail, now).run());
  return {};
}

Result<void> SqliteAlerts::close(std::string_view kind, std::string_view subject, Instant now) {
  TRY_ASSIGN(sqlite::Use close, session_.writer().use(R"sql(
    UPDATE notification_alert SET closed_at = ?3 WHERE kind = ?1 AND subject = ?2 AND closed_at IS NULL)sql"));
  TRY(close.bind(kind, subject, now).run());
  return {};
}

Result<void> SqliteAlerts::keep_open(std::string_view kind, std::string_view subject, std::string_view detail,
                                     Instant now) {
  TRY_ASSIGN(sqlite::Use raise, session_.writer().use(R"sql(
    INSERT INTO notification_alert (kind, subject, detail, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
    ON CONFLICT (kind, subject) WHERE closed_at IS NULL
    DO UPDATE SET detail = excluded.detail, last_at = excluded.last_at)sql"));
  TRY(raise.bind(kind, subject, detail, now).run());
  return {};
}

Result<std::vector<Alert>> SqliteAlerts::open_alerts() {
  // kind > '' names the whole of the small partial index.
  TRY_ASSIGN(sqlite::Use query, session_.database().use("SELECT " ALERT_COLUMNS R"sql(
      FROM notification_alert WHERE closed_at IS NULL AND kind > '' ORDER BY kind, subject)sql"));
  return read_alerts(std::move(query));
}

// ?1 is a channel, or empty. A subject is "CHANNEL" or "CHANNEL: REASON".
#define NOT_OF_CHANNEL_1 "(?1 = '' OR (subject <> ?1 AND substr(subject, 1, length(?1) + 2) <> ?1 || ': '))"

Result<std::vector<Alert>> SqliteAlerts::due(Instant told_before, std::string_view except, int limit) {
  TRY_ASSIGN(sqlite::Use untold, session_.database().use("SELECT " ALERT_COLUMNS R"sql(
      FROM notification_alert WHERE notified_at IS NULL AND id > 0 AND )sql" NOT_OF_CHANNEL_1 " ORDER BY id LIMIT ?2"));
  TRY_ASSIGN(std::vector<Alert> alerts, read_alerts(std::move(untold.bind(except, limit))));
  TRY_ASSIGN(sqlite::Use again, session_.database().use("SELECT " ALERT_COLUMNS R"sql(
      FROM notification_alert
     WHERE closed_at IS NULL AND kind > '' AND notified_at <= ?2 AND )sql" NOT_OF_CHANNEL_1 " LIMIT ?3"));
  again.bind(except, told_before, limit - static_cast<int>(alerts.size()));
  TRY_ASSIGN(std::vector<Alert> repeated, read_alerts(std::move(again)));
  std::move(repeated.begin(), repeated.end(), std::back_inserter(alerts));
  return alerts;
}

Result<bool> SqliteAlerts::tell(std::int64_t id, std::int64_t told, Instant now) {
  return change_one(session_,
                    "UPDATE notification_alert SET notified_at = ?3, told = told + 1 WHERE id = ?1 AND told = ?2", id,
                    told, now);
}

}  // namespace notify

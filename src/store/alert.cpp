#include "store/alert.hpp"

namespace notify {

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

}  // namespace notify

#include "store/history.hpp"

namespace notify {

Result<void> SqliteHistory::attempt(std::string_view message_id, int number, const Outcome& outcome, Instant now) {
  TRY_ASSIGN(sqlite::Use insert, session_.writer().use(R"sql(
    INSERT INTO notification_attempt (message_id, at, number, outcome, status, bytes_sent, elapsed_ms, duplicate_risk,
                                      phase, reason, detail, reference)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12))sql"));
  TRY(insert
          .bind(message_id, now, number, outcome_name(outcome.cls), outcome.status, outcome.bytes_sent, outcome.elapsed,
                outcome.duplicate_risk, outcome.phase, outcome.reason, outcome.detail, outcome.reference)
          .run());
  return {};
}

Result<void> SqliteHistory::event(std::string_view message_id, std::string_view name, std::string_view detail,
                                  std::string_view actor, Instant now) {
  TRY_ASSIGN(sqlite::Use insert, session_.writer().use(R"sql(
    INSERT INTO notification_event (message_id, at, name, actor, detail) VALUES (?1, ?2, ?3, ?4, ?5))sql"));
  TRY(insert.bind(message_id, now, name, actor, detail).run());
  return {};
}

Result<std::optional<HistoryTable::AttemptMark>> SqliteHistory::last_attempt(std::string_view message_id,
                                                                             Instant since) {
  TRY_ASSIGN(sqlite::Use query, session_.database().use(R"sql(
    SELECT number, reference FROM notification_attempt
     WHERE message_id = ?1 AND at >= ?2 AND reason NOT IN ('worker-died', 'stale') ORDER BY id DESC LIMIT 1)sql"));
  TRY_ASSIGN(const bool found, query.bind(message_id, since).row());
  if (!found) return std::nullopt;
  return AttemptMark{query.small(0), query.text(1)};
}

Result<bool> SqliteHistory::happened(std::string_view message_id, std::string_view name) {
  TRY_ASSIGN(sqlite::Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_event WHERE message_id = ?1 AND name = ?2 LIMIT 1)sql"));
  return query.bind(message_id, name).row();
}

}  // namespace notify

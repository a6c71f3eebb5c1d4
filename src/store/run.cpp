#include "store/run.hpp"

#include "store/change_one.hpp"

namespace notify {

using sqlite::Use;

Result<std::int64_t> SqliteRuns::begin(std::string_view command, std::int64_t pid, Instant now) {
  TRY_ASSIGN(Use insert,
             session_.writer().use("INSERT INTO notification_run (command, pid, started_at) VALUES (?1, ?2, ?3)"));
  TRY(insert.bind(command, pid, now).run());
  const std::int64_t id = session_.database().last_insert_id();
  // Each run drops more than one old one, so that the table stays small without a command for it.
  TRY_ASSIGN(Use drop, session_.writer().use(R"sql(
    DELETE FROM notification_run
     WHERE id IN (SELECT id FROM notification_run WHERE id < ?1 AND ended_at IS NOT NULL ORDER BY id LIMIT ?2)
       -- may collect: a few, when a run begins)sql"));
  TRY(drop.bind(id - kRunsKept, kRunsDroppedAtOnce).run());
  return id;
}

Result<void> SqliteRuns::end(std::int64_t run_id, bool ok, std::string_view summary, Instant now) {
  TRY_ASSIGN(const bool ended, change_one(session_, R"sql(
    UPDATE notification_run SET ended_at = ?2, outcome = ?3, summary = ?4 WHERE id = ?1 AND ended_at IS NULL)sql",
                                          run_id, now, ok ? "ok" : "failed", summary));
  if (!ended || !ok) return {};
  TRY_ASSIGN(Use last, session_.writer().use(R"sql(
    INSERT OR REPLACE INTO notification_meta (key, value)
    SELECT 'last-run.' || command, ?2 FROM notification_run WHERE id = ?1)sql"));
  const std::string at = std::to_string(now.ms);
  TRY(last.bind(run_id, at).run());
  // A run has ended here, so there is a fence file: where there is none, this is a copy (see fence.hpp).
  TRY_ASSIGN(Use fence, session_.writer().use(R"sql(
    INSERT OR IGNORE INTO notification_meta (key, value) VALUES ('fence', 'on'))sql"));
  TRY(fence.run());
  return {};
}

Result<std::int64_t> SqliteRuns::mark() {
  TRY_ASSIGN(Use next, session_.writer().use(R"sql(
    UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'notification_run' RETURNING seq
    -- may scan: sqlite_sequence has two rows; may collect: one, every ten seconds)sql"));
  TRY(next.row());
  return next.integer(0);
}

Result<std::vector<OpenRun>> SqliteRuns::open_runs() {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT id, command FROM notification_run WHERE ended_at IS NULL AND id > 0)sql"));
  std::vector<OpenRun> runs;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return runs;
    runs.push_back({query.integer(0), query.text(1)});
  }
}

Result<void> SqliteRuns::mark_dead(std::int64_t run_id, Instant now) {
  TRY(change_one(session_, R"sql(
    UPDATE notification_run SET ended_at = ?2, outcome = 'dead' WHERE id = ?1 AND ended_at IS NULL)sql",
                 run_id, now));
  return {};
}

}  // namespace notify

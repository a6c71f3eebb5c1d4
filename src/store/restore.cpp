#include "store/restore.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "store/counters.hpp"
#include "store/fence.hpp"
#include "store/message_ids.hpp"
#include "store/migrations.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/transaction.hpp"
#include "store/status.hpp"

namespace notify {
namespace {

using sqlite::Database;
using sqlite::Transaction;
using sqlite::Use;

constexpr std::int64_t kRowsPerTransaction = 500;

// Ids from `first` to `last` whose message ids begin with `prefix`. What is done to them has no condition but "not SENT",
// and doing it twice changes nothing.
class Span {
 public:
  Span(Database& database, std::int64_t first, std::int64_t last, std::string prefix, Instant now)
      : database_(database), first_(first), last_(last), prefix_(std::move(prefix)), now_(now) {}

  Result<std::int64_t> put_in_doubt() {
    // The outbox by its own state machine: everything becomes PENDING, is claimed and PUBLISHED.
    TRY(change(R"sql(
      UPDATE notification_outbox
         SET status = 'PENDING', claim_token = NULL, claimed_by = NULL, claimed_until = NULL
       WHERE id BETWEEN ?1 AND ?2 AND status <> 'PENDING' AND status <> 'PUBLISHED' AND
             NOT EXISTS (SELECT 1 FROM notification_inbox WHERE message_id = ?3 || id AND status = 'SENT')
      -- may collect: once a restore)sql",
               prefix_));
    TRY(change(R"sql(
      UPDATE notification_outbox
         SET status = 'PUBLISHING', claim_token = 1, claimed_by = 0, claimed_until = ?3
       WHERE id BETWEEN ?1 AND ?2 AND status = 'PENDING' AND
             NOT EXISTS (SELECT 1 FROM notification_inbox WHERE message_id = ?4 || id AND status = 'SENT')
      -- may collect: once a restore)sql",
               now_, prefix_));
    TRY(change(R"sql(
      UPDATE notification_outbox
         SET status = 'PUBLISHED', claim_token = NULL, claimed_by = NULL, claimed_until = NULL,
             copy_may_be_out = 0, reason = 'restored', updated_at = ?3
       WHERE id BETWEEN ?1 AND ?2 AND status = 'PUBLISHING'
      -- may collect: once a restore)sql",
               now_));
    TRY(change(R"sql(
      DELETE FROM notification_parked
       WHERE message_id IN (SELECT ?3 || id FROM notification_outbox WHERE id BETWEEN ?1 AND ?2)
      -- may collect: once a restore)sql",
               prefix_));
    TRY(change(R"sql(
      DELETE FROM notification_inbox
       WHERE message_id IN (SELECT ?3 || id FROM notification_outbox WHERE id BETWEEN ?1 AND ?2) AND
             (status = 'FAILED' OR status = 'SKIPPED')
      -- may collect: once a restore)sql",
               prefix_));
    TRY(change(R"sql(
      INSERT INTO notification_inbox (message_id, outbox_id, channel, status, claim_token, holder, claimed_at,
                                      first_call_at, created_at, updated_at)
      SELECT ?4 || id, id, channel, 'SENDING', abs(random() / 2) + 1, 1, ?3, ?3, ?3, ?3
        FROM notification_outbox WHERE id BETWEEN ?1 AND ?2
      ON CONFLICT (message_id) DO NOTHING
      -- may collect: once a restore)sql",
               now_, prefix_));
    return change(R"sql(
      UPDATE notification_inbox
         SET status = 'ERROR', reason = 'restored', settled_at = ?3, updated_at = ?3
       WHERE message_id IN (SELECT ?4 || id FROM notification_outbox WHERE id BETWEEN ?1 AND ?2) AND
             status = 'SENDING'
      -- may collect: once a restore)sql",
                  now_, prefix_);
  }

 private:
  // ?1 and ?2 are the first and the last id.
  template <class... Args>
  Result<std::int64_t> change(sqlite::Sql sql, const Args&... more) {
    TRY_ASSIGN(Use statement, database_.use(sql));
    TRY_ASSIGN(const int rows, statement.bind(first_, last_, more...).run());
    return rows;
  }

  Database& database_;
  std::int64_t first_;
  std::int64_t last_;
  std::string prefix_;
  Instant now_;
};

class Restorer {
 public:
  Restorer(Database& database, Instant now) : database_(database), now_(now) {}

  Result<RestoreReport> run(const FenceState& fence) {
    RestoreReport report;
    report.detected = fence.restored();
    TRY_ASSIGN(const std::int64_t backup_at, database_.integer(R"sql(
      SELECT max(coalesce((SELECT max(updated_at) FROM notification_outbox), 0),
                 coalesce((SELECT max(updated_at) FROM notification_inbox), 0),
                 coalesce((SELECT max(started_at) FROM notification_run), 0)) -- may scan: once a restore)sql"));
    report.backup_at = Instant{backup_at};
    TRY_ASSIGN(report.in_doubt, put_all_in_doubt());
    TRY_ASSIGN(report.generation, close(std::max(fence.fence.value_or(0), fence.newest_run) + 1));
    return report;
  }

 private:
  Result<std::int64_t> put_all_in_doubt() {
    TRY_ASSIGN(const MessageIds ids, MessageIds::load(database_));
    TRY_ASSIGN(const std::int64_t last, database_.integer("SELECT coalesce(max(id), 0) FROM notification_outbox"));
    std::int64_t in_doubt = 0;
    for (std::int64_t first = 1; first <= last;) {
      TRY_ASSIGN(Transaction transaction, Transaction::begin(database_, Transaction::Kind::kWrite));
      const std::int64_t end = std::min(first + kRowsPerTransaction - 1, ids.last_of_range(first));
      const std::string id = ids.make(first);
      Span span(database_, first, end, id.substr(0, id.rfind('-') + 1), now_);
      TRY_ASSIGN(const std::int64_t rows, span.put_in_doubt());
      in_doubt += rows;
      TRY(transaction.commit());
      first = end + 1;
    }
    return in_doubt;
  }

  // What lies beside the messages, and the end of the old generation: from here on the database may be used.
  Result<std::string> close(std::int64_t run_id) {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(database_, Transaction::Kind::kWrite));
    TRY(execute("DELETE FROM notification_queue -- may scan: all of it, and may collect: once a restore"));
    // Tokens of another time; the vendor may have replaced them since.
    TRY(execute("DELETE FROM notification_credential -- may scan: all of it, and may collect: once a restore"));
    // It went on after the backup: going on from the backup's place would write to the same people again.
    TRY(execute(R"sql(
      UPDATE notification_broadcast SET status = 'CANCELLED', reason = 'restored', updated_at = ?1
       WHERE status = 'OPEN' OR status = 'FAILED'
      -- may scan: once a restore; may collect: the same)sql",
                now_));
    // Claims of messages whose outbox is elsewhere.
    TRY(execute(R"sql(
      UPDATE notification_inbox SET status = 'ERROR', reason = 'restored', settled_at = ?1, updated_at = ?1
       WHERE status = 'SENDING'
      -- may scan: once a restore; may collect: the same)sql",
                now_));
    TRY(execute(R"sql(
      UPDATE notification_run SET ended_at = ?1, outcome = 'dead' WHERE ended_at IS NULL
      -- may scan: once a restore; may collect: the same)sql",
                now_));
    TRY(execute(R"sql(
      INSERT INTO notification_run (id, command, pid, started_at, ended_at, outcome)
      VALUES (?2, 'init', 0, ?1, ?1, 'ok')
      -- may collect: once a restore)sql",
                now_, run_id));
    TRY(execute(R"sql(
      INSERT INTO notification_generation (first_id, generation, opened_at)
      SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'notification_outbox'), 0) + 1,
             lower(hex(randomblob(4))), ?1
       WHERE 1
      ON CONFLICT (first_id) DO UPDATE SET generation = excluded.generation, opened_at = excluded.opened_at
      -- may scan: sqlite_sequence has two rows; may collect: once a restore)sql",
                now_));
    TRY(execute(R"sql(
      INSERT INTO notification_alert (kind, subject, detail, first_at, last_at)
      VALUES ('restored', 'database', 'a backup was restored: what is not SENT is in doubt', ?1, ?1)
      ON CONFLICT (kind, subject) WHERE closed_at IS NULL DO UPDATE SET count = count + 1, last_at = ?1
      -- may collect: once a restore)sql",
                now_));
    TRY(recount());
    TRY_ASSIGN(const MessageIds ids, MessageIds::load(database_));
    TRY(transaction.commit());
    TRY(raise_fence(database_.path(), run_id));
    return ids.newest_generation();
  }

  Result<void> recount() {
    TRY_ASSIGN(const std::vector<CounterDrift> drifts, compare_counters(database_));
    for (const CounterDrift& drift : drifts) {
      TRY(execute(R"sql(
        INSERT INTO notification_counter (bucket, name, value) VALUES (0, ?1, ?2)
        ON CONFLICT (bucket, name) DO UPDATE SET value = excluded.value
      -- may collect: once a restore)sql",
                  drift.name, drift.found));
    }
    return {};
  }

  template <class... Args>
  Result<void> execute(sqlite::Sql sql, Args&&... args) {
    TRY_ASSIGN(Use statement, database_.use(sql));
    TRY(statement.bind(std::forward<Args>(args)...).run());
    return {};
  }

  Database& database_;
  Instant now_;
};

}  // namespace

Result<RestoreReport> take_over_restored(const RestoreOptions& options) {
  TRY_ASSIGN(const std::unique_ptr<Database> database, Database::connect(options.path, {}));
  TRY_ASSIGN(const int schema, schema_version(*database));
  if (schema != newest_schema())
    return fail(Code::kConfig, "cannot use " + options.path + ": run notifyctl init first");
  TRY_ASSIGN(const FenceState fence, read_fence(*database));
  if (!fence.restored() && !options.undetected_too) return RestoreReport{};
  return Restorer(*database, options.now).run(fence);
}

}  // namespace notify

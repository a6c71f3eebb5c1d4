// The reference for `relay`: claim a batch by one UPDATE over a partial index and commit; insert it into a
// queue, mark it and commit. No policies, no recovery, one channel. Fills its own database first, which is
// not timed.
//
//   bare_claim_loop --db FILE --rows N [--batch 50]         prints {"rows":N,"seconds":S}

#include <vector>

#include "bench_support.hpp"

namespace {

constexpr const char* kSchema = R"(
  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, status TEXT NOT NULL, ready_at INTEGER NOT NULL, claim_token INTEGER,
    claimed_by INTEGER, claimed_until INTEGER, updated_at INTEGER NOT NULL, channel TEXT NOT NULL,
    recipient TEXT NOT NULL, dedup_key TEXT UNIQUE, payload TEXT NOT NULL);
  CREATE INDEX outbox_pending ON outbox (ready_at) WHERE status = 'PENDING';
  CREATE TABLE queue (
    message_id TEXT PRIMARY KEY, outbox_id INTEGER NOT NULL, channel TEXT NOT NULL, ready_at INTEGER NOT NULL,
    lease_token INTEGER, leased_by INTEGER, queued_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX queue_waiting ON queue (channel, ready_at) WHERE leased_by IS NULL;)";

void fill(bench::Database& db, int rows) {
  const std::string payload = R"({"subject":"Disk full","body":")" + std::string(560, 'x') + "\"}";
  const std::int64_t now = bench::wall_ms();
  db.run(kSchema);
  bench::Statement insert(
      db, "INSERT INTO outbox VALUES (?1, 'PENDING', ?2, NULL, NULL, NULL, ?2, 'hook', 'team', ?3, ?4)");
  db.run("BEGIN IMMEDIATE");
  for (int i = 1; i <= rows; ++i) {
    const std::string key = "bench:" + std::to_string(100'000'000 + i);
    insert.bind(1, std::int64_t{i}).bind(2, now).bind(3, key).bind(4, payload).run();
  }
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const int rows = options.number("--rows");
  bench::Database db(options.text("--db"));
  fill(db, rows);

  bench::Statement begin(db, "BEGIN IMMEDIATE");
  bench::Statement commit(db, "COMMIT");
  bench::Statement claim(db,
                         "UPDATE outbox SET status = 'PUBLISHING', claim_token = random(), claimed_by = 1,"
                         " claimed_until = ?1 + 900000, updated_at = ?1 WHERE id IN"
                         " (SELECT id FROM outbox WHERE status = 'PENDING' AND ready_at <= ?1"
                         "  ORDER BY ready_at LIMIT ?2) RETURNING id, claim_token");
  bench::Statement insert(db, "INSERT INTO queue VALUES (?1, ?2, 'hook', ?3, NULL, NULL, ?3)");
  bench::Statement mark(db,
                        "UPDATE outbox SET status = 'PUBLISHED', claim_token = NULL, claimed_by = NULL,"
                        " claimed_until = NULL, updated_at = ?3 WHERE id = ?1 AND claim_token = ?2");

  struct Claimed {
    std::int64_t id;
    std::int64_t token;
  };
  std::vector<Claimed> claimed;
  const int batch = options.number("--batch", 50);
  int done = 0;
  const double start = bench::seconds();
  while (true) {
    claimed.clear();
    begin.run();
    claim.bind(1, bench::wall_ms()).bind(2, std::int64_t{batch});
    while (claim.step()) claimed.push_back({claim.integer(0), claim.integer(1)});
    commit.run();
    if (claimed.empty()) break;

    const std::int64_t now = bench::wall_ms();
    begin.run();
    for (const Claimed& row : claimed) {
      const std::string id = bench::message_id(row.id);
      insert.bind(1, id).bind(2, row.id).bind(3, now).run();
    }
    for (const Claimed& row : claimed) mark.bind(1, row.id).bind(2, row.token).bind(3, now).run();
    commit.run();
    done += static_cast<int>(claimed.size());
  }
  const double elapsed = bench::seconds() - start;
  if (done != rows) bench::die("handed over " + std::to_string(done) + " of " + std::to_string(rows));
  std::printf("{\"rows\":%d,\"seconds\":%.4f}\n", rows, elapsed);
}

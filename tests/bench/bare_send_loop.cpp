// The reference for `work`: curl multi in one thread, and one that writes to SQLite. Each message is claimed
// by a durable INSERT before its call, and its result is written by an UPDATE; both in groups, as many as
// there are. No queue, no leases, no policies, no reading of messages.
//
//   bare_send_loop --db FILE --url URL --messages N --concurrency N      prints
//   {"messages":N,"seconds":S,"commits":N}

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "bench_support.hpp"
#include "curl_loop.hpp"

namespace {

constexpr const char* kSchema = R"(
  CREATE TABLE inbox (
    message_id TEXT PRIMARY KEY, channel TEXT NOT NULL, status TEXT NOT NULL, claim_token INTEGER,
    holder INTEGER NOT NULL, claimed_at INTEGER NOT NULL, settled_at INTEGER) WITHOUT ROWID;)";

// What the two threads hand to each other.
struct Shared {
  std::mutex mutex{};
  std::condition_variable changed{};
  std::vector<int> claimed{};
  std::vector<int> finished{};
};

int store_thread(const std::string& path, int messages, int concurrency, Shared& shared, bench::CurlLoop& loop) {
  bench::Database db(path);
  db.run(kSchema);
  bench::Statement begin(db, "BEGIN IMMEDIATE");
  bench::Statement commit(db, "COMMIT");
  bench::Statement claim(db,
                         "INSERT INTO inbox VALUES (?1, 'hook', 'SENDING', ?2, 1, ?3, NULL) ON CONFLICT DO NOTHING");
  bench::Statement settle(db,
                          "UPDATE inbox SET status = 'SENT', settled_at = ?3"
                          " WHERE message_id = ?1 AND claim_token = ?2 AND status = 'SENDING'");
  std::vector<int> finished;
  std::vector<int> claimed;
  int next = 0;
  int out = 0;
  int settled = 0;
  int commits = 0;
  while (settled < messages) {
    finished.clear();
    claimed.clear();
    {
      std::unique_lock lock(shared.mutex);
      if (out > 0) shared.changed.wait(lock, [&] { return !shared.finished.empty(); });
      finished.swap(shared.finished);
    }
    const std::int64_t now = bench::wall_ms();
    begin.run();
    for (const int number : finished) {
      const std::string id = bench::message_id(number);
      settle.bind(1, id).bind(2, std::int64_t{number}).bind(3, now).run();
    }
    out -= static_cast<int>(finished.size());
    for (; out < concurrency && next < messages; ++out) {
      const std::string id = bench::message_id(++next);
      claim.bind(1, id).bind(2, std::int64_t{next}).bind(3, now).run();
      claimed.push_back(next);
    }
    commit.run();
    ++commits;
    settled += static_cast<int>(finished.size());
    if (claimed.empty()) continue;
    const std::lock_guard lock(shared.mutex);
    shared.claimed.insert(shared.claimed.end(), claimed.begin(), claimed.end());
    loop.wake();
  }
  return commits;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const int messages = options.number("--messages");
  const int concurrency = options.number("--concurrency");
  bench::CurlLoop loop(options.text("--url"), concurrency);
  Shared shared;
  int commits = 0;
  const double start = bench::seconds();
  std::thread store([&] { commits = store_thread(options.text("--db"), messages, concurrency, shared, loop); });

  std::vector<int> claimed;
  std::vector<int> done;
  for (int sent = 0; sent < messages;) {
    {
      const std::lock_guard lock(shared.mutex);
      claimed.swap(shared.claimed);
    }
    for (const int number : claimed) loop.start(number);
    const bool started = !claimed.empty();
    claimed.clear();
    loop.perform(done);
    if (!done.empty()) {
      sent += static_cast<int>(done.size());
      const std::lock_guard lock(shared.mutex);
      shared.finished.insert(shared.finished.end(), done.begin(), done.end());
      shared.changed.notify_one();
      done.clear();
    } else if (!started) {
      loop.wait();
    }
  }
  store.join();
  std::printf("{\"messages\":%d,\"seconds\":%.4f,\"commits\":%d}\n", messages, bench::seconds() - start, commits);
}

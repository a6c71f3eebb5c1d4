// What the store itself costs: inserting, inserting again (all duplicates), relaying, claiming and settling, and status, in
// processor time and wall time a row. Prints one JSON object a line.
//
//   store_insert DIRECTORY [ROWS]

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/fingerprint.hpp"
#include "store/open.hpp"
#include "store/sqlite/database.hpp"

namespace {

using namespace notify;

constexpr int kGroup = 1000;
constexpr int kBatch = 50;
constexpr Instant kNow{1'795'958'769'000};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void measure(const char* what, int rows, const std::function<void()>& body) {
  const double cpu = cpu_seconds();
  const double wall = wall_seconds();
  body();
  const double cpu_us = (cpu_seconds() - cpu) * 1e6 / rows;
  const double wall_us = (wall_seconds() - wall) * 1e6 / rows;
  std::printf(
      "{\"what\":\"%s\",\"rows\":%d,\"cpu_us_per_row\":%.2f,\"wall_us_per_row\":%.2f,\"rows_per_second\":%.0f}\n", what,
      rows, cpu_us, wall_us, 1e6 / wall_us);
  std::fflush(stdout);
}

NewMessage row(int i) {
  NewMessage m;
  char key[32];
  std::snprintf(key, sizeof key, "GRADE_LOCK_IN:2026-11:%08d", i);
  m.dedup_key = key;
  m.channel = "sms";
  m.recipient = "+821000000000";
  m.kind = "GRADE_LOCK_IN";
  m.payload = R"({"subject":"Subject of the message","body":")" + std::string(640, 'x') + "\"}";
  return m;
}

// The same rows with nothing around them: the floor.
void bare(const std::string& path, int rows) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) std::exit(1);
  sqlite3_exec(
      db,
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, dedup_key TEXT UNIQUE, channel TEXT, recipient TEXT,"
      " kind TEXT, payload TEXT, status TEXT, ready_at INTEGER);"
      "CREATE INDEX pending ON outbox (channel, ready_at) WHERE status = 'PENDING'",
      nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db,
                     "INSERT INTO outbox (dedup_key, channel, recipient, kind, payload, status, ready_at)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, 'PENDING', ?6) ON CONFLICT DO NOTHING",
                     -1, &insert, nullptr);
  for (int i = 0; i < rows; ++i) {
    if (i % kGroup == 0) sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    const NewMessage m = row(i);
    sqlite3_bind_text(insert, 1, m.dedup_key.data(), static_cast<int>(m.dedup_key.size()), SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, m.channel.data(), static_cast<int>(m.channel.size()), SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, m.recipient.data(), static_cast<int>(m.recipient.size()), SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, m.kind.data(), static_cast<int>(m.kind.size()), SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, m.payload.data(), static_cast<int>(m.payload.size()), SQLITE_STATIC);
    sqlite3_bind_int64(insert, 6, kNow.ms);
    sqlite3_step(insert);
    sqlite3_reset(insert);
    if (i % kGroup == kGroup - 1) sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  }
  sqlite3_finalize(insert);
  sqlite3_close(db);
}

void insert_all(SqliteStore& store, int rows, InsertResult::Kind expected) {
  for (int from = 0; from < rows; from += kGroup) {
    must(store.write([&]() -> Result<void> {
      for (int i = from; i < from + kGroup && i < rows; ++i) {
        NewMessage m = row(i);
        m.fingerprint.assign(32, static_cast<char>(i));  // what a fingerprint costs is core's business
        TRY_ASSIGN(const InsertResult result, store.outbox().insert(m, kNow));
        if (result.kind != expected) return fail(Code::kInternal, "unexpected");
      }
      return {};
    }));
  }
}

void relay_all(SqliteStore& store, int rows) {
  int done = 0;
  while (done < rows) {
    std::vector<Candidate> batch;
    must(store.write([&]() -> Result<void> {
      TRY_ASSIGN(batch, store.outbox().candidates(kNow, kBatch, false));
      for (const Candidate& c : batch) TRY(store.outbox().claim(c.envelope.outbox_id, {7, 1, kNow, kNow + 15min}));
      return {};
    }));
    if (batch.empty()) return;
    must(store.write([&]() -> Result<void> {
      for (const Candidate& c : batch) {
        TRY(store.queue().put(c.envelope.outbox_id, 1, kNow));
        TRY(store.outbox().confirm(c.envelope.outbox_id, 7, kNow));
      }
      return {};
    }));
    done += static_cast<int>(batch.size());
  }
}

// Settles and acks the last batch and takes and claims the next, one transaction each time, as work does.
void work_all(SqliteStore& store) {
  std::vector<Delivery> claimed;
  const std::vector<ReceiveQuota> lanes{{"sms", kBatch}};
  bool more = true;
  while (more) {
    must(store.write([&]() -> Result<void> {
      for (const Delivery& d : claimed) {
        TRY(store.inbox().settle({d.handle.message_id, 9, InboxState::kSent, {}, {}, "reference", 200, kNow}));
        TRY(store.queue().remove(d.handle.message_id, d.handle.lease_token));
      }
      TRY_ASSIGN(claimed, store.queue().take({lanes, 0, kNow, kNow + 5min, 2}));
      for (const Delivery& d : claimed)
        TRY(store.inbox().claim({d.handle.message_id, d.envelope.outbox_id, "sms", 9, 2, kNow}));
      return {};
    }));
    more = !claimed.empty();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::string directory = argv[1];
  const int rows = argc > 2 ? std::atoi(argv[2]) : 200'000;
  std::filesystem::create_directories(directory);

  measure("making rows", rows, [&] {
    std::size_t bytes = 0;
    for (int i = 0; i < rows; ++i) bytes += row(i).payload.size();
    if (bytes == 0) std::abort();
  });
  measure("bare insert", rows, [&] { bare(directory + "/bare.db", rows); });

  OpenOptions options;
  options.path = directory + "/notify.db";
  options.create = true;
  options.trusted_inserts = true;
  {
    const auto import = must(open_store(options));
    measure("insert", rows, [&] { insert_all(*import, rows, InsertResult::Kind::kCreated); });
    measure("insert again", rows, [&] { insert_all(*import, rows, InsertResult::Kind::kExisting); });
  }
  options.trusted_inserts = false;
  const auto store = must(open_store(options));
  measure("status, all pending", 1, [&] { must(store->status(kNow)); });
  measure("relay", rows, [&] { relay_all(*store, rows); });
  measure("status, all queued", 1, [&] { must(store->status(kNow)); });
  measure("work", rows, [&] { work_all(*store); });
  measure("status, all sent", 1, [&] { must(store->status(kNow)); });
  return 0;
}

#include "sys/wal_watch.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "sys/epoll_loop.hpp"

namespace notify {
namespace {

namespace fs = std::filesystem;

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

class Watch : public testing::Test {
 protected:
  Watch() {
    std::string pattern = fs::temp_directory_path() / "notify-wal-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory");
    directory_ = pattern;
    path_ = pattern + "/db";
    db_ = open();
    run(db_, "CREATE TABLE t(x)");
  }
  ~Watch() override {
    db_.reset();
    fs::remove_all(directory_);
  }

  Database open() const {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    Database owned(db);
    run(owned, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000");
    return owned;
  }

  static void run(const Database& db, const char* sql) {
    EXPECT_EQ(sqlite3_exec(db.get(), sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db.get());
  }

  static int count(const Database& db) {
    int rows = -1;
    sqlite3_exec(
        db.get(), "SELECT count(*) FROM t",
        [](void* to, int, char** values, char**) {
          *static_cast<int*>(to) = std::stoi(values[0]);
          return 0;
        },
        &rows, nullptr);
    return rows;
  }

  // Runs the loop until the watch has woken it and `wanted` rows are seen; false after ten seconds.
  bool seen(int wanted) {
    seen_ = false;
    wanted_ = wanted;
    const Loop::Timer limit = loop_.after(Duration(10'000), [&] { loop_.stop(); });
    loop_.run();
    loop_.cancel(limit);
    return seen_;
  }
  void look() {
    ++calls_;
    if (count(db_) < wanted_) return;
    seen_ = true;
    loop_.stop();
  }

  std::string directory_;
  std::string path_;
  Database db_{};
  EpollLoop loop_{};
  bool seen_ = false;
  int wanted_ = 1 << 30;
  int calls_ = 0;
};

TEST_F(Watch, ACommitOfAnotherConnectionWakes) {
  WalWatch watch(loop_, path_, [&] { look(); });
  EXPECT_TRUE(watch.watching());
  const Database other = open();
  for (int i = 1; i <= 5; ++i) {
    loop_.post([&] { run(other, "INSERT INTO t VALUES (1)"); });
    EXPECT_TRUE(seen(i)) << i;
    watch.settled();
  }
}

TEST_F(Watch, AShortCommandWakes) {
  WalWatch watch(loop_, path_, [&] { look(); });
  loop_.post([&] { run(open(), "INSERT INTO t VALUES (1)"); });
  EXPECT_TRUE(seen(1));
}

// Written now, committed later than the quick looks: told all the same. settled() in between must not hide it.
TEST_F(Watch, ASlowCommitIsNotMissed) {
  WalWatch* self = nullptr;
  WalWatch watch(loop_, path_, [&] {
    look();
    self->settled();
  });
  self = &watch;
  const Database other = open();
  run(other, "PRAGMA cache_size = 2; PRAGMA cache_spill = 1");
  loop_.post([&] {
    // More than the cache holds, so that pages are written to the WAL before the commit.
    run(other,
        "BEGIN; INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
        "SELECT hex(randomblob(2000)) FROM n");
  });
  loop_.after(Duration(60), [&] { run(other, "COMMIT"); });
  EXPECT_TRUE(seen(300));
}

TEST_F(Watch, TheWalMayGoAndComeBack) {
  WalWatch watch(loop_, path_, [&] { look(); });
  db_.reset();  // the last connection: SQLite deletes the WAL
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  loop_.after(Duration(20), [&] { db_ = open(); });
  loop_.after(Duration(40), [&] { run(open(), "INSERT INTO t VALUES (1)"); });
  EXPECT_TRUE(seen(1));
}

TEST_F(Watch, ADatabaseThatIsMadeLaterIsSeen) {
  db_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path_ + suffix);
  WalWatch watch(loop_, path_, [&] {
    if (db_) look();
  });
  loop_.post([&] {
    db_ = open();
    run(db_, "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
  });
  EXPECT_TRUE(seen(1));
}

TEST_F(Watch, OtherFilesOfTheDirectoryWakeNobody) {
  run(db_, "INSERT INTO t VALUES (1)");
  WalWatch watch(loop_, path_, [&] { ++calls_; });
  for (int i = 0; i < 20; ++i)
    loop_.after(Duration(i), [&] { std::ofstream(directory_ + "/log", std::ios::app) << "x"; });
  loop_.after(Duration(60), [&] { loop_.stop(); });
  loop_.run();
  EXPECT_EQ(calls_, 0);
}

TEST_F(Watch, NoCallsWhenNothingIsWritten) {
  WalWatch watch(loop_, path_, [&] { ++calls_; });
  loop_.after(Duration(100), [&] { loop_.stop(); });
  loop_.run();
  EXPECT_EQ(calls_, 0);
}

// A service that commits without a pause must not put the looks off for ever.
TEST_F(Watch, ContinuousWritingDoesNotStarveTheLooks) {
  WalWatch watch(loop_, path_, [&] { ++calls_; });
  const Database other = open();
  run(other, "PRAGMA synchronous = OFF");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  std::function<void()> write = [&] {
    run(other, "INSERT INTO t VALUES (1)");
    if (std::chrono::steady_clock::now() > end) return loop_.stop();
    loop_.after_ns(std::chrono::microseconds(100), write);
  };
  write();
  loop_.run();
  EXPECT_GT(calls_, 5);
}

TEST_F(Watch, ADirectoryThatCannotBeWatchedIsAskedOnceASecond) {
  int calls = 0;
  WalWatch watch(loop_, "/nonexistent/directory/db", [&] {
    ++calls;
    loop_.stop();
  });
  EXPECT_FALSE(watch.watching());
  loop_.run();
  EXPECT_EQ(calls, 1);
}

TEST_F(Watch, LinksAreFollowed) {
  fs::create_directory(directory_ + "/sub");
  fs::create_symlink(path_, directory_ + "/sub/link");
  WalWatch watch(loop_, directory_ + "/sub/link", [&] { look(); });
  loop_.post([&] { run(open(), "INSERT INTO t VALUES (1)"); });
  EXPECT_TRUE(seen(1));
}

}  // namespace
}  // namespace notify

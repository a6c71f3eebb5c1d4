// Store::write: durable or nothing, and never in anybody's way.

#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <thread>

#include "contract/store_support.hpp"
#include "store/sqlite/failure.hpp"
#include "store/write_pacer.hpp"

namespace notify::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WriteTest : public StoreTest {
 protected:
  OpenOptions existing() const {
    OpenOptions options;
    options.path = path;
    return options;
  }
  Result<void> try_insert(SqliteStore& into, const std::string& key) const {
    return into.write([&]() -> Result<void> {
      TRY(into.outbox().insert(message(key), now));
      return {};
    });
  }
  std::int64_t wal_bytes() const { return static_cast<std::int64_t>(std::filesystem::file_size(path + "-wal")); }

  // Forks `count` processes that run `body(i)`, all let loose at the same moment. How many failed (exit status not 0).
  // Nothing may be open here: connections do not survive a fork.
  int processes(int count, const std::function<int(int)>& body) {
    EXPECT_EQ(store, nullptr);
    int gate[2];
    if (::pipe(gate) != 0) return count;
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(gate[1]);
        char byte = 0;
        if (::read(gate[0], &byte, 1) != 0) _exit(9);
        _exit(body(i));
      }
      children.push_back(child);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    int failed = 0;
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status != 0) ++failed;
    }
    return failed;
  }
};

// Memory that parent and children share.
template <class T>
class Shared {
 public:
  Shared() : memory_(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    new (memory_) T();
  }
  ~Shared() { ::munmap(memory_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() { return *static_cast<T*>(memory_); }
  T* operator->() { return static_cast<T*>(memory_); }

 private:
  void* memory_;
};

TEST_F(WriteTest, WhatWasWrittenIsThereForOthers) {
  const auto other = open_or_die(existing());
  insert(message("k1"));
  EXPECT_EQ(other->status(now)->outbox.pending, 1);
}

TEST_F(WriteTest, ChangesOfOthersAreNoticed) {
  const auto other = open_or_die(existing());
  (void)store->changed_elsewhere();
  EXPECT_FALSE(*store->changed_elsewhere());
  insert(message("mine"));
  EXPECT_FALSE(*store->changed_elsewhere());
  ASSERT_TRUE(try_insert(*other, "theirs"));
  EXPECT_TRUE(*store->changed_elsewhere());
  EXPECT_FALSE(*store->changed_elsewhere());
}

TEST_F(WriteTest, F18_AWriterIsOneFromTheStart) {
  OpenOptions impatient = existing();
  impatient.busy_timeout = 20ms;
  const auto other = open_or_die(impatient);
  int tries_of_other = 0;
  write([&]() -> Result<void> {
    EXPECT_TRUE(store->inbox().find("m")->has_value() == false);  // only a read so far
    const Result<void> refused = other->write([&]() -> Result<void> {
      ++tries_of_other;
      return {};
    });
    EXPECT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::kBusy);
    TRY(store->outbox().insert(message("k1"), now));
    return {};
  });
  EXPECT_EQ(tries_of_other, 0) << "its body must not have begun";
  EXPECT_TRUE(try_insert(*other, "k2").has_value());
}

TEST_F(WriteTest, F18_WaitsForALockThatIsHeldAWhile) {
  auto other = open_or_die(existing());
  ASSERT_TRUE(other->database().execute("BEGIN IMMEDIATE"));
  std::thread releases([&] {
    std::this_thread::sleep_for(150ms);
    EXPECT_TRUE(other->database().execute("COMMIT"));
  });
  EXPECT_TRUE(try_insert(*store, "k1").has_value());
  releases.join();
}

TEST_F(WriteTest, ReadersNeverWaitForAWriter) {
  OpenOptions impatient = existing();
  impatient.busy_timeout = 0ms;
  impatient.read_only = true;
  const auto reader = open_or_die(impatient);
  write([&]() -> Result<void> {
    TRY(store->outbox().insert(message("k1"), now));
    const auto report = reader->status(now);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->outbox.pending, 0) << "not committed yet";
    return {};
  });
  EXPECT_EQ(reader->status(now)->outbox.pending, 1);
}

TEST_F(WriteTest, ACommitThatFailsLeavesNothingAndTheStoreGoesOn) {
  sqlite3_commit_hook(
      store->database().raw(), [](void*) { return 1; }, nullptr);
  EXPECT_FALSE(try_insert(*store, "k1").has_value());
  sqlite3_commit_hook(store->database().raw(), nullptr, nullptr);
  EXPECT_FALSE(store->database().in_transaction());
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 0);
  EXPECT_TRUE(try_insert(*store, "k2").has_value());
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(WriteTest, SynchronousIsFull) { EXPECT_EQ(number("PRAGMA synchronous"), 2); }

TEST(WritePacer, AfterAFewCloseOnesThereIsAGap) {
  WritePacer pacer(20ms);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 8; ++i) {
    pacer.before_begin();
    pacer.after_end();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
}

TEST_F(WriteTest, IntegrityIsChecked) {
  EXPECT_THAT(*store->check_integrity(true), IsEmpty());
  EXPECT_THAT(*store->check_integrity(false), IsEmpty());
}

// --- several processes ------------------------------------------------------------------------------------

TEST_F(WriteTest, F19_SixteenProcessesOneRowAThousandTimes) {
  constexpr int kProcesses = 16;
  constexpr int kRounds = 1000;
  write([&]() -> Result<void> {
    for (int i = 0; i < kRounds; ++i) TRY(store->outbox().insert(message({}), now));
    return {};
  });
  store.reset();
  struct Board {
    pthread_barrier_t barrier;
    int winners[kRounds];
  };
  Shared<Board> board;
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&board->barrier, &shared, kProcesses);

  const int failed = processes(kProcesses, [&](int me) {
    const auto mine = open_or_die(existing());
    for (int round = 0; round < kRounds; ++round) {
      pthread_barrier_wait(&board->barrier);
      bool won = false;
      const Result<void> done = mine->write([&]() -> Result<void> {
        TRY_ASSIGN(won, mine->outbox().claim(round + 1, {me + 1, me + 1, now, now + 1h}));
        return {};
      });
      if (!done) return 1;
      if (won) __atomic_add_fetch(&board->winners[round], 1, __ATOMIC_SEQ_CST);
    }
    return 0;
  });
  EXPECT_EQ(failed, 0);
  for (int round = 0; round < kRounds; ++round) ASSERT_EQ(board->winners[round], 1) << round;
  store = open_or_die(existing());
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox WHERE status = 'PUBLISHING' AND claim_token = claimed_by"),
            kRounds);
}

// Eight that claim and settle, four that insert, one that publishes: nobody is told that the database is busy, nothing is
// lost, nothing is claimed twice.
TEST_F(WriteTest, F18_ManyProcessesAndNobodyIsToldBusy) {
  constexpr auto kDuration = std::chrono::seconds(3);
  store.reset();
  const int failed = processes(13, [&](int me) {
    const auto mine = open_or_die(existing());
    const auto end = std::chrono::steady_clock::now() + kDuration;
    const auto complain = [](const Error& error) {
      ::fprintf(stderr, "%s\n", error.message.c_str());
      return 1;
    };
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      if (me < 4) {
        if (auto done = try_insert(*mine, std::to_string(me) + ":" + std::to_string(i)); !done)
          return complain(done.error());
      } else if (me == 4) {
        auto done = mine->write([&]() -> Result<void> {
          TRY_ASSIGN(const auto rows, mine->outbox().candidates(now, 50, false));
          for (const Candidate& row : rows) {
            const std::int64_t id = row.envelope.outbox_id;
            TRY_ASSIGN(const bool claimed, mine->outbox().claim(id, {i + 1, me, now, now + 1h}));
            TRY_ASSIGN(const bool put, mine->queue().put(id, me, now));
            TRY_ASSIGN(const bool confirmed, mine->outbox().confirm(id, i + 1, now));
            if (!claimed || !put || !confirmed) return fail(Code::kInternal, "a row was lost");
          }
          return {};
        });
        if (!done) return complain(done.error());
      } else {
        const std::vector<ReceiveQuota> lanes{{"mail", 10}};
        auto done = mine->write([&]() -> Result<void> {
          TRY_ASSIGN(const auto taken, mine->queue().take({lanes, 0, now, now + 5min, me}));
          for (const Delivery& d : taken) {
            TRY_ASSIGN(const bool claimed,
                       mine->inbox().claim({d.handle.message_id, d.envelope.outbox_id, "mail", me, me, now}));
            if (!claimed) return fail(Code::kInternal, "claimed twice");
            TRY_ASSIGN(const bool settled,
                       mine->inbox().settle({d.handle.message_id, me, InboxState::kSent, {}, {}, {}, 0, now}));
            TRY_ASSIGN(const bool acked, mine->queue().remove(d.handle.message_id, d.handle.lease_token));
            if (!settled || !acked) return fail(Code::kInternal, "a message was lost");
          }
          return {};
        });
        if (!done) return complain(done.error());
      }
    }
    return 0;
  });
  EXPECT_EQ(failed, 0);
  store = open_or_die(existing());
  const StatusReport report = *store->status(now);
  EXPECT_GT(report.identity.enqueued, 0);
  EXPECT_GT(report.inbox.sent, 0);
  EXPECT_TRUE(report.identity.holds);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
  EXPECT_THAT(*store->check_integrity(false), IsEmpty());
}

// --- the log ----------------------------------------------------------------------------------------------

TEST_F(WriteTest, F20_TheLogStaysSmallWhileSomebodyPolls) {
  OpenOptions reading = existing();
  reading.read_only = true;
  const auto reader = open_or_die(reading);
  for (int group = 0; group < 400; ++group) {
    write([&]() -> Result<void> {
      for (int i = 0; i < 50; ++i)
        TRY(store->outbox().insert(message(std::to_string(group) + ":" + std::to_string(i)), now));
      return {};
    });
    if (group % 5 == 0) {
      // Leaves the list after its first row, in the middle of its statement.
      ASSERT_TRUE(reader->list(ListSubject::kOutbox, {}, now, [](const ListRow&) { return false; }));
      ASSERT_TRUE(reader->status(now));
    }
  }
  EXPECT_LT(wal_bytes(), 16 * 1024 * 1024);
}

TEST_F(WriteTest, F20_AReaderThatStandsStillIsSeenInStatus) {
  const auto reader = open_or_die(existing());
  ASSERT_TRUE(reader->database().execute("BEGIN; SELECT count(*) FROM notification_outbox"));
  NewMessage big = message({});
  big.payload = R"({"body":")" + std::string(100'000, 'x') + R"("})";
  const auto fill = [&] {
    for (int group = 0; group < 40; ++group)
      write([&]() -> Result<void> {
        for (int i = 0; i < 10; ++i) TRY(store->outbox().insert(big, now));
        return {};
      });
  };
  fill();
  StatusReport report = *store->status(now);
  EXPECT_TRUE(report.database.checkpoint_blocked) << report.database.wal_bytes;
  ASSERT_TRUE(reader->database().execute("COMMIT"));
  insert(message("checkpoints"));
  insert(message("starts the log anew"));
  report = *store->status(now);
  EXPECT_FALSE(report.database.checkpoint_blocked) << report.database.wal_bytes;
}

// --- a full disk ------------------------------------------------------------------------------------------

// A small file system of its own.
class SmallDisk {
 public:
  explicit SmallDisk(std::string at) : at_(std::move(at)) {
    ::mkdir(at_.c_str(), 0755);
    mounted_ = ::mount("none", at_.c_str(), "tmpfs", 0, "size=3m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string at_;
  bool mounted_ = false;
};

TEST_F(WriteTest, F23_AFullDiskIsSaidToBeFullAndHurtsNothing) {
  store.reset();
  const SmallDisk disk(directory / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a small file system here";
  path = directory / "disk/notify.db";
  store = open_or_die(creating(path));
  std::ofstream(directory / "disk/filler") << std::string(1'000'000, 'x');
  NewMessage big = message({});
  big.payload = R"({"body":")" + std::string(20'000, 'x') + R"("})";
  int taken = 0;
  Result<void> done;
  const auto insert_big = [&] {
    return store->write([&]() -> Result<void> {
      TRY(store->outbox().insert(big, now));
      return {};
    });
  };
  for (int i = 0; i < 200 && done; ++i) {
    done = insert_big();
    if (done) ++taken;
  }
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, Code::kDiskFull) << done.error().message;
  EXPECT_THAT(done.error().message, HasSubstr(path));
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), taken);
  // Again and again the same clear answer, and nothing half written. (A small row may still find room.)
  for (int i = 0; i < 3; ++i) {
    const Result<void> again = insert_big();
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, Code::kDiskFull);
  }

  std::filesystem::remove(directory / "disk/filler");
  EXPECT_TRUE(try_insert(*store, "room again").has_value());
  store.reset();
  store = open_or_die(existing());
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), taken + 1);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
  EXPECT_THAT(*store->check_integrity(false), IsEmpty());
  store.reset();
}

// --- words ------------------------------------------------------------------------------------------------

TEST_F(WriteTest, FailuresAreToldInWordsThatHelp) {
  const auto told = [&](int rc, int system_errno = 0) {
    return sqlite::describe_failure({rc, system_errno, "sqlite's words", "cannot write to", path});
  };
  EXPECT_EQ(told(SQLITE_BUSY).code, Code::kBusy);
  EXPECT_EQ(told(SQLITE_BUSY_SNAPSHOT).code, Code::kBusy);
  EXPECT_EQ(told(SQLITE_FULL).code, Code::kDiskFull);
  EXPECT_EQ(told(SQLITE_IOERR_SHMSIZE, ENOSPC).code, Code::kDiskFull);
  EXPECT_EQ(told(SQLITE_IOERR_WRITE, EDQUOT).code, Code::kDiskFull);
  EXPECT_EQ(told(SQLITE_IOERR_WRITE, EIO).code, Code::kIo);
  EXPECT_EQ(told(SQLITE_READONLY_DIRECTORY).code, Code::kPermission);
  EXPECT_EQ(told(SQLITE_CORRUPT).code, Code::kIo);
  EXPECT_EQ(told(SQLITE_NOTADB).code, Code::kConfig);
  EXPECT_THAT(told(SQLITE_PROTOCOL).hint, HasSubstr("network file systems"));
  for (const int rc :
       {SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_PROTOCOL})
    EXPECT_THAT(told(rc).message, HasSubstr(path)) << rc;
}

}  // namespace
}  // namespace notify::test

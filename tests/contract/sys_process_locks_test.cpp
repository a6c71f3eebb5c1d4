#include "sys/process_locks.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace notify {
namespace {

namespace fs = std::filesystem;

class Locks : public testing::Test {
 protected:
  Locks() {
    std::string pattern = fs::temp_directory_path() / "notify-locks-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory");
    directory_ = pattern;
    database_ = pattern + "/db";
  }
  ~Locks() override { fs::remove_all(directory_); }

  // A process that runs `body`, says so, and lives until it is killed.
  pid_t living_process(const std::function<void()>& body) {
    int ends[2];
    if (::pipe(ends) != 0) return -1;
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      if (::write(ends[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
    return pid;
  }

  static void kill_and_wait(pid_t pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  std::string directory_;
  std::string database_;
};

TEST_F(Locks, OwnRunsAreAlive) {
  ProcessLocks locks(database_);
  EXPECT_FALSE(locks.alive(7));
  ASSERT_TRUE(locks.hold(7));
  EXPECT_TRUE(locks.alive(7));
  EXPECT_FALSE(locks.alive(8));
  ASSERT_TRUE(locks.hold(7));  // twice is once
}

TEST_F(Locks, AskingLeavesNothingBehind) {
  ProcessLocks locks(database_);
  EXPECT_FALSE(locks.alive(1));
  EXPECT_FALSE(fs::exists(database_ + "-procs"));
}

TEST_F(Locks, FileIsForItsOwnerOnlyWhateverTheUmask) {
  const mode_t old = ::umask(0);
  ProcessLocks locks(database_);
  ASSERT_TRUE(locks.hold(1));
  ::umask(old);
  struct stat info {};
  ASSERT_EQ(::stat((database_ + "-procs").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

// Two objects stand for two processes: the locks belong to the open file, not to the process.
TEST_F(Locks, AnotherHolderIsSeenAndNotReplaced) {
  ProcessLocks one(database_);
  ProcessLocks two(database_);
  ASSERT_TRUE(one.hold(3));
  EXPECT_TRUE(two.alive(3));
  const Result<void> taken = two.hold(3);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kBusy);
  ASSERT_TRUE(two.hold(4));
  EXPECT_TRUE(one.alive(4));
}

TEST_F(Locks, F15_AKilledProcessIsDeadAtOnce) {
  ProcessLocks locks(database_);
  const pid_t pid = living_process([&] {
    if (!(new ProcessLocks(database_))->hold(5)) _exit(9);
  });
  EXPECT_TRUE(locks.alive(5));
  kill_and_wait(pid);
  EXPECT_FALSE(locks.alive(5));
}

TEST_F(Locks, AStoppedProcessIsAlive) {
  ProcessLocks locks(database_);
  const pid_t pid = living_process([&] {
    if (!(new ProcessLocks(database_))->hold(6)) _exit(9);
  });
  EXPECT_TRUE(locks.alive(6));
  ::kill(pid, SIGSTOP);
  EXPECT_TRUE(locks.alive(6));
  kill_and_wait(pid);
  EXPECT_FALSE(locks.alive(6));
}

// A program that was started while a lock was held must not keep it alive.
TEST_F(Locks, LocksAreNotInherited) {
  const pid_t pid = living_process([&] {
    if (!(new ProcessLocks(database_))->hold(9)) _exit(9);
    if (std::system("sleep 5 & ") != 0) ::_exit(1);
  });
  kill_and_wait(pid);
  EXPECT_FALSE(ProcessLocks(database_).alive(9));
}

TEST_F(Locks, LargestRunIdAndJobsDoNotMeet) {
  ProcessLocks one(database_);
  ProcessLocks two(database_);
  const std::int64_t largest = (std::int64_t{1} << 62) - 1;
  ASSERT_TRUE(one.hold(largest));
  EXPECT_TRUE(two.alive(largest));
  EXPECT_TRUE(two.try_job(SingleJob::kReconcile).value());
}

TEST_F(Locks, OnlyOneDoesAJob) {
  ProcessLocks one(database_);
  ProcessLocks two(database_);
  EXPECT_TRUE(one.try_job(SingleJob::kReconcile).value());
  EXPECT_FALSE(two.try_job(SingleJob::kReconcile).value());
  EXPECT_TRUE(two.try_job(SingleJob::kPrune).value());
  one.release_job(SingleJob::kReconcile);
  EXPECT_TRUE(two.try_job(SingleJob::kReconcile).value());
  const pid_t pid = living_process([&] {
    if (!(new ProcessLocks(database_))->try_job(SingleJob::kAlerts)) _exit(9);
  });
  EXPECT_FALSE(one.try_job(SingleJob::kAlerts).value());
  kill_and_wait(pid);
  EXPECT_TRUE(one.try_job(SingleJob::kAlerts).value());
}

TEST_F(Locks, LinksToTheDatabaseMeanTheSameFile) {
  std::ofstream{database_};
  fs::create_symlink(database_, directory_ + "/link");
  ProcessLocks one(database_);
  ASSERT_TRUE(one.hold(2));
  EXPECT_TRUE(ProcessLocks(directory_ + "/link").alive(2));
  EXPECT_FALSE(fs::exists(directory_ + "/link-procs"));
}

TEST_F(Locks, ADeletedFileIsTakenAgain) {
  ProcessLocks one(database_);
  ASSERT_TRUE(one.hold(2));
  ASSERT_TRUE(one.refresh());
  fs::remove(database_ + "-procs");
  ASSERT_TRUE(one.refresh());
  EXPECT_TRUE(ProcessLocks(database_).alive(2));
}

TEST_F(Locks, F21_AnErrorNamesTheFile) {
  ProcessLocks locks("/nonexistent/directory/db");
  const Result<void> held = locks.hold(1);
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message.find("/nonexistent/directory/db-procs"), std::string::npos);
  fs::create_symlink("/etc/passwd", database_ + "-procs");
  EXPECT_FALSE(ProcessLocks(database_).hold(1));  // no link is followed
  EXPECT_TRUE(ProcessLocks(database_).alive(1));  // not known to be dead
}

}  // namespace
}  // namespace notify

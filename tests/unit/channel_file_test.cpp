#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "channel/append_file.hpp"
#include "channel/message_json.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

namespace fs = std::filesystem;
using test::Bench;
using test::make_config;
using test::make_dispatch;
using testing::HasSubstr;
using testing::Not;

// While it lives, no file of this process grows beyond `bytes`: what lies beyond is written short, then
// EFBIG, as on a full disk.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

class ChannelFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "channel-file-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir = pattern;
    path = dir / "out.jsonl";
    make(path);
  }
  void TearDown() override { fs::remove_all(dir); }

  void make(const fs::path& target) {
    channel = make_channel(make_config(FileDriverConfig{target}), bench.ports).value();
  }
  Outcome send(std::string id = "shop-0123abcd-7") {
    return bench.send(*channel, make_dispatch(std::move(id))).value();
  }
  std::string content() const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static std::string line(const std::string& id) { return message_json(make_dispatch(id)) + "\n"; }

  Bench bench{};
  fs::path dir{};
  fs::path path{};
  std::unique_ptr<Channel> channel{};
};

TEST_F(ChannelFile, AppendsOneLineAMessage) {
  EXPECT_EQ(send("a").cls, OutcomeClass::kSent);
  EXPECT_EQ(send("b").cls, OutcomeClass::kSent);
  EXPECT_EQ(content(), line("a") + line("b"));
}

TEST_F(ChannelFile, IsCreatedForItsOwnerOnlyWhateverTheUmask) {
  for (const mode_t mask : {0000U, 0077U, 0777U}) {
    fs::remove(path);
    const mode_t before = ::umask(mask);
    EXPECT_EQ(send().cls, OutcomeClass::kSent);
    ::umask(before);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST_F(ChannelFile, OneRoundOfTheLoopIsOneWrite) {
  for (const char* id : {"a", "b", "c"}) channel->send(make_dispatch(id), bench.keep());
  EXPECT_TRUE(bench.outcomes.empty()) << "done is never called from inside send()";
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(bench.loop.run_round(), 1U);
  EXPECT_EQ(bench.outcomes.size(), 3U);
  EXPECT_EQ(content(), line("a") + line("b") + line("c"));
}

TEST_F(ChannelFile, AGroupFailsAsAWhole) {
  send("before");
  const SizeLimit limit(content().size() + line("a").size() + 10);
  for (const char* id : {"a", "b"}) channel->send(make_dispatch(id), bench.keep());
  bench.outcomes.clear();
  bench.loop.run();
  ASSERT_EQ(bench.outcomes.size(), 2U);
  for (const Outcome& outcome : bench.outcomes) {
    EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
    EXPECT_TRUE(outcome.halt_channel);
    EXPECT_EQ(outcome.bytes_sent, 0);
    EXPECT_THAT(outcome.detail, HasSubstr("File too large"));
  }
  EXPECT_EQ(content(), line("before")) << "the short write was taken back";
}

TEST_F(ChannelFile, GoesOnWhenThereIsRoomAgain) {
  {
    const SizeLimit limit(3);
    EXPECT_EQ(send("a").cls, OutcomeClass::kNotSent);
  }
  EXPECT_EQ(send("a").cls, OutcomeClass::kSent);
  EXPECT_EQ(content(), line("a"));
}

TEST_F(ChannelFile, WhatCannotBeOpenedIsCertainlyNotSentAndHaltsTheLane) {
  fs::create_directory(dir / "directory");
  fs::create_symlink(dir / "elsewhere", dir / "link");
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  const std::pair<fs::path, const char*> cases[] = {
      {dir / "missing" / "x", "No such file"},
      {dir / "directory", "irectory"},
      {dir / "link", "symbolic link"},
      {dir / "fifo", "not a regular file"},
  };
  for (const auto& [target, why] : cases) {
    make(target);
    const Outcome outcome = send();
    EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent) << target;
    EXPECT_TRUE(outcome.halt_channel) << target;
    EXPECT_THAT(outcome.detail, HasSubstr(why));
    EXPECT_THAT(outcome.detail, Not(HasSubstr("821000000042")));
  }
  EXPECT_FALSE(fs::exists(dir / "elsewhere"));
}

TEST_F(ChannelFile, FollowsARotation) {
  send("a");
  fs::rename(path, dir / "out.jsonl.1");
  EXPECT_EQ(send("b").cls, OutcomeClass::kSent);
  EXPECT_EQ(content(), line("b"));
  fs::remove(path);
  EXPECT_EQ(send("c").cls, OutcomeClass::kSent);
  EXPECT_EQ(content(), line("c"));
}

TEST_F(ChannelFile, EndsALineThatAnotherProcessLeftUnfinished) {
  std::ofstream(path) << R"({"message_id":"half)";
  EXPECT_EQ(send("a").cls, OutcomeClass::kSent);
  EXPECT_EQ(content(), "{\"message_id\":\"half\n" + line("a"));
}

TEST_F(ChannelFile, WaitsForAnotherProcessesLock) {
  send("a");
  const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  bench.outcomes.clear();
  channel->send(make_dispatch("b"), bench.keep());
  bench.loop.advance(100ms);
  EXPECT_TRUE(bench.outcomes.empty());
  EXPECT_EQ(content(), line("a"));
  ::flock(other, LOCK_UN);
  bench.loop.advance(100ms);
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].cls, OutcomeClass::kSent);
  EXPECT_EQ(content(), line("a") + line("b"));
  ::close(other);
}

TEST_F(ChannelFile, ALockThatStaysIsCertainlyNotSentAfterTheTimeLimit) {
  send("a");
  const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  bench.outcomes.clear();
  channel->send(make_dispatch("b"), bench.keep());
  bench.loop.advance(11s);
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].cls, OutcomeClass::kNotSent);
  EXPECT_EQ(bench.outcomes[0].reason, "file-busy");
  ::close(other);
  EXPECT_EQ(content(), line("a"));
}

TEST_F(ChannelFile, LetsGoOfTheLock) {
  send("a");
  const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  ::close(other);
}

TEST_F(ChannelFile, LargeGroupsAreWrittenInParts) {
  Dispatch large = make_dispatch();
  large.content.body = std::string(1'000'000, 'x');
  for (int i = 0; i < 20; ++i) channel->send(large, bench.keep());
  EXPECT_EQ(bench.loop.run_round(), 1U);
  EXPECT_GT(bench.outcomes.size(), 0U);
  EXPECT_LT(bench.outcomes.size(), 20U);
  bench.loop.run();
  EXPECT_EQ(bench.outcomes.size(), 20U);
  EXPECT_EQ(fs::file_size(path), 20 * (message_json(large).size() + 1));
}

TEST_F(ChannelFile, DoneMayHandOverTheNext) {
  int rest = 3;
  std::function<void(Outcome)> next = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
    if (--rest > 0) channel->send(make_dispatch(), next);
  };
  channel->send(make_dispatch(), next);
  bench.loop.run();
  EXPECT_EQ(rest, 0);
}

TEST_F(ChannelFile, AFlushThatComesAfterTheChannelIsHarmless) {
  channel->send(make_dispatch(), bench.keep());
  channel.reset();
  bench.loop.run();
  EXPECT_TRUE(bench.outcomes.empty());
  EXPECT_FALSE(fs::exists(path)) << "what nobody waits for is not sent";
}

TEST_F(ChannelFile, NeedsAnAbsolutePath) {
  const auto made = make_channel(make_config(FileDriverConfig{"out.jsonl"}), bench.ports);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kConfig);
}

// --- append_lines on descriptors that refuse to be mended

class Memory {
 public:
  explicit Memory(std::string_view content) {
    EXPECT_EQ(::write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  ~Memory() { ::close(fd); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  off_t size() const { return ::lseek(fd, 0, SEEK_END); }

  const int fd = ::memfd_create("append", MFD_CLOEXEC | MFD_ALLOW_SEALING);
};

TEST(AppendLines, NothingWrittenNothingChanged) {
  Memory file("a\n");
  ASSERT_EQ(::fcntl(file.fd, F_ADD_SEALS, F_SEAL_GROW), 0);
  EXPECT_EQ(append_lines(file.fd, "b\n").state, AppendState::kUnchanged);
  EXPECT_EQ(file.size(), 2);
}

TEST(AppendLines, ShortWriteThatCannotBeTakenBackIsUncertain) {
  Memory file("a\n");
  ASSERT_EQ(::fcntl(file.fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const SizeLimit limit(4);
  const AppendResult result = append_lines(file.fd, "bcdefg\n");
  EXPECT_EQ(result.state, AppendState::kUncertain);
  EXPECT_THAT(result.error, HasSubstr("cannot shorten"));
  EXPECT_EQ(file.size(), 4);
}

TEST(AppendLines, ShortWriteIsTakenBack) {
  Memory file("a\n");
  const SizeLimit limit(4);
  EXPECT_EQ(append_lines(file.fd, "bcdefg\n").state, AppendState::kUnchanged);
  EXPECT_EQ(file.size(), 2);
}

}  // namespace
}  // namespace notify

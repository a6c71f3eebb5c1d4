#include "sys/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/safe_text.hpp"
#include "sys/terminal.hpp"

namespace notify {
namespace {

// What `body` writes to standard error.
template <class Body>
std::string captured(Body body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

Event event(std::string text = "credentials refused") {
  return {.level = Event::Level::kWarning,
          .name = "lane.halted",
          .message_id = "",
          .channel = "kakao",
          .text = std::move(text)};
}

TEST(Log, TextLine) {
  const std::string line = captured([] { Log({}).write(event()); });
  EXPECT_TRUE(line.ends_with("Z warning lane.halted credentials refused channel=kakao\n")) << line;
  EXPECT_EQ(line.substr(10, 1), "T");
}

TEST(Log, JsonLine) {
  Event one = event("say \"x\" \\ y");
  one.message_id = "s-1-2";
  one.count = 3;
  const std::string line = captured([&] { Log({.format = Log::Format::kJson}).write(one); });
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["level"], "warning");
  EXPECT_EQ(json["event"], "lane.halted");
  EXPECT_EQ(json["text"], "say \"x\" \\ y");
  EXPECT_EQ(json["channel"], "kakao");
  EXPECT_EQ(json["message_id"], "s-1-2");
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["time"].get<std::string>().size(), 24U);
}

TEST(Log, ACorrelationIdStandsBesideItsMessage) {
  Event one = event();
  one.message_id = "s-1-2";
  one.correlation = "order 42";
  EXPECT_TRUE(captured([&] { Log({}).write(one); }).ends_with("channel=kakao message_id=s-1-2 correlation=order 42\n"));
  const auto json = nlohmann::json::parse(captured([&] { Log({.format = Log::Format::kJson}).write(one); }));
  EXPECT_EQ(json["correlation"], "order 42");
  EXPECT_EQ(captured([] { Log({.format = Log::Format::kJson}).write(event()); }).find("correlation"),
            std::string::npos);
}

TEST(Log, F59_ForeignBytesStayOneValidLine) {
  const std::string nasty = "a\nb\r\xff\x1b[31m \xb0\xa1 \"";
  const std::string text = captured([&] { Log({}).write(event(nasty)); });
  EXPECT_EQ(lines(text).size(), 1U);
  EXPECT_TRUE(valid_utf8(text));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const std::string json = captured([&] { Log({.format = Log::Format::kJson}).write(event(nasty)); });
  EXPECT_EQ(lines(json).size(), 1U);
  EXPECT_TRUE(nlohmann::json::accept(json));
}

TEST(Log, LevelsBelowTheMinimumAreSilent) {
  Log log({.minimum = Event::Level::kError});
  EXPECT_FALSE(log.enabled(Event::Level::kWarning));
  EXPECT_TRUE(log.enabled(Event::Level::kError));
  EXPECT_EQ(captured([&] { log.write(event()); }), "");
  Log all({.minimum = Event::Level::kDebug});
  EXPECT_NE(captured([&] { all.write({.level = Event::Level::kDebug, .name = "x"}); }), "");
}

TEST(Log, LinesOfThreadsDoNotMix) {
  Log log({});
  const std::string text = captured([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 200; ++j) log.write(event("same"));
      });
    for (std::thread& thread : threads) thread.join();
  });
  const auto all = lines(text);
  EXPECT_EQ(all.size(), 800U);
  for (const std::string& line : all) EXPECT_TRUE(line.ends_with("lane.halted same channel=kakao")) << line;
}

TEST(Log, NamesOfFormats) {
  EXPECT_EQ(parse_log_format("json"), Log::Format::kJson);
  EXPECT_EQ(parse_log_format("text"), Log::Format::kText);
  EXPECT_EQ(parse_log_format("xml"), std::nullopt);
}

// --- progress on a terminal

struct Terminal {
  Terminal() : master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return;
    slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(slave);
    ::close(master);
  }
  std::string read() const {
    char buffer[4096];
    ::fcntl(master, F_SETFL, O_NONBLOCK);
    const ssize_t n = ::read(master, buffer, sizeof buffer);
    return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
  }
  int master;
  int slave = -1;
};

TEST(ProgressLine, WritesOverItselfAndGoesAway) {
  const Terminal terminal;
  if (terminal.slave < 0) GTEST_SKIP() << "no pseudo terminals here";
  {
    ProgressLine progress(terminal.slave);
    EXPECT_TRUE(progress.active());
    progress.show("1 of 2");
    progress.show("1 of 2");  // the same is not written again
    progress.show("2 of 2");
    EXPECT_EQ(terminal.read(), "\r\x1b[K1 of 2\r\x1b[K2 of 2");
    progress.write_line("line\n");
    EXPECT_EQ(terminal.read(), "\r\x1b[Kline\r\n2 of 2");
  }
  EXPECT_EQ(terminal.read(), "\r\x1b[K");
}

TEST(ProgressLine, NeverWiderThanTheTerminal) {
  const Terminal terminal;
  if (terminal.slave < 0) GTEST_SKIP() << "no pseudo terminals here";
  ProgressLine progress(terminal.slave);
  progress.show(std::string(500, 'x') + "\n\x1b[31m");
  EXPECT_EQ(terminal.read(), "\r\x1b[K" + std::string(79, 'x'));
  std::string hangul;
  for (int i = 0; i < 60; ++i) hangul += "가";
  progress.show(hangul);
  EXPECT_EQ(terminal.read(), "\r\x1b[K" + hangul.substr(0, 39 * 3));
}

TEST(ProgressLine, SilentWithoutATerminal) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  ProgressLine progress(ends[1]);
  EXPECT_FALSE(progress.active());
  progress.show("x");
  progress.clear();
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), -1);
  progress.write_line("y");
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TerminalColour, NeedsATerminalThatWantsIt) {
  const Terminal terminal;
  if (terminal.slave < 0) GTEST_SKIP() << "no pseudo terminals here";
  const auto with = [&](const char* term, const char* no_color) {
    ::setenv("TERM", term, 1);
    ::setenv("NO_COLOR", no_color, 1);
    return wants_colour(terminal.slave);
  };
  EXPECT_TRUE(with("xterm", ""));
  EXPECT_FALSE(with("xterm", "1"));
  EXPECT_FALSE(with("dumb", ""));
  EXPECT_FALSE(with("", ""));
  ::unsetenv("NO_COLOR");
}

}  // namespace
}  // namespace notify

#include "sys/process_runner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sys/epoll_loop.hpp"
#include "sys/signals.hpp"

namespace notify {
namespace {

class Runner : public testing::Test {
 protected:
  Runner() { prepare_process(); }

  ProcessResult run(ProcessRequest request) {
    ProcessResult result;
    SystemProcessRunner runner(loop_);
    runner.run(std::move(request), [&](ProcessResult got) {
      result = std::move(got);
      loop_.stop();
    });
    loop_.run();
    return result;
  }

  ProcessResult shell(const std::string& script, ProcessRequest request = {}) {
    request.argv = {"/bin/sh", "-c", script};
    return run(std::move(request));
  }

  EpollLoop loop_{};
};

TEST_F(Runner, ExitCodeAndOutput) {
  const ProcessResult result = shell("echo out; echo err >&2; exit 75");
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "out\nerr\n");
}

TEST_F(Runner, ArgumentsAreNotSeenByAShell) {
  const ProcessResult result = run({.argv = {"printf", "%s|", "a b", "$HOME", "`id`", "'", ""}});
  EXPECT_EQ(result.output, "a b|$HOME|`id`|'||");
}

TEST_F(Runner, InputReachesTheProgram) {
  ProcessRequest request;
  request.argv = {"wc", "-c"};
  request.input = std::string(3'000'000, 'x');
  const ProcessResult result = run(request);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::stol(result.output), 3'000'000);
}

TEST_F(Runner, EmptyInputIsAnEndOfFile) { EXPECT_EQ(run({.argv = {"cat"}}).exit_code, 0); }

TEST_F(Runner, InputThatIsNotReadIsNoFailure) {
  ProcessRequest request;
  request.argv = {"true"};
  request.input = std::string(3'000'000, 'x');
  EXPECT_EQ(run(request).exit_code, 0);
}

TEST_F(Runner, EnvironmentIsAddedAndReplaced) {
  ::setenv("NOTIFY_TEST_KEPT", "kept", 1);
  ::setenv("NOTIFY_TEST_REPLACED", "old", 1);
  ProcessRequest request;
  request.environment = {{"NOTIFY_TEST_NEW", "new value"}, {"NOTIFY_TEST_REPLACED", "new"}};
  const ProcessResult result = shell(
      "echo $NOTIFY_TEST_KEPT,$NOTIFY_TEST_NEW,$NOTIFY_TEST_REPLACED; env | grep -c NOTIFY_TEST_REPLACED", request);
  EXPECT_EQ(result.output, "kept,new value,new\n1\n");
  ::unsetenv("NOTIFY_TEST_KEPT");
  ::unsetenv("NOTIFY_TEST_REPLACED");
}

TEST_F(Runner, WhatDoesNotStartIsToldFromWhatFails) {
  for (const char* program : {"/nonexistent/program", "no-such-program-anywhere", "", "/etc/passwd", "/tmp"}) {
    const ProcessResult result = run({.argv = {program}});
    EXPECT_FALSE(result.started) << program;
    EXPECT_FALSE(result.error.empty()) << program;
    EXPECT_EQ(result.exit_code, -1);
  }
  EXPECT_FALSE(run({}).started);
  // A shell that does not find its command has run.
  const ProcessResult result = shell("/nonexistent/program 2>/dev/null");
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.exit_code, 127);
}

TEST_F(Runner, AScriptWithoutAnInterpreterLineIsNotGivenToAShell) {
  const std::string path = std::filesystem::temp_directory_path() / ("notify-script-" + std::to_string(::getpid()));
  std::ofstream(path) << "echo started\n";
  ::chmod(path.c_str(), 0700);
  const ProcessResult result = run({.argv = {path}});
  EXPECT_FALSE(result.started);
  std::filesystem::remove(path);
}

TEST_F(Runner, EndedByASignal) {
  const ProcessResult result = shell("kill -SEGV $$");
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_EQ(result.signal, SIGSEGV);
}

TEST_F(Runner, TimeOutEndsTheWholeGroup) {
  ProcessRequest request;
  request.timeout = Duration(100);
  const ProcessResult result = shell("sleep 100 & echo $!; wait", request);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
  const pid_t grandchild = std::stoi(result.output);
  for (int i = 0; i < 100 && ::kill(grandchild, 0) == 0; ++i) ::usleep(10'000);  // until init has reaped it
  std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  EXPECT_TRUE(text.empty() || text.find(") Z ") != std::string::npos) << text;
}

TEST_F(Runner, AProgramThatIgnoresTheFirstSignalIsKilled) {
  ProcessRequest request;
  request.timeout = Duration(100);
  const ProcessResult result = shell("trap '' TERM; while :; do sleep 1; done", request);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST_F(Runner, OutputIsBounded) {
  ProcessRequest request;
  request.max_output = 1000;
  const ProcessResult result = shell("head -c 2000000 /dev/zero; exit 3", request);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output.size(), 1000U);
}

TEST_F(Runner, SomethingLeftBehindDoesNotHoldTheResult) {
  ProcessRequest request;
  request.timeout = Duration(60'000);
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = shell("sleep 30 & echo done", request);
  EXPECT_EQ(result.output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Runner, ChildHasThreeDescriptorsAndDefaultSignals) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // not close-on-exec, as one that we inherited
  ::signal(SIGUSR1, SIG_IGN);
  sigset_t mask;
  sigset_t old;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &mask, &old);
  const ProcessResult descriptors = run({.argv = {"ls", "/proc/self/fd"}});
  const ProcessResult status = run({.argv = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status"}});
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::signal(SIGUSR1, SIG_DFL);
  ::close(leaked);
  EXPECT_EQ(descriptors.output, "0\n1\n2\n3\n");  // 3 is the directory that ls reads
  // Signals 32 and 33 belong to the C library and may be ignored where the test was started.
  EXPECT_TRUE(status.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n" ||
              status.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n")
      << status.output;
}

TEST_F(Runner, ChildHasAGroupOfItsOwn) {
  const ProcessResult result = shell("echo $$ $(ps -o pgid= -p $$)");
  const std::size_t space = result.output.find(' ');
  EXPECT_EQ(std::stoi(result.output), std::stoi(result.output.substr(space)));
}

TEST_F(Runner, ManyAtOnce) {
  SystemProcessRunner runner(loop_);
  int right = 0;
  int ended = 0;
  for (int i = 0; i < 40; ++i)
    runner.run({.argv = {"/bin/sh", "-c", "exit " + std::to_string(i)}}, [&, i](ProcessResult result) {
      if (result.exit_code == i) ++right;
      if (++ended == 40) loop_.stop();
    });
  loop_.run();
  EXPECT_EQ(right, 40);
}

TEST_F(Runner, NoZombiesAndNoDescriptorsStay) {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  run({.argv = {"true"}});
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) run({.argv = {"true"}});
  run({.argv = {"/nonexistent"}});
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(Runner, DestroyedWhileSomethingRuns) {
  int calls = 0;
  {
    SystemProcessRunner runner(loop_);
    runner.run({.argv = {"sleep", "100"}}, [&](ProcessResult) { ++calls; });
    runner.run({.argv = {"/nonexistent"}}, [&](ProcessResult) { ++calls; });
  }
  loop_.after(Duration(20), [&] { loop_.stop(); });
  loop_.run();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace notify

// Signals change the whole process, so every case runs in a child.

#include "sys/signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "sys/epoll_loop.hpp"

namespace notify {
namespace {

// The exit status of `body` in a child, or 1000 + the signal that ended it.
int in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Whoever runs the tests in the background may have had them ignored.
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_DFL);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Runs a loop that ends with 10 + the stop signal's number; the signals are sent at 5, 10 … ms.
int stopped_by(std::initializer_list<int> signals, Duration gap, bool linger) {
  EpollLoop loop;
  int code = 1;
  const auto stop = StopSignals::install(loop, [&](int signal) {
    code = 10 + signal;
    if (!linger) loop.stop();
  });
  Duration at(5);
  for (const int signal : signals) {
    loop.after(at, [signal] { ::raise(signal); });
    at += gap;
  }
  loop.after(at + Duration(1500), [&] { loop.stop(); });
  loop.run();
  return code;
}

TEST(Signals, FirstOneStopsInOrder) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    EXPECT_EQ(in_child([&] { return stopped_by({signal}, Duration(5), false); }), 10 + signal);
}

TEST(Signals, SecondOneEndsAtOnce) {
  EXPECT_EQ(in_child([] { return stopped_by({SIGTERM, SIGTERM}, Duration(150), true); }), 143);
  EXPECT_EQ(in_child([] { return stopped_by({SIGTERM, SIGINT}, Duration(150), true); }), 130);
}

TEST(Signals, TheSecondOneEndsEvenABlockedLoop) {
  EXPECT_EQ(in_child([] {
              EpollLoop loop;
              const auto stop = StopSignals::install(loop, [](int) {
                ::usleep(150'000);
                ::raise(SIGINT);
                for (;;) ::pause();
              });
              loop.post([] { ::raise(SIGINT); });
              loop.run();
              return 0;
            }),
            130);
}

TEST(Signals, TheSameKeystrokeTwiceIsOne) {
  EXPECT_EQ(in_child([] { return stopped_by({SIGINT, SIGINT, SIGINT}, Duration(5), true); }), 10 + SIGINT);
}

TEST(Signals, IgnoredOnesStayIgnoredButForTerm) {
  EXPECT_EQ(in_child([] {
              ::signal(SIGINT, SIG_IGN);
              ::signal(SIGHUP, SIG_IGN);
              ::signal(SIGTERM, SIG_IGN);
              return stopped_by({SIGINT, SIGHUP, SIGTERM}, Duration(5), false);
            }),
            10 + SIGTERM);
}

TEST(Signals, DispositionsComeBack) {
  EXPECT_EQ(in_child([] {
              EpollLoop loop;
              {
                const auto stop = StopSignals::install(loop, [](int) {});
              }
              ::raise(SIGTERM);
              return 0;
            }),
            1000 + SIGTERM);
}

TEST(PrepareProcess, ClosedStandardDescriptorsAreTaken) {
  EXPECT_EQ(in_child([] {
              for (int fd = 0; fd <= 2; ++fd) ::close(fd);
              prepare_process();
              const int next = ::open("/dev/null", O_RDONLY);
              for (int fd = 0; fd <= 2; ++fd)
                if (::fcntl(fd, F_GETFD) < 0) return 50 + fd;
              return next;
            }),
            3);
}

TEST(PrepareProcess, OnlyTheClosedOnesAreTaken) {
  EXPECT_EQ(in_child([] {
              struct stat before {};
              struct stat after {};
              if (::fstat(1, &before) != 0) return 90;
              ::close(0);
              ::close(2);
              prepare_process();
              if (::fstat(1, &after) != 0 || before.st_ino != after.st_ino) return 91;
              return ::fcntl(0, F_GETFD) >= 0 && ::fcntl(2, F_GETFD) >= 0 ? 0 : 92;
            }),
            0);
}

TEST(PrepareProcess, ABrokenPipeIsAnError) {
  EXPECT_EQ(in_child([] {
              prepare_process();
              int ends[2];
              if (::pipe(ends) != 0) return 90;
              ::close(ends[0]);
              return ::write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 91;
            }),
            0);
}

}  // namespace
}  // namespace notify

#include "sys/epoll_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace notify {
namespace {

// Two connected sockets, closed at the end.
struct Pair {
  Pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0) {
      near = Fd(ends[0]);
      far = Fd(ends[1]);
    }
  }
  void send(std::string_view text) const {
    EXPECT_EQ(::write(far.get(), text.data(), text.size()), ssize_t(text.size()));
  }
  std::string receive() const {
    char buffer[64];
    const ssize_t n = ::read(near.get(), buffer, sizeof buffer);
    return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
  }
  Fd near{};
  Fd far{};
};

TEST(EpollLoop, PostedTasksRunInOrderAfterTheCurrentCallback) {
  EpollLoop loop;
  std::string order;
  loop.post([&] {
    loop.post([&] {
      order += 'c';
      loop.stop();
    });
    order += 'a';
  });
  loop.post([&] { order += 'b'; });
  loop.run();
  EXPECT_EQ(order, "abc");
}

TEST(EpollLoop, StopKeepsWhatIsLeftForTheNextRun) {
  EpollLoop loop;
  std::string order;
  loop.post([&] {
    order += 'a';
    loop.stop();
  });
  loop.post([&] { order += 'b'; });
  loop.run();
  EXPECT_EQ(order, "a");
  loop.post([&] {
    order += 'c';
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(order, "abc");
}

TEST(EpollLoop, StopBeforeRunEndsTheNextRun) {
  EpollLoop loop;
  loop.post([] { FAIL() << "not in this run"; });
  loop.stop();
  loop.run();
}

TEST(EpollLoop, TimersInOrderOfTimeAndThenOfSetting) {
  EpollLoop loop;
  std::string order;
  loop.after(Duration(30), [&] {
    order += 'd';
    loop.stop();
  });
  loop.after(Duration(1), [&] { order += 'b'; });
  loop.after(Duration(0), [&] { order += 'a'; });
  loop.after_ns(std::chrono::microseconds(1500), [&] { order += 'c'; });
  loop.run();
  EXPECT_EQ(order, "abcd");
}

TEST(EpollLoop, TimersNeverComeEarly) {
  EpollLoop loop;
  for (const int us : {1, 100, 700, 1300, 2900}) {
    const auto start = std::chrono::steady_clock::now();
    loop.after_ns(std::chrono::microseconds(us), [&] { loop.stop(); });
    loop.run();
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::microseconds(us));
  }
}

TEST(EpollLoop, CancelledTimersDoNotRun) {
  EpollLoop loop;
  bool ran = false;
  Loop::Timer second = 0;
  const Loop::Timer first = loop.after(Duration(1), [&] { loop.cancel(second); });
  second = loop.after(Duration(2), [&] { ran = true; });
  const Loop::Timer third = loop.after(Duration(1), [&] { ran = true; });
  loop.cancel(third);
  loop.cancel(third);
  loop.cancel(0);
  loop.after(Duration(10), [&] { loop.stop(); });
  loop.run();
  loop.cancel(first);  // over already
  EXPECT_FALSE(ran);
}

TEST(EpollLoop, F55_AbsurdDelaysDoNotWrap) {
  EpollLoop loop;
  bool ran = false;
  loop.after(Duration::max(), [&] { ran = true; });
  loop.after(Duration(-5), [&] { loop.after(Duration(5), [&] { loop.stop(); }); });
  loop.run();
  EXPECT_FALSE(ran);
}

TEST(EpollLoop, ATimerThatSetsItselfAgainDoesNotStarveTheRest) {
  EpollLoop loop;
  Pair pair;
  int rounds = 0;
  std::function<void()> again = [&] {
    if (++rounds < 100000) loop.after(Duration(0), again);
  };
  again();
  loop.watch(pair.near.get(), [&] { loop.stop(); });
  pair.send("x");
  loop.run();
  EXPECT_LT(rounds, 1000);
  loop.unwatch(pair.near.get());
}

TEST(EpollLoop, PostFromAnotherThreadWakes) {
  EpollLoop loop;
  std::atomic<int> count = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i)
      loop.post([&] {
        if (++count == 1000) loop.stop();
      });
  });
  loop.run();
  other.join();
  EXPECT_EQ(count, 1000);
}

TEST(EpollLoop, StopFromAnotherThreadWakes) {
  EpollLoop loop;
  std::thread other([&] {
    ::usleep(20'000);
    loop.stop();
  });
  loop.run();
  other.join();
}

TEST(EpollLoop, WatchIsCalledWheneverReadable) {
  EpollLoop loop;
  const Pair pair;
  std::string got;
  loop.watch(pair.near.get(), [&] {
    got += pair.receive();
    if (got == "onetwo") loop.stop();
    if (got == "one") pair.send("two");
  });
  pair.send("one");
  loop.run();
  EXPECT_EQ(got, "onetwo");
  loop.unwatch(pair.near.get());
}

TEST(EpollLoop, ACallbackMayRemoveItselfAndOthers) {
  EpollLoop loop;
  std::array<Pair, 8> pairs;
  int calls = 0;
  for (const Pair& pair : pairs) {
    loop.watch(pair.near.get(), [&] {
      ++calls;
      for (const Pair& one : pairs) loop.unwatch(one.near.get());
      loop.after(Duration(5), [&] { loop.stop(); });
    });
    pair.send("x");
  }
  loop.run();
  EXPECT_EQ(calls, 1);
}

// The number of a closed descriptor comes back: an event of the old one must not reach the new one's owner.
TEST(EpollLoop, EventsOfAnEarlierOwnerOfTheNumberAreDropped) {
  EpollLoop loop;
  const Pair first;
  auto victim = std::make_unique<Pair>();
  const int number = victim->near.get();
  Pair replacement;
  int wrong = 0;
  const auto replace = [&] {
    if (!victim) return;
    loop.unwatch(number);
    victim.reset();
    ASSERT_EQ(::dup2(replacement.near.get(), number), number);
    loop.watch(number, [&] { ++wrong; });
  };
  loop.watch(first.near.get(), replace);
  loop.watch(number, replace);
  first.send("x");
  victim->send("x");
  loop.after(Duration(20), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(wrong, 0);
  loop.unwatch(number);
  ::close(number);
}

TEST(EpollLoop, ChangeOfEventsTakesEffect) {
  EpollLoop loop;
  const Pair pair;
  std::string seen;
  loop.watch_events(pair.near.get(), EPOLLOUT, [&](std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) {
      seen += 'o';
      loop.change_events(pair.near.get(), EPOLLIN);
      pair.send("x");
    } else if ((events & EPOLLIN) != 0) {
      seen += 'i';
      loop.change_events(pair.near.get(), 0);
      loop.after(Duration(5), [&] { loop.stop(); });
    }
  });
  loop.run();
  EXPECT_EQ(seen, "oi");
  EXPECT_TRUE(loop.watched(pair.near.get()));
  loop.forget(pair.near.get());
  EXPECT_FALSE(loop.watched(pair.near.get()));
}

TEST(EpollLoop, AHangUpReachesOnlyThoseWhoAskForSomething) {
  EpollLoop loop;
  Pair pair;
  int calls = 0;
  loop.watch_events(pair.near.get(), 0, [&](std::uint32_t) { ++calls; });
  pair.far.reset();
  loop.after(Duration(5), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(calls, 0);
  loop.watch_events(pair.near.get(), EPOLLOUT, [&](std::uint32_t events) {
    ++calls;
    EXPECT_NE(events & EPOLLHUP, 0U);
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(calls, 1);
  loop.forget(pair.near.get());
}

TEST(EpollLoop, EndOfTurnComesBeforeWaiting) {
  EpollLoop loop;
  std::string order;
  loop.post([&] {
    loop.at_end_of_turn([&] {
      order += 'c';
      loop.at_end_of_turn([&] { loop.stop(); });
    });
    order += 'a';
  });
  loop.post([&] { order += 'b'; });
  loop.run();
  EXPECT_EQ(order, "abc");
}

// Nothing to do, nothing done: the count of voluntary switches tells the wake-ups.
TEST(EpollLoop, IdleLoopDoesNotWakeUp) {
  EpollLoop loop;
  long switches = -1;
  const auto count = [] {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  loop.after(Duration(1), [&] { switches = count(); });
  loop.after(Duration(150), [&] {
    switches = count() - switches;
    loop.stop();
  });
  loop.run();
  EXPECT_LE(switches, 2);
}

}  // namespace
}  // namespace notify

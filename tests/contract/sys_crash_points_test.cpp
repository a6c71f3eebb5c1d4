// The test programs are linked with the crash points that kill.

#include "sys/crash_points.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>

#include "sys/system_clock.hpp"
#include "sys/system_random.hpp"

namespace notify {
namespace {

// The exit status of a child that reaches the points with this wish in its environment.
int reach(const char* wish, const std::function<void(CrashPoints&)>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (wish != nullptr) ::setenv("NOTIFYCTL_CRASH_AT", wish, 1);
    body(system_crash_points());
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void three_times(CrashPoints& points) {
  for (int i = 0; i < 3; ++i) points.reach(CrashPoint::kWorkAfterCall);
}

TEST(CrashPoints, DieAtTheNamedPointOnly) {
  EXPECT_EQ(reach("work-after-call", three_times), 137);
  EXPECT_EQ(reach("work-before-call", three_times), 0);
  EXPECT_EQ(reach(nullptr, three_times), 0);
  EXPECT_EQ(reach("", three_times), 0);
}

TEST(CrashPoints, AtTheNthTime) {
  EXPECT_EQ(reach("work-after-call:3", three_times), 137);
  EXPECT_EQ(reach("work-after-call:4", three_times), 0);
  const auto twice = [](CrashPoints& points) {
    points.reach(CrashPoint::kWorkAfterCall);
    points.reach(CrashPoint::kWorkAfterSettle);
    points.reach(CrashPoint::kWorkAfterCall);
    ::_exit(1);
  };
  EXPECT_EQ(reach("work-after-call:2", twice), 137);
  EXPECT_EQ(reach("work-after-call:3", twice), 1);
}

TEST(CrashPoints, ATypingErrorIsNotASurvivedCrash) {
  for (const char* wish : {"work-after-cal", "work-after-call:", "work-after-call:x", "work-after-call:0",
                           "work-after-call:2x", "work-after-call:-1", ":1"})
    EXPECT_EQ(reach(wish, [](CrashPoints&) {}), 70) << wish;
}

TEST(CrashPoints, EveryPointOfTheListCanBeReached) {
  constexpr std::array kAll{
#define NOTIFY_CRASH_POINT(id, name, where) CrashPoint::id,
#include "core/crash_points.def"
#undef NOTIFY_CRASH_POINT
  };
  for (const CrashPoint point : kAll) {
    const std::string wish(name(point));
    EXPECT_EQ(reach(wish.c_str(), [point](CrashPoints& points) { points.reach(point); }), 137) << wish;
  }
}

TEST(SystemClock, WallClockAndTheOthers) {
  SystemClock clock;
  EXPECT_GT(clock.now().ms, 1'700'000'000'000);
  const Duration monotonic = clock.monotonic();
  EXPECT_GE(clock.monotonic(), monotonic);
  EXPECT_GE(clock.boottime(), monotonic);
}

TEST(SystemRandom, DoesNotRepeat) {
  SystemRandom random;
  EXPECT_NE(random.next64(), random.next64());
  for (int i = 0; i < 1000; ++i) EXPECT_GT(new_token(random), 0);
}

}  // namespace
}  // namespace notify

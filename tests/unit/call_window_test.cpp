#include "core/call_window.hpp"

#include <gtest/gtest.h>

namespace notify {
namespace {

constexpr Instant kStart{1'000'000};

Outcome answered(Duration elapsed) {
  Outcome outcome;
  outcome.cls = OutcomeClass::kSent;
  outcome.status = 200;
  outcome.elapsed = elapsed;
  return outcome;
}

Outcome crowded(int status = 429) {
  Outcome outcome;
  outcome.cls = OutcomeClass::kNotSent;
  outcome.status = status;
  return outcome;
}

TEST(CallWindow, BeginsWithAllAndIsHalvedOnceForCallsThatWereOutTogether) {
  CallWindow window(64);
  EXPECT_EQ(window.size(), 64);
  for (int i = 0; i < 10; ++i) window.note(crowded(), kStart, kStart + 100ms);
  EXPECT_EQ(window.size(), 32);
  window.note(crowded(), kStart + 101ms, kStart + 200ms);
  EXPECT_EQ(window.size(), 16);
}

TEST(CallWindow, ABit503IsBadLuckAndMuchIsNot) {
  CallWindow window(64);
  for (int i = 0; i < 1000; ++i) window.note(i % 10 == 0 ? crowded(503) : answered(30ms), kStart, kStart + Duration(i));
  EXPECT_EQ(window.size(), 64);
  for (int i = 0; i < 8; ++i) window.note(crowded(503), kStart + 2s, kStart + 3s);
  EXPECT_EQ(window.size(), 32);
}

TEST(CallWindow, AlwaysLetsOneGo) {
  CallWindow window(4);
  for (int i = 0; i < 9; ++i) window.note(crowded(), kStart + Duration(i), kStart + Duration(i));
  EXPECT_EQ(window.size(), 1);
}

TEST(CallWindow, GrowsByOneForEachFullWindowOfAnswersUpToTheConfiguredNumber) {
  CallWindow window(8);
  window.note(crowded(), kStart, kStart + 1ms);
  ASSERT_EQ(window.size(), 4);
  for (int i = 0; i < 3; ++i) window.note(answered(30ms), kStart + 1ms, kStart + 40ms);
  EXPECT_EQ(window.size(), 4);
  window.note(answered(30ms), kStart + 1ms, kStart + 40ms);
  EXPECT_EQ(window.size(), 5);
  for (int i = 0; i < 100; ++i) window.note(answered(30ms), kStart + 50ms, kStart + 90ms);
  EXPECT_EQ(window.size(), 7);  // eight were too many just now
  for (int i = 0; i < 100; ++i) window.note(answered(30ms), kStart + 2min, kStart + 2min);
  EXPECT_EQ(window.size(), 8);
}

TEST(CallWindow, DoesNotGrowWhileAnswersTakeLonger) {
  CallWindow window(8);
  window.note(crowded(), kStart, kStart + 1ms);
  window.note(answered(30ms), kStart + 1ms, kStart + 40ms);
  for (int i = 0; i < 100; ++i) window.note(answered(71ms), kStart + 50ms, kStart + 121ms);
  EXPECT_EQ(window.size(), 4);
}

// What says nothing about the number of calls.
TEST(CallWindow, OtherFailuresChangeNothing) {
  CallWindow window(8);
  Outcome outcome = crowded(500);
  window.note(outcome, kStart, kStart + 1ms);
  outcome.cls = OutcomeClass::kUnknown;
  outcome.status = 503;
  window.note(outcome, kStart, kStart + 1ms);
  EXPECT_EQ(window.size(), 8);
}

}  // namespace
}  // namespace notify

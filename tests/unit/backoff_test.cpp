#include "core/backoff.hpp"

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstdint>
#include <limits>

#include "support/fakes.hpp"

namespace notify {
namespace {

constexpr std::array<Duration, 6> kLadder{1min, 2min, 4min, 8min, 16min, 30min};

TEST(Backoff, FollowsTheLadderAndStaysAtItsEnd) {
  for (const int attempts : {INT_MIN, -1, 0, 1}) EXPECT_EQ(backoff_delay(kLadder, attempts, 0), 1min) << attempts;
  EXPECT_EQ(backoff_delay(kLadder, 2, 0), 2min);
  EXPECT_EQ(backoff_delay(kLadder, 5, 0), 16min);
  EXPECT_EQ(backoff_delay(kLadder, 6, 0), 30min);
}

TEST(Backoff, F55_NeverWrapsRound) {
  for (const int attempts : {16, 17, 26, 27, 30, 31, 32, 48, 49, 58, 59, 62, 63, 64, 1'000'000, INT_MAX}) {
    EXPECT_EQ(backoff_delay(kLadder, attempts, 0), 30min) << attempts;
    EXPECT_GE(backoff_delay(kLadder, attempts, UINT64_MAX), 30min) << attempts;
    EXPECT_LE(backoff_delay(kLadder, attempts, UINT64_MAX), 36min) << attempts;
  }
  constexpr Duration kMost{std::numeric_limits<std::int64_t>::max()};
  const std::array<Duration, 3> extremes{Duration{0}, Duration{-5}, kMost};
  EXPECT_EQ(backoff_delay(extremes, 1, UINT64_MAX), 0ms);
  EXPECT_EQ(backoff_delay(extremes, 2, UINT64_MAX), 0ms);
  for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{12345}, UINT64_MAX})
    EXPECT_EQ(backoff_delay(extremes, 3, random), kMost);
}

TEST(Backoff, F55_FailuresOfOneSecondDoNotComeBackInOneSecond) {
  test::FakeRandom random(7);
  constexpr int kRows = 10'000;
  std::array<int, 10> per_tenth{};  // of the spread
  for (int i = 0; i < kRows; ++i) {
    const Duration extra = backoff_delay(kLadder, 1, random.next64()) - 1min;
    ASSERT_GE(extra, 0ms);
    ASSERT_LE(extra, 12s);
    ++per_tenth[static_cast<std::size_t>(std::min<std::int64_t>(extra / 1200ms, 9))];
  }
  for (const int count : per_tenth) {
    EXPECT_GT(count, kRows / 10 - 200);
    EXPECT_LT(count, kRows / 10 + 200);
  }
}

}  // namespace
}  // namespace notify

#include "core/near_miss.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace notify {
namespace {

TEST(NearMiss, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("timezone", "timezone"), 0U);
  EXPECT_EQ(edit_distance("timezone", "time_zone"), 1U);
  EXPECT_EQ(edit_distance("retry", "rerty"), 1U) << "neighbours that changed places";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("Batch", "bATCH"), 0U);
}

TEST(NearMiss, SuggestsTheNearestOnly) {
  const std::array<std::string, 4> words{"timeout", "timezone", "concurrency", "to"};
  EXPECT_EQ(did_you_mean("time_zone", words), "did you mean \"timezone\"?");
  EXPECT_EQ(did_you_mean("TIMEOUT", words), "did you mean \"timeout\"?");
  EXPECT_EQ(did_you_mean("concurency", words), "did you mean \"concurrency\"?");
  EXPECT_EQ(did_you_mean("subject", words), "");
  EXPECT_EQ(did_you_mean("x", words), "");
  EXPECT_EQ(did_you_mean("", words), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), words), "");
}

}  // namespace
}  // namespace notify

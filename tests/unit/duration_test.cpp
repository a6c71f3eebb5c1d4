#include "core/duration.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace notify {
namespace {

TEST(Duration, ReadsUnitsFromLargeToSmall) {
  EXPECT_EQ(parse_duration("250ms").value(), 250ms);
  EXPECT_EQ(parse_duration("10s").value(), 10s);
  EXPECT_EQ(parse_duration("90m").value(), 90min);
  EXPECT_EQ(parse_duration("24h").value(), 24h);
  EXPECT_EQ(parse_duration("3d").value(), 72h);
  EXPECT_EQ(parse_duration("2w").value(), 14 * 24h);
  EXPECT_EQ(parse_duration("1m30s").value(), 90s);
  EXPECT_EQ(parse_duration("1d2h3m4s5ms").value(), 26h + 3min + 4s + 5ms);
  EXPECT_EQ(parse_duration("0s").value(), 0s);
  EXPECT_EQ(parse_duration("36500d").value(), kLongestDuration);
}

TEST(Duration, RefusesTheRest) {
  for (const char* text : {"",
                           "10",
                           "s",
                           "10 s",
                           "-1s",
                           "+1s",
                           "1.5h",
                           "1s1m",
                           "1s1s",
                           "1ms1s",
                           "10sec",
                           "1H",
                           "10s ",
                           " 10s",
                           "1m-1s",
                           "36501d",
                           "36500d1ms",
                           "9223372036854775807ms",
                           "9223372036854775808w",
                           "99999999999999999999s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, Code::kBadInput);
  }
}

TEST(Duration, WritesWhatItReads) {
  for (const char* text : {"0s", "1ms", "1m30s", "8d", "1d", "1h", "36500d", "1d2h3m4s5ms"})
    EXPECT_EQ(format_duration(parse_duration(text).value()), text);
  EXPECT_EQ(format_duration(14 * 24h), "14d");
  EXPECT_EQ(format_duration(-90s), "-1m30s");
  EXPECT_EQ(format_duration(Duration{std::numeric_limits<std::int64_t>::min()}), "-106751991167d7h12m55s808ms");
}

}  // namespace
}  // namespace notify

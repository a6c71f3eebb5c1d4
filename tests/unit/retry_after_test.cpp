#include "core/retry_after.hpp"

#include <gtest/gtest.h>

#include <string>

namespace notify {
namespace {

constexpr Instant kNow{784'111'777'000};  // Sun, 06 Nov 1994 08:49:37 GMT, the RFC's example
constexpr Duration kMax{3'600'000};

std::optional<Duration> parse(std::string_view text, Instant now = kNow) { return parse_retry_after(text, now, kMax); }

TEST(RetryAfter, DelaySeconds) {
  EXPECT_EQ(parse("0"), Duration(0));
  EXPECT_EQ(parse("120"), Duration(120'000));
  EXPECT_EQ(parse("  7 \r\n"), Duration(7000));
  EXPECT_EQ(parse("007"), Duration(7000));
}

TEST(RetryAfter, AllThreeFormsOfDates) {
  const Instant before = kNow - Duration(90'000);
  EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:37 GMT", before), Duration(90'000));
  EXPECT_EQ(parse("Sunday, 06-Nov-94 08:49:37 GMT", before), Duration(90'000));
  EXPECT_EQ(parse("Sun Nov  6 08:49:37 1994", before), Duration(90'000));
  EXPECT_EQ(parse("Wed Nov 16 08:49:37 1994", Instant{784'975'777'000 - 1000}), Duration(1000));
}

TEST(RetryAfter, PastAndNegativeAreNow) {
  EXPECT_EQ(parse("Sat, 05 Nov 1994 08:49:37 GMT"), Duration(0));
  EXPECT_EQ(parse("-5"), Duration(0));
  EXPECT_EQ(parse("-99999999999999999999999999"), Duration(0));
}

TEST(RetryAfter, FractionsAreRoundedUp) {
  EXPECT_EQ(parse("0.299"), Duration(299));
  EXPECT_EQ(parse("1.5"), Duration(1500));
  EXPECT_EQ(parse("0.0001"), Duration(1));
  EXPECT_EQ(parse("0.0000000000000000000000001"), Duration(1));
  EXPECT_EQ(parse("2.000"), Duration(2000));
}

TEST(RetryAfter, F55_NothingOverflows) {
  for (const char* text :
       {"3601", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616",
        "99999999999999999999999999999999999999999", "9223372036854775.807", "Fri, 31 Dec 9999 23:59:59 GMT"})
    EXPECT_EQ(parse(text), kMax) << text;
  EXPECT_EQ(parse(std::string(100'000, '9')), kMax);
  EXPECT_EQ(parse_retry_after("5", kNow, Duration(-1)), Duration(0));
  EXPECT_EQ(parse_retry_after("99999999999999", kNow, Duration::max()), Duration(std::chrono::hours(24 * 366)));
}

TEST(RetryAfter, GarbageIsNothing) {
  for (const char* text : {"",
                           " ",
                           "soon",
                           "12 s",
                           "1e3",
                           "0x10",
                           "1.",
                           ".5",
                           "1.5.5",
                           "--5",
                           "+5",
                           "1,5",
                           "NaN",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 GMT+9",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Xyz, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Foo 1994 08:49:37 GMT",
                           "1994-11-06T08:49:37Z",
                           "\xff\xfe"})
    EXPECT_EQ(parse(text), std::nullopt) << text;
}

TEST(HttpDate, TwoDigitYearsAreWithinFiftyYears) {
  const Instant in_2026{1'767'225'600'000};  // 2026-01-01
  EXPECT_EQ(parse_http_date("Thursday, 01-Jan-26 00:00:00 GMT", in_2026), in_2026);
  // 76 would be exactly 50 years ahead, 77 more than that.
  EXPECT_EQ(parse_http_date("Wednesday, 01-Jan-76 00:00:00 GMT", in_2026), Instant{3'345'062'400'000});
  EXPECT_EQ(parse_http_date("Saturday, 01-Jan-77 00:00:00 GMT", in_2026), Instant{220'924'800'000});
}

TEST(HttpDate, LeapDaysAndLeapSeconds) {
  EXPECT_EQ(parse_http_date("Thu, 29 Feb 2024 00:00:00 GMT", kNow), Instant{1'709'164'800'000});
  EXPECT_EQ(parse_http_date("Wed, 29 Feb 2023 00:00:00 GMT", kNow), std::nullopt);
  EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", kNow), Instant{1'483'228'800'000});
}

}  // namespace
}  // namespace notify

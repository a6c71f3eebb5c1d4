#include "core/time_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/fakes.hpp"
#include "sys/zone.hpp"

namespace notify {
namespace {

// 2026-11-29T13:26:09Z is Sunday, 22:26:09 in Seoul and 08:26:09 in New York.
std::string read(std::string_view text, const Zone* zone = nullptr, bool looks_back = false) {
  const auto time = parse_time(text, {.now = test::kSomeTime, .zone = zone, .looks_back = looks_back});
  if (time) return format_time(*time);
  EXPECT_EQ(time.error().code, Code::kBadInput);
  EXPECT_FALSE(time.error().hint.empty()) << text;
  return "refused";
}

std::unique_ptr<const Zone> zone(std::string_view name) {
  auto loaded = load_zone(name);
  EXPECT_TRUE(loaded) << loaded.error().message;
  return std::move(*loaded);
}

TEST(TimeText, ReadsRfc3339) {
  EXPECT_EQ(read("2026-11-29T13:26:09Z"), "2026-11-29T13:26:09.000Z");
  EXPECT_EQ(read("2026-11-29t13:26:09.1z"), "2026-11-29T13:26:09.100Z");
  EXPECT_EQ(read("2026-11-29 22:26:09.123456789+09:00"), "2026-11-29T13:26:09.123Z");
  EXPECT_EQ(read("2026-11-29T08:26:09-05:00"), "2026-11-29T13:26:09.000Z");
  EXPECT_EQ(read("2026-11-29T13:26Z"), "2026-11-29T13:26:00.000Z");
  EXPECT_EQ(read("2024-02-29T00:00:00Z"), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(read("2016-12-31T23:59:60Z"), "2017-01-01T00:00:00.000Z") << "a leap second is the second after it";
  EXPECT_EQ(read("1970-01-01T00:00:00Z"), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(read("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z");
}

TEST(TimeText, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "x",
                           "tomorow 08:00",
                           "today",
                           "today 8:00",
                           "today 24:00",
                           "today 08:00 ",
                           "2026-11-29T13:26:09",
                           "2026-11-29",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-02-30T00:00:00Z",
                           "2025-02-29T00:00:00Z",
                           "2026-11-29T24:00:00Z",
                           "2026-11-29T13:60:00Z",
                           "2026-11-29T13:26:61Z",
                           "2026-11-29T13:26:09.Z",
                           "2026-11-29T13:26:09+9",
                           "2026-11-29T13:26:09+0900",
                           "2026-11-29T13:26:09+24:00",
                           "2026-11-29T13:26:09Zx",
                           "2026-11-29T",
                           "2026-1-2T00:00:00Z",
                           "1969-12-31T23:59:59Z",
                           "1970-01-01T00:00:00+00:01",
                           "9999-12-31T23:59:59-00:01",
                           "-2026-11-29T00:00:00Z",
                           "@",
                           "@-1",
                           "@x",
                           "@1.",
                           "@1.5x",
                           "@ 1",
                           "@1796000000000",
                           "@99999999999999999999",
                           "+",
                           "-",
                           "+2",
                           "2",
                           "+-2h",
                           "2h ago",
                           "36501d",
                           "08:00",
                           "20:40",
                           "2026-11-29T13:26:09 Z"})
    EXPECT_EQ(read(text), "refused") << text;
}

TEST(TimeText, ErrorsAreShortAndOneLineWhateverTheText) {
  const auto time = parse_time("2026\n\x1b[2J\xff" + std::string(100'000, 'x'), {});
  ASSERT_FALSE(time);
  EXPECT_LT(time.error().message.size(), 200U);
  EXPECT_EQ(time.error().message.find_first_of("\n\x1b\xff"), std::string::npos) << time.error().message;
}

TEST(TimeText, SecondsSince1970) {
  EXPECT_EQ(read("@0"), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(read("@1795958769"), "2026-11-29T13:26:09.000Z");
  EXPECT_EQ(read("@1795958769.0459"), "2026-11-29T13:26:09.045Z");
}

TEST(TimeText, DurationsFromNow) {
  EXPECT_EQ(read("now"), "2026-11-29T13:26:09.000Z");
  EXPECT_EQ(read("+2h"), "2026-11-29T15:26:09.000Z");
  EXPECT_EQ(read("90m"), "2026-11-29T14:56:09.000Z");
  EXPECT_EQ(read("3d"), "2026-12-02T13:26:09.000Z");
  EXPECT_EQ(read("-2h"), "2026-11-29T11:26:09.000Z");
  EXPECT_EQ(read("2h", nullptr, true), "2026-11-29T11:26:09.000Z");
  EXPECT_EQ(read("+2h", nullptr, true), "2026-11-29T15:26:09.000Z");
  EXPECT_EQ(read("-36500d"), "refused") << "before 1970";
}

TEST(TimeText, LocalTimesNeedAZone) {
  const auto seoul = zone("Asia/Seoul");
  EXPECT_EQ(read("2026-11-29T22:26:09.5", seoul.get()), "2026-11-29T13:26:09.500Z");
  EXPECT_EQ(read("2026-11-29 22:26", seoul.get()), "2026-11-29T13:26:00.000Z");
  EXPECT_EQ(read("2026-11-29", seoul.get()), "2026-11-28T15:00:00.000Z");
  const auto refused = parse_time("2026-11-29 22:26", {.now = test::kSomeTime});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no time zone"), std::string::npos);
}

TEST(TimeText, NamedDaysAreTheZones) {
  const auto seoul = zone("Asia/Seoul");
  EXPECT_EQ(read("today 08:00", seoul.get()), "2026-11-28T23:00:00.000Z");
  EXPECT_EQ(read("tomorrow 08:00", seoul.get()), "2026-11-29T23:00:00.000Z");
  EXPECT_EQ(read("yesterday 08:00:30", seoul.get()), "2026-11-27T23:00:30.000Z");
  // Kiritimati is fourteen hours ahead: there it is the 30th already.
  EXPECT_EQ(read("today 08:00", zone("Pacific/Kiritimati").get()), "2026-11-29T18:00:00.000Z");
  EXPECT_EQ(read("tomorrow 00:00", zone("Asia/Kathmandu").get()), "2026-11-29T18:15:00.000Z");
}

TEST(TimeText, TheDayAfterTheLastOfAMonth) {
  const auto seoul = zone("Asia/Seoul");
  const Instant end_of_year = parse_time("2026-12-31T23:00:00+09:00", {}).value();
  EXPECT_EQ(format_time(parse_time("tomorrow 08:00", {.now = end_of_year, .zone = seoul.get()}).value(), *seoul),
            "2027-01-01T08:00:00.000+09:00");
}

TEST(TimeText, ATimeThatTheClocksSkipMeansTheEndOfTheGap) {
  const auto new_york = zone("America/New_York");
  EXPECT_EQ(read("2026-03-08 02:30", new_york.get()), "2026-03-08T07:00:00.000Z");
  EXPECT_EQ(read("2026-03-08 01:59:59", new_york.get()), "2026-03-08T06:59:59.000Z");
  EXPECT_EQ(read("2026-03-08 03:00", new_york.get()), "2026-03-08T07:00:00.000Z");
}

TEST(TimeText, ATimeThatComesTwiceMeansTheFirst) {
  const auto new_york = zone("America/New_York");
  EXPECT_EQ(read("2026-11-01 01:30", new_york.get()), "2026-11-01T05:30:00.000Z");
  EXPECT_EQ(read("2026-11-01 02:00", new_york.get()), "2026-11-01T07:00:00.000Z");
}

TEST(TimeText, TimeOfDay) {
  EXPECT_EQ(parse_time_of_day("00:00").value(), 0);
  EXPECT_EQ(parse_time_of_day("08:05").value(), 485);
  EXPECT_EQ(parse_time_of_day("23:59").value(), 1439);
  for (const char* text : {"", "8:00", "24:00", "12:60", "12:5", "12:05:00", "12.05", " 12:05", "-1:00", "ab:cd"})
    EXPECT_FALSE(parse_time_of_day(text)) << text;
}

TEST(TimeText, WritesTheZonesOffset) {
  EXPECT_EQ(format_time(test::kSomeTime, *zone("Asia/Seoul")), "2026-11-29T22:26:09.000+09:00");
  EXPECT_EQ(format_time(test::kSomeTime, *zone("America/New_York")), "2026-11-29T08:26:09.000-05:00");
  EXPECT_EQ(format_time(test::kSomeTime, *zone("Asia/Kathmandu")), "2026-11-29T19:11:09.000+05:45");
  EXPECT_EQ(format_time(test::kSomeTime, *zone("UTC")), "2026-11-29T13:26:09.000+00:00");
}

TEST(TimeText, WhateverIsStoredCanBeWritten) {
  EXPECT_EQ(format_time(Instant{-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(Instant{std::numeric_limits<std::int64_t>::min()}), "0001-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(Instant{std::numeric_limits<std::int64_t>::max()}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(Instant{std::numeric_limits<std::int64_t>::max()}, *zone("Asia/Seoul")).size(), 29U);
}

TEST(TimeText, ReadsBackWhatItWrites) {
  const auto new_york = zone("America/New_York");
  for (std::int64_t ms = 1'000'000'000'123; ms < 4'000'000'000'000; ms += 12'345'678'901) {
    EXPECT_EQ(parse_time(format_time(Instant{ms}), {}).value().ms, ms);
    EXPECT_EQ(parse_time(format_time(Instant{ms}, *new_york), {}).value().ms, ms);
  }
}

TEST(TimeText, TheHintLooksTheSameWayAsTheTime) {
  const auto hint = [](bool looks_back) {
    return parse_time("soon", {.now = test::kSomeTime, .zone = nullptr, .looks_back = looks_back}).error().hint;
  };
  EXPECT_NE(hint(false).find("+2h"), std::string::npos);
  EXPECT_EQ(hint(true).find("+2h"), std::string::npos);
  EXPECT_NE(hint(true).find("two hours ago"), std::string::npos);
}

}  // namespace
}  // namespace notify

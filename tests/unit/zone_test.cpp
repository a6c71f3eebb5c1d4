#include "sys/zone.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace notify {
namespace {

TEST(Zone, F53_OnlyNamesOfTheDatabaseAreZones) {
  for (const char* name : {"Asia/Seuol",
                           "KST",
                           "GMT+9",
                           "UTC+9",
                           "Etc/GMT+9",
                           "asia/seoul",
                           "../../etc/passwd",
                           "Asia/../../../etc/passwd",
                           "/usr/share/zoneinfo/Asia/Seoul",
                           "",
                           " ",
                           "Asia",
                           "Asia/",
                           "localtime",
                           "posix/Asia/Seoul",
                           "right/Asia/Seoul",
                           "tzdata.zi",
                           "Factory",
                           "EST5EDT",
                           ":Asia/Seoul",
                           "Asia/Seoul ",
                           "Fixed/UTC+09:00:00"}) {
    const auto zone = load_zone(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().code, Code::kConfig) << name;
    EXPECT_FALSE(zone.error().hint.empty()) << name;
  }
}

TEST(Zone, F53_HintsSayWhatWasMeant) {
  const auto hint = [](std::string_view name) { return load_zone(name).error().hint; };
  EXPECT_EQ(hint("Asia/Seuol"), "did you mean \"Asia/Seoul\"?");
  EXPECT_EQ(hint("asia/seoul"), "did you mean \"Asia/Seoul\"?");
  EXPECT_NE(hint("KST").find("Asia/Seoul"), std::string::npos);
}

TEST(Zone, F53_ZonesAreWhatTheyAreCalled) {
  for (const auto& [name, hours] :
       {std::pair{"Asia/Seoul", 9}, std::pair{"UTC", 0}, std::pair{"Pacific/Kiritimati", 14}}) {
    const auto zone = load_zone(name);
    ASSERT_TRUE(zone) << zone.error().message;
    EXPECT_EQ((*zone)->name(), name);
    EXPECT_EQ((*zone)->offset(Instant{1'796'000'000'000}), hours * 1h);
  }
}

// In a process of its own: the directory is looked at once per zone.
TEST(Zone, F53_WithoutADatabaseNothingIsUtc) {
  const auto probe = [] {
    ::setenv("TZDIR", "/nonexistent", 1);  // NOLINT(concurrency-mt-unsafe): this process has one thread
    const auto zone = load_zone("Asia/Tokyo");
    const bool refused = !zone && zone.error().code == Code::kConfig &&
                         zone.error().message.find("no time zone data") != std::string::npos;
    std::_Exit(refused && load_zone("UTC") ? 0 : 1);
  };
  EXPECT_EXIT(probe(), testing::ExitedWithCode(0), "");
}

TEST(Zone, F53_TwoZonesInTwoThreads) {
  const auto seoul = load_zone("Asia/Seoul");
  const auto new_york = load_zone("America/New_York");
  ASSERT_TRUE(seoul && new_york);
  const auto count_wrong = [](const Zone& zone, Duration offset, int& wrong) {
    for (int i = 0; i < 20'000; ++i)
      if (zone.offset(Instant{1'796'000'000'000 + i}) != offset) ++wrong;
  };
  int wrong_here = 0;
  int wrong_there = 0;
  std::thread other([&] { count_wrong(**seoul, 9h, wrong_there); });
  count_wrong(**new_york, -5h, wrong_here);
  other.join();
  EXPECT_EQ(wrong_here + wrong_there, 0);
}

TEST(Zone, LocalTimeAndBack) {
  const auto zone = load_zone("Europe/Berlin");
  ASSERT_TRUE(zone);
  const CivilTime evening{2026, 7, 1, 23, 59, 58};
  const auto instant = (*zone)->from_local(evening);
  ASSERT_TRUE(instant);
  EXPECT_EQ((*zone)->to_local(*instant), evening);
  EXPECT_EQ((*zone)->to_local(*instant + 999ms), evening);
  EXPECT_EQ((*zone)->offset(*instant), 2h);
}

TEST(Zone, DatesThatDoNotExistAreErrors) {
  const auto zone = load_zone("Asia/Seoul");
  ASSERT_TRUE(zone);
  for (const CivilTime& time :
       {CivilTime{2026, 2, 30, 0, 0, 0}, CivilTime{2026, 13, 1, 0, 0, 0}, CivilTime{2026, 1, 1, 24, 0, 0},
        CivilTime{2026, 1, 1, 0, 60, 0}, CivilTime{0, 1, 1, 0, 0, 0}, CivilTime{10000, 1, 1, 0, 0, 0}})
    EXPECT_FALSE((*zone)->from_local(time));
}

}  // namespace
}  // namespace notify

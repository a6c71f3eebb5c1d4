#include "core/surge.hpp"

#include <gtest/gtest.h>

namespace notify {
namespace {

constexpr Instant kNow{1'700'000'000'000};

TEST(Surge, OffWithoutConfiguration) {
  EXPECT_FALSE(SurgeConfig{}.on());
  EXPECT_EQ(surge_room({}, 1'000'000, false, {}, kNow).messages, INT64_MAX);
}

TEST(Surge, ARunMayHandOnSoMany) {
  SurgeConfig config;
  config.per_run_max = 500;
  EXPECT_EQ(surge_room(config, 0, false, {}, kNow).messages, 500);
  EXPECT_EQ(surge_room(config, 480, false, {}, kNow).messages, 20);
  EXPECT_EQ(surge_room(config, 600, false, {}, kNow).messages, 0);
}

// Cron's next run does not let go what the last one has held.
TEST(Surge, WhatARunHasHeldStaysHeld) {
  SurgeConfig config;
  config.per_run_max = 500;
  const SurgeRoom room = surge_room(config, 0, true, {}, kNow);
  EXPECT_EQ(room.messages, 0);
  EXPECT_EQ(room.measure, "500 messages in one run");
  config = {};
  config.per_hour_max = 500;  // an hour is over by itself
  EXPECT_EQ(surge_room(config, 0, true, {}, kNow).messages, 500);
}

TEST(Surge, AnHourMayHaveSoManyTimesTheBusiestOfTheDayBefore) {
  SurgeConfig config;
  config.hourly_factor = 3;
  config.hourly_min = 10;
  // 40 and 60 within one hour of yesterday, 30 in another; 50 in the hour that is running.
  const std::vector<VolumeSpan> volume{{kNow - 20h, 40}, {kNow - 20h + 30min, 60}, {kNow - 8h, 30}, {kNow - 10min, 50}};
  EXPECT_EQ(surge_room(config, 0, false, volume, kNow).messages, 3 * 100 - 50);
  // The hour that is running is not the measure for itself.
  EXPECT_EQ(surge_room(config, 0, false, {{kNow - 10min, 50}}, kNow).messages, 0);
  EXPECT_EQ(surge_room(config, 0, false, {}, kNow).messages, 10);
}

TEST(Surge, TheNarrowestMeasureHoldsAndIsNamed) {
  SurgeConfig config;
  config.per_run_max = 7;
  config.per_hour_max = 5;
  const SurgeRoom room = surge_room(config, 0, false, {{kNow - 1min, 2}}, kNow);
  EXPECT_EQ(room.messages, 3);
  EXPECT_EQ(room.measure, "5 messages in an hour");
}

}  // namespace
}  // namespace notify

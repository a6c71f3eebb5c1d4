#include <gtest/gtest.h>

#include <chrono>

#include "core/policy.hpp"
#include "sys/zone.hpp"

namespace notify {
namespace {

// A zone of a fixed offset, which is all that most of these rules need. Real zones with summer time are tested where
// they are implemented.
class FixedZone final : public Zone {
 public:
  explicit FixedZone(Duration offset) : offset_(offset) {}
  Result<Instant> from_local(const CivilTime& c) const override {
    using namespace std::chrono;
    const sys_days day = sys_days{year{c.year} / c.month / c.day};
    return Instant{duration_cast<milliseconds>(day.time_since_epoch()).count() +
                   ((c.hour * 60LL + c.minute) * 60 + c.second) * 1000 - offset_.count()};
  }
  CivilTime to_local(Instant t) const override {
    using namespace std::chrono;
    const sys_time<milliseconds> local{milliseconds{t.ms + offset_.count()}};
    const sys_days day = floor<days>(local);
    const year_month_day ymd{day};
    const auto in_day = local - day;
    return {static_cast<int>(ymd.year()),
            static_cast<int>(static_cast<unsigned>(ymd.month())),
            static_cast<int>(static_cast<unsigned>(ymd.day())),
            static_cast<int>(in_day / 1h),
            static_cast<int>(in_day % 1h / 1min),
            static_cast<int>(in_day % 1min / 1s)};
  }
  Duration offset(Instant) const override { return offset_; }
  std::string_view name() const override { return "Fixed"; }

 private:
  Duration offset_;
};

const FixedZone kSeoul{9h};

Config advertising_hours() {
  Config config;
  config.environment = "production";
  config.quiet_hours["advertising"].relay = DailyWindow{20 * 60 + 40, 8 * 60};
  config.quiet_hours["advertising"].worker = DailyWindow{20 * 60 + 50, 8 * 60};
  return config;
}

Instant seoul(int day, int hour, int minute, int second = 0) {
  return *kSeoul.from_local({2026, 11, day, hour, minute, second});
}

Envelope advertising() {
  Envelope envelope;
  envelope.category = kAdvertising;
  envelope.recipient = "+821000000000";
  return envelope;
}

TEST(Policy, F51_StartIsInsideEndIsOutside) {
  const Config config = advertising_hours();
  const Policies policies(config, &kSeoul);
  const Envelope message = advertising();
  using Kind = Verdict::Kind;
  EXPECT_EQ(policies.judge(message, Stage::kRelay, seoul(29, 20, 39, 59)).kind, Kind::kGo);
  EXPECT_EQ(policies.judge(message, Stage::kRelay, seoul(29, 20, 40)).kind, Kind::kDefer);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 20, 49, 59)).kind, Kind::kGo);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 20, 50)).kind, Kind::kDefer);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 23, 59, 59)).kind, Kind::kDefer);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(30, 0, 0)).kind, Kind::kDefer);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(30, 7, 59, 59)).kind, Kind::kDefer);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(30, 8, 0)).kind, Kind::kGo);
}

TEST(Policy, F51_TheNextOpeningIsTodayBeforeItAndTomorrowAfterMidnightIsCrossed) {
  const Config config = advertising_hours();
  const Policies policies(config, &kSeoul);
  EXPECT_EQ(policies.judge(advertising(), Stage::kRelay, seoul(29, 21, 0)).until, seoul(30, 8, 0));
  EXPECT_EQ(policies.judge(advertising(), Stage::kRelay, seoul(30, 3, 0)).until, seoul(30, 8, 0));
}

// In New York 02:30 did not exist on 2026-03-08, and 01:30 came twice on 2026-11-01.
TEST(Policy, F51_AnOpeningThatAChangeOfTheClocksSkipsOrRepeats) {
  const auto new_york = *load_zone("America/New_York");
  const auto opening = [&](int until, CivilTime at, Duration later = {}) {
    Config config;
    config.environment = "production";
    config.quiet_hours["advertising"].worker = DailyWindow{22 * 60, until};
    const Policies policies(config, new_york.get());
    const Verdict verdict = policies.judge(advertising(), Stage::kWork, *new_york->from_local(at) + later);
    EXPECT_EQ(verdict.kind, Verdict::Kind::kDefer);
    return verdict.until;
  };
  const Instant change = *new_york->from_local({2026, 3, 8, 1, 59, 0}) + 1min;
  const Instant after_gap = opening(150, {2026, 3, 8, 1, 0, 0});
  EXPECT_GE(after_gap, change);
  EXPECT_LE(after_gap, change + 30min);

  const Instant first = *new_york->from_local({2026, 11, 1, 1, 30, 0});
  EXPECT_EQ(opening(90, {2026, 11, 1, 1, 0, 0}), first);
  EXPECT_EQ(opening(90, {2026, 11, 1, 1, 10, 0}, 1h), first + 1h) << "the minute comes a second time";
}

TEST(Policy, AWindowInsideOneDay) {
  Config config;
  config.environment = "production";
  config.quiet_hours["transactional"].worker = DailyWindow{12 * 60, 13 * 60};
  const Policies policies(config, &kSeoul);
  Envelope message = advertising();
  message.category = kTransactional;
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 11, 59)).kind, Verdict::Kind::kGo);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 12, 0)).until, seoul(29, 13, 0));
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 13, 0)).kind, Verdict::Kind::kGo);
  EXPECT_EQ(policies.judge(message, Stage::kRelay, seoul(29, 12, 30)).kind, Verdict::Kind::kGo);
}

TEST(Policy, TransactionalMessagesKnowNoAdvertisingHours) {
  const Config config = advertising_hours();
  const Policies policies(config, &kSeoul);
  Envelope message = advertising();
  message.category = kTransactional;
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 23, 0)).kind, Verdict::Kind::kGo);
}

TEST(Policy, F50_ExpiryEqualToNowIsExpired) {
  Config config;
  const Policies policies(config, nullptr);
  Envelope message = advertising();
  message.expires = seoul(29, 10, 0);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 9, 59, 59)).kind, Verdict::Kind::kGo);
  EXPECT_EQ(policies.judge(message, Stage::kWork, seoul(29, 10, 0)).kind, Verdict::Kind::kExpire);
}

TEST(Policy, F50_WhatWouldExpireBeforeTheOpeningExpiresNow) {
  const Config config = advertising_hours();
  const Policies policies(config, &kSeoul);
  Envelope message = advertising();
  message.expires = seoul(30, 7, 0);
  const Verdict verdict = policies.judge(message, Stage::kRelay, seoul(29, 21, 0));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kExpire);
  EXPECT_EQ(verdict.reason, "expires-in-quiet-hours");
  message.expires = seoul(30, 9, 0);
  EXPECT_EQ(policies.judge(message, Stage::kRelay, seoul(29, 21, 0)).kind, Verdict::Kind::kDefer);
}

TEST(Policy, OutsideProductionOnlyAllowedRecipients) {
  Config config;
  config.environment = "staging";
  config.guard.allow = {"+8210000*", "*@example.com"};
  config.channels.emplace_back();
  const Policies policies(config, nullptr);
  Envelope message = advertising();
  EXPECT_EQ(policies.judge(message, Stage::kRelay, seoul(29, 10, 0)).kind, Verdict::Kind::kGo);
  message.recipient = "+821012345678";
  const Verdict verdict = policies.judge(message, Stage::kRelay, seoul(29, 10, 0));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kSkip);
  EXPECT_EQ(verdict.reason, "guard");
  EXPECT_TRUE(policies.guard_allows("a@example.com"));
  EXPECT_FALSE(policies.guard_allows("a@example.com.evil.test"));
  config.environment = "production";
  EXPECT_TRUE(policies.guard_allows("anybody"));
}

TEST(Policy, TheGuardComparesAddressesAsOptOutsDo) {
  Config config;
  config.environment = "staging";
  config.channels.emplace_back();
  const auto allows = [&](const char* pattern, const char* recipient) {
    config.guard.allow = {pattern};
    return guard_allows(config, recipient);
  };
  EXPECT_TRUE(allows("*@example.com", "A@EXAMPLE.com"));
  EXPECT_TRUE(allows("*@Example.COM", "a@example.com"));
  EXPECT_TRUE(allows("+8210000*", "+82 10-0000-1234"));
  EXPECT_TRUE(allows("+82 10-0000*", "+821000001234"));
  EXPECT_TRUE(allows("*", "+82 10-0000-1234"));
  EXPECT_FALSE(allows("+8210000*", "+82 10-1111-1234"));
  EXPECT_FALSE(allows("*@example.com", "a@example.com.evil.test"));
  // What is no pattern of numbers is not boiled down to "*".
  EXPECT_FALSE(allows("ops-*", "+82 10-0000-1234"));
  EXPECT_FALSE(allows("-*", "+82 10-0000-1234"));
  EXPECT_FALSE(allows("-100*", "1005551234"));
  EXPECT_TRUE(allows("-100*", "-1005551234"));
  EXPECT_FALSE(allows("OPS", "ops"));
}

TEST(Policy, Globs) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("a*c", "abc"));
  EXPECT_TRUE(glob_match("a*c", "abcbc"));
  EXPECT_TRUE(glob_match("a**c", "ac"));
  EXPECT_FALSE(glob_match("a*c", "abd"));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_FALSE(glob_match("a", "ab"));
  EXPECT_TRUE(glob_match("*a*b*", "xxaxxbxx"));
}

}  // namespace
}  // namespace notify

#include <gtest/gtest.h>

#include "core/lane_book.hpp"

namespace notify {
namespace {

constexpr Instant kNow{1'795'958'769'000};

Outcome outcome(OutcomeClass cls) {
  Outcome o;
  o.cls = cls;
  return o;
}

Outcome connect_refused() {
  Outcome o = outcome(OutcomeClass::kNotSent);
  o.connect_refused = true;
  o.reason = "connect-refused";
  return o;
}

TEST(LaneBook, AnUntouchedLaneIsOpen) {
  EXPECT_TRUE(lane_open(Lane{}, kNow));
  EXPECT_EQ(lane_reopens(Lane{}, kNow), std::nullopt);
}

TEST(LaneBook, PauseHoldsUntilItsTime) {
  Lane lane;
  lane.paused = true;
  lane.paused_until = kNow + 1min;
  EXPECT_FALSE(lane_open(lane, kNow));
  EXPECT_EQ(lane_reopens(lane, kNow), kNow + 1min);
  EXPECT_TRUE(lane_open(lane, kNow + 1min));
  lane.paused_until.reset();
  EXPECT_FALSE(lane_open(lane, kNow + 24h));
  EXPECT_EQ(lane_reopens(lane, kNow), std::nullopt);
}

TEST(LaneBook, FiveRefusedConnectsInARowHaltIt) {
  Lane lane;
  for (int i = 1; i < kRefusedInARow; ++i) {
    EXPECT_EQ(lane_note_outcome(lane, connect_refused(), false, kNow), LaneChange::kNone);
    EXPECT_TRUE(lane_open(lane, kNow));
  }
  EXPECT_EQ(lane_note_outcome(lane, connect_refused(), false, kNow), LaneChange::kHalted);
  EXPECT_FALSE(lane_open(lane, kNow));
  EXPECT_EQ(lane_note_outcome(lane, connect_refused(), false, kNow), LaneChange::kNone)
      << "one alert, not one a message";
}

TEST(LaneBook, AnAnswerBreaksTheRow) {
  Lane lane;
  for (int i = 0; i < 20; ++i) {
    for (int j = 1; j < kRefusedInARow; ++j) lane_note_outcome(lane, connect_refused(), false, kNow);
    lane_note_outcome(lane, outcome(OutcomeClass::kSent), false, kNow);
  }
  EXPECT_TRUE(lane_open(lane, kNow));
}

TEST(LaneBook, ProbesComeAtGrowingDistancesOfAtMostFiveMinutes) {
  Lane lane;
  Outcome denied = outcome(OutcomeClass::kNotSent);
  denied.halt_channel = true;
  ASSERT_EQ(lane_note_outcome(lane, denied, false, kNow), LaneChange::kHalted);
  Instant now = kNow;
  Duration last{0};
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(lane_probe_due(lane, now));
    const Duration wait = lane.probe_at - now;
    EXPECT_GE(wait, last);
    EXPECT_LE(wait, Duration{5min});
    last = wait;
    now = lane.probe_at;
    EXPECT_TRUE(lane_probe_due(lane, now));
    lane_note_probe(lane, now);
    EXPECT_FALSE(lane_probe_due(lane, now)) << "one probe at a time";
  }
  EXPECT_EQ(last, Duration{5min});
  EXPECT_EQ(lane_note_outcome(lane, outcome(OutcomeClass::kSent), false, now), LaneChange::kNone)
      << "it was on its way when the lane was closed";
  EXPECT_EQ(lane_note_outcome(lane, outcome(OutcomeClass::kSent), true, now), LaneChange::kReopened);
  EXPECT_TRUE(lane_open(lane, now));
}

TEST(LaneBook, APausedLaneIsNotProbed) {
  Lane lane;
  lane.halted = true;
  lane.probe_at = kNow;
  lane.paused = true;
  EXPECT_FALSE(lane_probe_due(lane, kNow + 1h));
}

TEST(LaneBook, RetryAfterIsBoundedAndNeverShortened) {
  Lane lane;
  Outcome busy = outcome(OutcomeClass::kNotSent);
  busy.lane_wide = true;
  busy.retry_after = Duration{48h};
  lane_note_outcome(lane, busy, false, kNow);
  EXPECT_EQ(*lane.hold_until, kNow + 1h);
  busy.retry_after = Duration{0};
  lane_note_outcome(lane, busy, false, kNow);
  EXPECT_EQ(*lane.hold_until, kNow + 1h);
}

// GUARANTEES "Lane-wide": one alert, and one message that tries whether it is over.
TEST(LaneBook, AfterRetryAfterOneMessageGoesFirst) {
  Lane lane;
  Outcome busy = outcome(OutcomeClass::kNotSent);
  busy.lane_wide = true;
  busy.retry_after = Duration{10s};
  EXPECT_EQ(lane_note_outcome(lane, busy, false, kNow), LaneChange::kHalted);
  EXPECT_EQ(lane_note_outcome(lane, busy, false, kNow), LaneChange::kNone) << "one alert, not one a message";
  EXPECT_FALSE(lane_probe_due(lane, kNow + 9s));
  EXPECT_EQ(lane_reopens(lane, kNow), kNow + 10s);
  const Instant over = kNow + 10s;
  EXPECT_TRUE(lane_probe_due(lane, over));
  lane_note_probe(lane, over);
  EXPECT_FALSE(lane_open(lane, over));
  EXPECT_FALSE(lane_probe_due(lane, over)) << "one at a time";
  EXPECT_EQ(lane_note_outcome(lane, outcome(OutcomeClass::kSent), true, over), LaneChange::kReopened);
  EXPECT_TRUE(lane_open(lane, over));
  EXPECT_EQ(lane.hold_until, std::nullopt);
}

// F16: what no rule can have put so far ahead was written by a clock that has been set back.
TEST(LaneBook, AClockThatWasSetBackHoldsNoLaneUp) {
  const Rate rate{10, Duration{60s}};
  Lane lane;
  lane.hold_until = kNow + 1h;
  lane.halted = true;
  lane.probe_at = kNow + 5min;
  lane.rate_next_us = kNow.ms * 1000 + lane_spacing_us(rate);
  const Lane before = lane;
  lane_mend_clock(lane, rate, kNow);
  EXPECT_EQ(lane.hold_until, before.hold_until);
  EXPECT_EQ(lane.probe_at, before.probe_at);
  EXPECT_EQ(lane.rate_next_us, before.rate_next_us);
  lane_mend_clock(lane, rate, kNow - 24h);
  EXPECT_TRUE(lane_probe_due(lane, kNow - 24h));
  EXPECT_TRUE(lane_take_permit(lane, rate, kNow - 24h));
}

TEST(LaneBook, OnlyProofConcernsTheLane) {
  Outcome o = outcome(OutcomeClass::kUnknown);
  o.lane_wide = true;
  EXPECT_FALSE(concerns_lane(o));
  o.cls = OutcomeClass::kNotSent;
  EXPECT_TRUE(concerns_lane(o));
}

// Whatever the rate: no closed span of max(per, 60 s) holds more permits than allowed.
TEST(LaneBook, AnySpanObeysTheRate) {
  for (const Rate rate : {Rate{50, 1s}, Rate{1, 1s}, Rate{1, 1min}, Rate{3, 10s}, Rate{5000, 1s}, Rate{7, 24h}}) {
    Lane lane;
    const Duration span = std::max(rate.per, Duration{60s});
    const auto allowed = static_cast<std::size_t>(rate.count * span.count() / rate.per.count());
    const Duration step{std::max<std::int64_t>(1, span.count() / 20'000)};
    std::vector<Instant> permits;
    for (Instant t = kNow; t < kNow + 3 * span; t = t + step)
      while (lane_take_permit(lane, rate, t)) permits.push_back(t);
    for (std::size_t i = 0; i + allowed < permits.size(); ++i)
      ASSERT_GT(permits[i + allowed] - permits[i], span) << rate.count << " per " << rate.per.count() << " ms";
    EXPECT_GT(permits.size(), allowed * 2) << "and it is used: " << rate.count << " per " << rate.per.count() << " ms";
  }
}

// --- what is reported later

constexpr Duration kLater = 10min;

Lane halted_by_report() {
  Lane lane;
  EXPECT_EQ(lane_note_report(lane, {true, kNow, "4432"}, kNow + 1s), LaneChange::kHalted);
  return lane;
}

TEST(LaneBook, AReportOfTroubleHaltsOnceAndProbesRarely) {
  Lane lane = halted_by_report();
  EXPECT_FALSE(lane_open(lane, kNow + 1s));
  EXPECT_EQ(lane.reason, "4432");
  EXPECT_FALSE(lane_probe_due(lane, kNow + 4min));
  EXPECT_TRUE(lane_probe_due(lane, kNow + 6min));
  EXPECT_EQ(lane_note_report(lane, {true, kNow, "4433"}, kNow + 2s), LaneChange::kNone) << "one alert";
}

TEST(LaneBook, AReportAboutLongAgoHaltsNothing) {
  Lane lane;
  EXPECT_EQ(lane_note_report(lane, {true, kNow - 2h, "4432"}, kNow), LaneChange::kNone);
  lane.opened_at = kNow;
  EXPECT_EQ(lane_note_report(lane, {true, kNow, "4432"}, kNow + 1s), LaneChange::kNone);
  EXPECT_EQ(lane_note_report(lane, {true, kNow + 1s, "4432"}, kNow + 1s), LaneChange::kHalted);
}

TEST(LaneBook, OnlyAReportAboutALaterCallOpensWhatAReportHalted) {
  Lane lane = halted_by_report();
  Outcome answered = outcome(OutcomeClass::kSent);
  answered.status = 200;
  EXPECT_EQ(lane_note_outcome(lane, answered, true, kNow + kLater), LaneChange::kNone);
  EXPECT_EQ(lane_note_report(lane, {false, kNow, {}}, kNow + kLater), LaneChange::kNone) << "called before";
  EXPECT_EQ(lane_note_report(lane, {false, kNow + 6min, {}}, kNow + kLater), LaneChange::kReopened);
  EXPECT_TRUE(lane_open(lane, kNow + kLater));
  EXPECT_EQ(lane.opened_at, kNow + kLater);
  EXPECT_EQ(lane_note_report(lane, {true, kNow + 7min, "4432"}, kNow + kLater), LaneChange::kNone)
      << "before it opened";
}

TEST(LaneBook, ADeliveryDoesNotOpenWhatTheBreakerHalted) {
  Lane lane;
  Outcome denied = outcome(OutcomeClass::kNotSent);
  denied.halt_channel = true;
  lane_note_outcome(lane, denied, true, kNow);
  EXPECT_EQ(lane_note_report(lane, {false, kNow + 1s, {}}, kNow + 2s), LaneChange::kNone);
  EXPECT_FALSE(lane_open(lane, kNow + 2s));
}

}  // namespace
}  // namespace notify

// Channels at least once, after a call whose outcome is unknown: the claim rests until it is taken up again, or ends.

#include <gtest/gtest.h>

#include "sim/world.hpp"
#include "store/sqlite/database.hpp"

namespace notify::sim {
namespace {

// A message on a channel at least once, after its first call, whose outcome is unknown: it rests.
struct Resting {
  World world{};
  std::string id{};

  explicit Resting(Duration window = 24h, std::optional<Duration> expires = std::nullopt) {
    ChannelConfig& hook = world.add_channel("hook");
    hook.semantics = Semantics::kAtLeastOnce;
    hook.idempotency_window = window;
    id = world.enqueue("k1", "hook");
    if (expires)
      world.execute("UPDATE notification_outbox SET expires_at = " + std::to_string((world.clock.now() + *expires).ms));
    world.relay_all();
    world.work_all([](const Call&) { return unknown(); });
    EXPECT_EQ(world.inbox(id), InboxState::kSending);
  }

  // It ended as ERROR with an alert, and was called no second time.
  void expect_error(const std::string& reason) {
    EXPECT_EQ(world.inbox(id), InboxState::kError);
    EXPECT_EQ(world.observer().inbox().find(id)->value().reason, reason);
    EXPECT_EQ(world.status().queue.total(), 0);
    EXPECT_EQ(world.status().alerts_open, 1);
    EXPECT_EQ(world.vendor.received(id), 1);
    world.check_accounts();
  }
};

// The lane was closed for longer than the vendor remembers: a second call could be a second message.
TEST(Resting, Row9b_WhatRestsIsNotCalledAgainOutsideTheWindow) {
  Resting resting(1h);
  resting.world.execute("INSERT INTO notification_lane (channel, paused, updated_at) VALUES ('hook', 1, 0)");
  resting.world.clock.advance(30min);
  resting.world.work_all(always_sent);
  EXPECT_EQ(resting.world.inbox(resting.id), InboxState::kSending) << "paused, and the vendor would still know it";
  resting.world.execute("UPDATE notification_lane SET paused = 0");
  resting.world.clock.advance(30min);
  resting.world.work_all(always_sent);
  resting.expect_error("idempotency-window-over");
}

TEST(Resting, Row9b_WhatRestsBehindAPauseBecomesErrorWhenItsWindowIsOver) {
  Resting resting(1h);
  resting.world.execute("INSERT INTO notification_lane (channel, paused, updated_at) VALUES ('hook', 1, 0)");
  for (int minute = 0; minute < 50; minute += 5) {
    resting.world.clock.advance(5min);
    resting.world.work_all(always_sent);
  }
  EXPECT_EQ(resting.world.inbox(resting.id), InboxState::kSending);
  EXPECT_EQ(resting.world.observer().database().integer("SELECT count(*) FROM notification_attempt"), 1)
      << "a call was told of that nobody made";
  resting.world.clock.advance(15min);
  resting.world.work_all(always_sent);
  resting.expect_error("idempotency-window-over");
}

// Its only copy is never thrown away: it would stand as SENDING, and nobody would look at it again.
TEST(Resting, WhatRestsAndMayNotGoAnyMoreIsError) {
  Resting expired(24h, 1min);
  expired.world.clock.advance(5min);
  expired.world.work_all(always_sent);
  expired.expect_error("expired");

  Resting poison;
  poison.world.execute("UPDATE notification_queue SET lost_leases = 99");
  poison.world.clock.advance(5min);
  poison.world.work_all(always_sent);
  poison.expect_error("delivery-limit");
}

// GUARANTEES "Lane-wide": burns nobody's attempts, also after an unknown one.
TEST(Resting, LaneWideTroubleCostsNothingAfterAnUnknownAttempt) {
  Resting resting;
  Outcome slow_down = not_sent("http-429");
  slow_down.lane_wide = true;
  slow_down.retry_after = 60s;
  slow_down.status = 429;
  Outcome shortage = not_sent("local-shortage");
  shortage.not_begun = true;
  for (int round = 0; round < 20; ++round) {
    resting.world.clock.advance(6min);
    resting.world.work_all([&](const Call&) { return round % 2 == 0 ? slow_down : shortage; });
    ASSERT_EQ(resting.world.inbox(resting.id), InboxState::kSending) << round;
  }
  resting.world.clock.advance(6min);
  resting.world.work_all(always_sent);
  EXPECT_EQ(resting.world.inbox(resting.id), InboxState::kSent);
  resting.world.check_accounts();
}

}  // namespace
}  // namespace notify::sim

// What becomes of a message, step by step, over the real store: the state machines and the lane rules as
// GUARANTEES tells them.

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/world.hpp"

namespace notify::sim {
namespace {

TEST(Scenario, SentOnceAndAcked) {
  World world;
  const std::string id = world.enqueue("k1");
  EXPECT_EQ(world.outbox(id), OutboxState::kPending);
  world.relay_all();
  EXPECT_EQ(world.outbox(id), OutboxState::kPublished);
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.status().queue.total(), 0);
  world.check_accounts();
}

TEST(Scenario, RefusedForGoodIsFailedAndParked) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  world.work_all([](const Call&) { return refused(); });
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
  EXPECT_EQ(world.status().parked.total, 1);
  EXPECT_EQ(world.status().queue.total(), 0);
  EXPECT_GE(world.status().alerts_open, 1);
  world.check_accounts();
}

TEST(Scenario, UnknownOnAtMostOnceIsErrorAndNeverSentAgain) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  world.work_all([](const Call&) { return unknown(); });
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(world.status().alerts_open, 1);
  for (int round = 0; round < 3; ++round) {
    world.clock.advance(1h);
    world.relay_all();
    world.work_all(always_sent);
  }
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  world.check_accounts();
}

TEST(Scenario, UnknownOnAtLeastOnceIsTriedAgainWithTheSameId) {
  World world;
  world.add_channel("hook").semantics = Semantics::kAtLeastOnce;
  const std::string id = world.enqueue("k1", "hook");
  world.relay_all();
  int calls = 0;
  const auto second_time_lucky = [&](const Call&) { return ++calls == 1 ? unknown() : sent(); };
  world.work_all(second_time_lucky);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);  // rests until its retry
  world.clock.advance(5s);
  world.work_all(second_time_lucky);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(calls, 2);
  world.check_accounts();
}

TEST(Scenario, AfterAnUnknownAttemptTheEndIsSentOrErrorNeverARelease) {
  World world;
  world.add_channel("hook").semantics = Semantics::kAtLeastOnce;
  const std::string id = world.enqueue("k1", "hook");
  world.relay_all();
  int calls = 0;
  const auto then_down = [&](const Call&) { return ++calls == 1 ? unknown() : not_sent(); };
  for (int round = 0; round < 40; ++round) {
    world.work_all(then_down);
    world.clock.advance(11min);
  }
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(world.status().parked.total, 0);
  world.check_accounts();
}

TEST(Scenario, CertainlyNotSentClimbsTheLadderAndIsParked) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  int calls = 0;
  Outcome failing = not_sent("http-503");
  for (int round = 0; round < 20; ++round) {
    world.work_all([&](const Call&) {
      ++calls;
      return failing;
    });
    world.clock.advance(13min);
  }
  EXPECT_EQ(calls, 6);  // the first and the five steps of the ladder
  EXPECT_EQ(world.inbox(id), std::nullopt);
  EXPECT_EQ(world.status().parked.total, 1);
  EXPECT_EQ(world.status().parked.reasons.front().first, "retries-exhausted");
  EXPECT_EQ(world.status().queue.total(), 0);
  world.check_accounts();
}

TEST(Scenario, PoisonIsParkedAfterOneLookAndTheRestGoesOn) {
  World world;
  world.enqueue("bad", "nobody-configured-this");
  for (int i = 0; i < 100; ++i) world.enqueue("good" + std::to_string(i));
  world.relay_all();
  world.work_all(always_sent);
  EXPECT_EQ(world.status().inbox.sent, 100);
  EXPECT_EQ(world.status().parked.total, 1);
  EXPECT_EQ(world.status().parked.reasons.front().first, "unknown-channel");
  world.check_accounts();
}

TEST(Scenario, ALaneWithoutADriverIsClosedAloneAndOpensWithTheNextRun) {
  World world;
  world.add_channel("hook");
  world.broken = {"hook"};
  const std::string waiting = world.enqueue("k1", "hook");
  const std::string served = world.enqueue("k2", "sms");
  world.enqueue("k3", "nobody-configured-this");
  world.relay_all();
  for (int run = 0; run < 3; ++run) world.work_all(always_sent);
  EXPECT_EQ(world.inbox(served), InboxState::kSent);
  EXPECT_EQ(world.inbox(waiting), std::nullopt);
  EXPECT_EQ(world.status().queue.total(), 1);
  EXPECT_EQ(world.status().parked.total, 1);  // the unlisted one
  const auto halted_alerts = [&] {
    const auto alerts = world.status().alerts;
    return std::count_if(alerts.begin(), alerts.end(),
                         [](const AlertRow& a) { return a.kind == "lane-halted" && a.subject == "hook"; });
  };
  EXPECT_EQ(halted_alerts(), 1);
  world.check_accounts();

  world.broken.clear();
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(waiting), InboxState::kSent);
  EXPECT_EQ(halted_alerts(), 0);
  world.check_accounts();
}

TEST(Scenario, AnotherRunDoesNotCloseTheAlertOfALaneThatItsVendorRefuses) {
  World world;
  world.enqueue("k1");
  world.relay_all();
  Outcome denied = not_sent("http-401");
  denied.halt_channel = true;
  world.work_all([&](const Call&) { return denied; });
  world.start(Process::Kind::kWorker);
  EXPECT_EQ(world.status().alerts_open, 1);
}

TEST(Scenario, RefusedCredentialsHaltTheLaneAndCostNoTries) {
  World world;
  for (int i = 0; i < 50; ++i) world.enqueue("k" + std::to_string(i));
  world.config.channels[0].concurrency = 4;
  world.relay_all();
  int calls = 0;
  Outcome denied = not_sent("http-401");
  denied.halt_channel = true;
  denied.status = 401;
  const auto deny = [&](const Call&) {
    ++calls;
    return denied;
  };
  for (int minute = 0; minute < 30; ++minute) {
    world.work_all(deny);
    world.clock.advance(1min);
  }
  EXPECT_LE(calls, 4 + 12);  // the first claims, then single probes at growing distances
  EXPECT_GE(calls, 4 + 4);
  EXPECT_EQ(world.status().parked.total, 0);
  EXPECT_EQ(world.status().queue.total(), 50);
  EXPECT_EQ(world.status().alerts_open, 1);

  world.clock.advance(6min);
  world.work_all(always_sent);  // the probe opens the lane, and the rest follows
  world.clock.advance(1s);
  world.work_all(always_sent);
  EXPECT_EQ(world.status().inbox.sent, 50);
  EXPECT_EQ(world.status().alerts_open, 0);
  world.check_accounts();
}

TEST(Scenario, RetryAfterHoldsTheWholeLane) {
  World world;
  world.config.channels[0].concurrency = 1;
  for (int i = 0; i < 10; ++i) world.enqueue("k" + std::to_string(i));
  world.relay_all();
  int calls = 0;
  Outcome slow_down = not_sent("http-429");
  slow_down.lane_wide = true;
  slow_down.retry_after = 60s;
  slow_down.status = 429;
  world.work_all([&](const Call&) {
    ++calls;
    return slow_down;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(world.status().alerts_open, 1);
  world.clock.advance(59s);
  world.work_all(always_sent);
  EXPECT_EQ(world.status().inbox.sent, 0);
  world.clock.advance(2s);
  calls = 0;
  world.work_all([&](const Call&) {
    ++calls;
    return slow_down;
  });
  EXPECT_EQ(calls, 1) << "one message tries whether it is over";
  world.clock.advance(61s);
  world.work_all(always_sent);
  EXPECT_EQ(world.status().inbox.sent, 10);
  EXPECT_EQ(world.status().alerts_open, 0);
  world.check_accounts();
}

// What was on its way when the lane was halted does not open it: one alert, one message that tries it.
TEST(Scenario, ResultsInFlightDoNotOpenALaneThatWasHalted) {
  World world;
  world.config.channels[0].concurrency = 4;
  for (int i = 0; i < 12; ++i) world.enqueue("k" + std::to_string(i));
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_EQ(worker.calls.size(), 4U);
  Outcome denied = not_sent("http-401");
  denied.halt_channel = true;
  denied.status = 401;
  for (int i = 0; i < 4; ++i, worker.calls.pop_front())
    worker.back.push_back({worker.calls.front(), i == 1 ? denied : sent()});
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.status().alerts_open, 1);
  world.clock.advance(16s);
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_EQ(worker.calls.size(), 1U) << "one message tries";
  worker.back.push_back({worker.calls.front(), sent()});
  worker.calls.pop_front();
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(worker.calls.size(), 4U);
  EXPECT_EQ(world.status().alerts_open, 0);
}

// The vendor that said "too many" is called by fewer at a time.
TEST(Scenario, After429ALaneHasHalfAsManyCallsOut) {
  World world;
  world.config.channels[0].concurrency = 8;
  for (int i = 0; i < 20; ++i) world.enqueue("k" + std::to_string(i));
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_EQ(worker.calls.size(), 8U);
  Outcome too_many = not_sent("http-429");
  too_many.status = 429;
  too_many.lane_wide = true;
  for (; !worker.calls.empty(); worker.calls.pop_front()) worker.back.push_back({worker.calls.front(), too_many});
  ASSERT_TRUE(worker.worker_turn());
  world.clock.advance(1min);
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_EQ(worker.calls.size(), 1U) << "one tries whether it is over";
  worker.back.push_back({worker.calls.front(), sent()});
  worker.calls.pop_front();
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(worker.calls.size(), 4U);
}

TEST(Scenario, Row3_DeadRelaysClaimsComeBackAtOnce) {
  World world;
  world.broker = std::make_unique<Broker>();
  const std::string id = world.enqueue("k1");
  Process& relay = world.start(Process::Kind::kRelay);
  relay.kill_switch().arm(CrashPoint::kRelayAfterClaim);
  EXPECT_THROW((void)relay.relay_step(), Killed);
  world.kill(relay);
  EXPECT_EQ(world.outbox(id), OutboxState::kPublishing);
  world.relay_all();  // no clock was moved: the lease would have held for 15 minutes
  EXPECT_EQ(world.outbox(id), OutboxState::kPublished);
  EXPECT_EQ(world.broker->depth(), 1U);
}

TEST(Scenario, Row4_AConfirmThatNeverCameMakesASecondCopyWhichTheInboxStops) {
  World world;
  world.broker = std::make_unique<Broker>();
  int publishes = 0;
  world.broker->on_publish = [&] { return ++publishes == 1 ? Broker::Fate::kLostAfterwards : Broker::Fate::kOk; };
  const std::string id = world.enqueue("k1");
  world.relay_all();
  EXPECT_EQ(world.outbox(id), OutboxState::kPending);
  world.clock.advance(3min);
  world.relay_all();
  EXPECT_EQ(world.outbox(id), OutboxState::kPublished);
  EXPECT_EQ(world.broker->depth(), 2U);
  world.work_all(always_sent);
  world.clock.advance(2min);  // the copy met the claim while it was SENDING, and was put back
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.broker->depth(), 0U);
}

TEST(Scenario, Row5_ARelayThatDiesBetweenConfirmAndMarkPublishesAgain) {
  World world;
  world.broker = std::make_unique<Broker>();
  const std::string id = world.enqueue("k1");
  Process& relay = world.start(Process::Kind::kRelay);
  relay.kill_switch().arm(CrashPoint::kRelayAfterPublish);
  EXPECT_THROW((void)relay.relay_step(), Killed);
  world.kill(relay);
  world.relay_all();
  EXPECT_EQ(world.broker->depth(), 2U);
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 1);
}

TEST(Scenario, Row6b_AFrozenRelaysLateMarksChangeNothing) {
  World world;
  world.broker = std::make_unique<Broker>();
  const std::string id = world.enqueue("k1");
  Process& frozen = world.start(Process::Kind::kRelay);
  // While it publishes, its lease ends and another relay takes the row over and has it confirmed.
  bool inside = false;
  world.broker->on_publish = [&] {
    if (std::exchange(inside, true)) return Broker::Fate::kOk;
    world.clock.advance(16min);
    world.relay_all();
    return Broker::Fate::kLostAfterwards;
  };
  EXPECT_TRUE(frozen.relay_step());
  EXPECT_EQ(world.outbox(id), OutboxState::kPublished);
  EXPECT_EQ(frozen.relay().summary().retried, 0);
}

TEST(Scenario, Row11_ALostAckBringsTheMessageAgainAndTheInboxStopsIt) {
  World world;
  world.broker = std::make_unique<Broker>();
  int acks = 0;
  world.broker->ack_is_lost = [&] { return ++acks == 1; };
  const std::string id = world.enqueue("k1");
  world.relay_all();
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(world.broker->depth(), 1U);
  world.clock.advance(6min);
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.broker->depth(), 0U);
}

TEST(Scenario, ATransportThatIsDownCostsOneRowAnAttemptNotAll) {
  World world;
  world.broker = std::make_unique<Broker>();
  world.broker->down = true;
  for (int i = 0; i < 20; ++i) world.enqueue("k" + std::to_string(i));
  Process& relay = world.start(Process::Kind::kRelay);
  const Result<int> step = relay.relay_step();
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, Code::kUnavailable);
  EXPECT_EQ(relay.relay().summary().retried, 1);
  EXPECT_EQ(world.status().outbox.pending, 20);
  world.broker->down = false;
  world.clock.advance(2min);
  world.relay_all();
  EXPECT_EQ(world.status().outbox.published, 20);
}

TEST(Scenario, AfterADayOfFailedPublishesTheRowIsFailedWithAnAlert) {
  World world;
  world.broker = std::make_unique<Broker>();
  world.broker->on_publish = [] { return Broker::Fate::kRefused; };
  const std::string id = world.enqueue("k1");
  for (int hour = 0; hour < 26; ++hour) {
    world.relay_all();
    world.clock.advance(1h);
  }
  EXPECT_EQ(world.outbox(id), OutboxState::kFailed);
  EXPECT_EQ(world.status().alerts_open, 2);  // publish-failing at the fifth, gave-up at the end
  world.check_accounts();
}

TEST(Scenario, WhatMayBeOutIsNeverGivenUpByTheRelay) {
  World world;
  world.broker = std::make_unique<Broker>();
  bool first = true;
  world.broker->on_publish = [&] {
    return std::exchange(first, false) ? Broker::Fate::kLostAfterwards : Broker::Fate::kRefused;
  };
  const std::string id = world.enqueue("k1");
  for (int hour = 0; hour < 40; ++hour) {
    world.relay_all();
    world.clock.advance(1h);
  }
  EXPECT_EQ(world.outbox(id), OutboxState::kPending);
}

TEST(Scenario, DeadWorkersClaimIsErrorAtOnceAndNeverSentAgain) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  (void)worker.worker_turn();
  (void)worker.worker_turn();
  ASSERT_EQ(worker.calls.size(), 1U);
  world.vendor.receive(id);
  world.kill(worker);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.status().queue.total(), 0);
  EXPECT_EQ(world.status().alerts_open, 1);
  world.check_accounts();
}

TEST(Scenario, ManyYoungClaimsHideNoOldOneOfAnotherChannel) {
  World world;
  world.add_channel("slow").stale_after = 2h;
  Process& worker = world.start(Process::Kind::kWorker);  // alive, and busy for long
  ASSERT_TRUE(world.observer().write([&]() -> Result<void> {
    const Instant now = world.clock.now();
    for (int i = 0; i < 600; ++i) {
      TRY(world.observer().inbox().claim({"a-slow-" + std::to_string(i), 0, "slow", 7, worker.run(), now}));
    }
    TRY(world.observer().inbox().claim({"z-sms", 0, "sms", 7, worker.run(), now}));
    return {};
  }));
  world.clock.advance(30min);
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(world.inbox("z-sms"), InboxState::kError);
  EXPECT_EQ(world.status().inbox.sending, 600);
}

TEST(Scenario, FrozenWorkersLateResultStillLands) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& frozen = world.start(Process::Kind::kWorker);
  (void)frozen.worker_turn();
  (void)frozen.worker_turn();
  ASSERT_EQ(frozen.calls.size(), 1U);
  world.vendor.receive(id);
  world.clock.advance(20min);  // past stale_after
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  frozen.back.push_back({frozen.calls.front(), sent()});
  (void)frozen.worker_turn();
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(world.vendor.received(id), 1);
  world.check_accounts();
}

TEST(Scenario, SecondCopyOfALiveClaimIsPutBackNeverAcked) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& first = world.start(Process::Kind::kWorker);
  (void)first.worker_turn();
  (void)first.worker_turn();
  ASSERT_EQ(first.calls.size(), 1U);
  // Its lease ends while it lives: another worker gets the same message.
  world.clock.advance(6min);
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 0);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  EXPECT_EQ(world.status().queue.total(), 1);
  // The owner finds out that it was certainly not sent, and gives its claim back: the copy is the message.
  first.back.push_back({first.calls.front(), not_sent()});
  (void)first.worker_turn();
  world.clock.advance(2min);
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(world.vendor.received(id), 1);
  world.check_accounts();
}

TEST(Scenario, UrgentBeforeLessUrgentAndEveryChannelGetsItsTurn) {
  World world;
  world.add_channel("mail");
  world.config.channels[0].concurrency = 2;
  for (int i = 0; i < 500; ++i) world.enqueue("flood" + std::to_string(i));
  const std::string urgent = world.enqueue("urgent", "sms", 9);
  const std::string other = world.enqueue("other", "mail");
  world.relay_all();
  std::vector<std::string> order;
  world.work_all([&](const Call& call) {
    order.push_back(call.delivery.message_id);
    return sent();
  });
  ASSERT_EQ(order.size(), 502U);
  const auto position = [&](const std::string& id) {
    return std::find(order.begin(), order.end(), id) - order.begin();
  };
  EXPECT_LT(position(urgent), 10);
  EXPECT_LT(position(other), 10);
  world.check_accounts();
}

TEST(Scenario, F10_OneBrokenCallTellsNothingAboutTheOthersOfItsGroup) {
  World world;
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(world.enqueue("k" + std::to_string(i)));
  world.relay_all();
  int calls = 0;
  world.work_all([&](const Call&) {
    ++calls;
    if (calls <= 4) return sent();
    return calls == 5 ? unknown() : not_sent();
  });
  const StatusReport after = world.status();
  EXPECT_EQ(after.inbox.sent, 4);
  EXPECT_EQ(after.inbox.error, 1);
  EXPECT_EQ(after.queue.total(), 5);
  world.check_accounts();
}

}  // namespace
}  // namespace notify::sim

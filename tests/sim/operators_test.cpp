// Operators among relays and workers, step by step: rows 21 and 25 of the failure table, and what each command refuses.

#include <gtest/gtest.h>

#include "core/cancel.hpp"
#include "core/park.hpp"
#include "core/replay.hpp"
#include "core/selection.hpp"
#include "sim/world.hpp"

namespace notify::sim {
namespace {

class OperatorScenario : public ::testing::Test {
 protected:
  void TearDown() override { world.check_accounts(); }

  OperatorPorts ports() { return {world.observer(), world.observer().operators(), world.lives, world.clock, no_crash}; }
  OperatorSummary replay(const std::string& id, ReplayOptions how = {}) {
    return *notify::replay(ports(), std::vector{id}, how);
  }
  OperatorSummary cancel(const std::string& id) { return *cancel_messages(ports(), std::vector{id}, "why"); }
  OperatorSummary park(const std::string& id) { return *park_messages(ports(), std::vector{id}, "held"); }
  OperatorSummary drop(const std::string& id) { return *drop_parked(ports(), std::vector{id}, "over"); }

  // Relayed, and sent with this outcome.
  std::string settled(const std::string& key, const Outcome& outcome) {
    const std::string id = world.enqueue(key);
    world.relay_all();
    world.work_all([&](const Call&) { return outcome; });
    return id;
  }
  void deliver() {
    world.relay_all();
    world.work_all([](const Call&) { return sent(); });
  }

  World world{};
  KillSwitch no_crash{};
};

TEST_F(OperatorScenario, ARefusedMessageIsReplayedUnderItsId) {
  const std::string id = settled("k1", refused());
  EXPECT_EQ(world.status().parked.total, 1);
  EXPECT_EQ(world.status().alerts_open, 1);
  EXPECT_EQ(replay(id, {.why = "mended"}).done, 1);
  EXPECT_EQ(world.status().parked.total, 0);
  EXPECT_EQ(world.status().alerts_open, 0) << "nothing of the channel is parked any more";
  EXPECT_FALSE(world.inbox(id).has_value());
  deliver();
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(world.vendor.received(id), 2);
  const auto story = world.observer().story(id, world.clock.now())->value();
  const auto event =
      std::find_if(story.events.begin(), story.events.end(), [](auto& e) { return e.name == "replayed"; });
  ASSERT_NE(event, story.events.end());
  EXPECT_EQ(event->actor, "replay");
  EXPECT_EQ(event->detail, "was FAILED (http-400), parked; mended");
}

TEST_F(OperatorScenario, SentIsRefusedWhateverElseIsSaid) {
  const std::string id = settled("k1", sent());
  const OperatorSummary summary = replay(id, {.accept_duplicates = true});
  EXPECT_EQ(summary.refused, 1);
  EXPECT_EQ(summary.refusals[0].reason, "already sent");
}

TEST_F(OperatorScenario, ErrorNeedsTheAcceptanceOfDuplicates) {
  const std::string id = settled("k1", unknown());
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(replay(id).refused, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(replay(id, {.accept_duplicates = true}).done, 1);
  deliver();
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
}

TEST_F(OperatorScenario, WhatIsBeingSentIsInProgress) {
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_EQ(worker.calls.size(), 1U);
  for (const OperatorSummary& summary : {replay(id), park(id)}) EXPECT_EQ(summary.busy, 1);
  EXPECT_EQ(cancel(id).refused, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
}

TEST_F(OperatorScenario, WhatAWorkerHoldsUnclaimedIsNotReplayedUnderIt) {
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  ASSERT_TRUE(worker.calls.empty());
  EXPECT_EQ(replay(id).busy, 1);
  world.kill(worker);
  EXPECT_EQ(replay(id).done, 1) << "its holder is dead";
  deliver();
  EXPECT_EQ(world.vendor.received(id), 1);
}

TEST_F(OperatorScenario, Row21_AParkedMessageThatWasInFactSentIsNotSentAgain) {
  world.config.channels[0].retry.clear();
  const std::string parked = settled("k1", not_sent());
  ASSERT_EQ(world.status().parked.total, 1);
  // Between replay and relay the proof of its delivery comes.
  ASSERT_EQ(replay(parked).done, 1);
  world.relay_all();
  InboxTable& inbox = world.observer().inbox();
  ASSERT_TRUE(world.observer().write([&]() -> Result<void> {
    TRY(inbox.claim({parked, 1, "sms", 77, 1, world.clock.now()}));
    TRY(inbox.settle({parked, 77, InboxState::kSent, "receipt", {}, {}, 0, world.clock.now()}));
    return {};
  }));
  const int before = world.vendor.received(parked);
  world.work_all([](const Call&) { return sent(); });
  EXPECT_EQ(world.vendor.received(parked), before) << "the inbox stops it";
  const OperatorSummary again = replay(parked);
  EXPECT_EQ(again.refused, 1);
  EXPECT_EQ(again.refusals[0].reason, "already sent");
}

TEST_F(OperatorScenario, Row25_CancelBeforeTheRelay) {
  const std::string id = world.enqueue("k1");
  EXPECT_EQ(cancel(id).done, 1);
  EXPECT_EQ(cancel(id).unchanged, 1);
  deliver();
  EXPECT_EQ(world.outbox(id), OutboxState::kSkipped);
  EXPECT_EQ(world.vendor.received(id), 0);
}

TEST_F(OperatorScenario, Row25_CancelMeetsAPublishedMessage) {
  const std::string id = world.enqueue("k1");
  world.relay_all();
  EXPECT_EQ(cancel(id).done, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSkipped);
  EXPECT_EQ(world.status().queue.total(), 0);
  deliver();
  EXPECT_EQ(world.vendor.received(id), 0);
}

TEST_F(OperatorScenario, Row25_CancelIsFirstAlthoughAWorkerHoldsTheMessage) {
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());  // leased, not claimed
  EXPECT_EQ(cancel(id).done, 1);
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.inbox(id), InboxState::kSkipped);
  EXPECT_EQ(world.status().queue.total(), 0) << "acked";
}

TEST_F(OperatorScenario, Row25_TheWorkerIsFirst) {
  const std::string id = settled("k1", sent());
  const OperatorSummary summary = cancel(id);
  EXPECT_EQ(summary.refused, 1);
  EXPECT_EQ(summary.refusals[0].reason, "too late: it is SENT");
}

TEST_F(OperatorScenario, ACancelledMessageCanBeReplayed) {
  const std::string early = world.enqueue("k1");
  const std::string late = world.enqueue("k2");
  EXPECT_EQ(cancel(early).done, 1);
  world.relay_all();
  EXPECT_EQ(cancel(late).done, 1);
  EXPECT_EQ(replay(early).done, 1);
  EXPECT_EQ(replay(late).done, 1);
  deliver();
  EXPECT_EQ(world.inbox(early), InboxState::kSent);
  EXPECT_EQ(world.inbox(late), InboxState::kSent);
}

TEST_F(OperatorScenario, ParkAddHoldsBackWhatIsQueuedEvenInAWorkersHands) {
  const std::string waiting = world.enqueue("k1");
  world.relay_all();
  EXPECT_EQ(park(waiting).done, 1);
  EXPECT_EQ(park(waiting).unchanged, 1);
  const std::string held = world.enqueue("k2");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(park(held).done, 1);
  EXPECT_EQ(replay(held).busy, 1) << "the worker has yet to let go of it";
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.status().queue.total(), 0);
  EXPECT_EQ(world.status().parked.total, 2);
  EXPECT_EQ(replay(held).done, 1);
  world.kill(worker);
  deliver();
  EXPECT_EQ(world.inbox(held), InboxState::kSent);
  EXPECT_FALSE(world.inbox(waiting).has_value());
}

TEST_F(OperatorScenario, ParkAddRefusesWhatIsNotInTheQueue) {
  const std::string id = world.enqueue("k1");
  EXPECT_EQ(park(id).refused, 1);
  EXPECT_EQ(park("nobody").refused, 1);
}

TEST_F(OperatorScenario, DropLeavesFailedAndSkipsWhatWasNeverTried) {
  const std::string failed = settled("k1", refused());
  const std::string held = world.enqueue("k2");
  world.relay_all();
  park(held);
  EXPECT_EQ(drop(failed).done, 1);
  EXPECT_EQ(drop(held).done, 1);
  EXPECT_EQ(drop(held).unchanged, 1);
  EXPECT_EQ(world.inbox(failed), InboxState::kFailed);
  EXPECT_EQ(world.inbox(held), InboxState::kSkipped);
  EXPECT_EQ(world.status().parked.total, 0);
  EXPECT_EQ(drop(world.enqueue("k3")).refused, 1);
}

TEST_F(OperatorScenario, WhatWasDroppedIsNotReplayed) {
  const std::string failed = settled("k1", refused());
  const std::string held = world.enqueue("k2");
  world.relay_all();
  park(held);
  EXPECT_EQ(drop(failed).done, 1);
  EXPECT_EQ(drop(held).done, 1);
  for (const SelectionKind kind : {SelectionKind::kFailed, SelectionKind::kSkipped, SelectionKind::kParked})
    EXPECT_TRUE(select_messages(world.observer(), kind, {}, world.clock.now())->ids.empty());
  EXPECT_EQ(replay(failed).refused, 1);
  EXPECT_EQ(replay(held).refused, 1);
  deliver();
  EXPECT_EQ(world.inbox(failed), InboxState::kFailed);
  EXPECT_EQ(world.inbox(held), InboxState::kSkipped);
}

TEST_F(OperatorScenario, WhatWaitsAlreadyIsLeftAsItIs) {
  const std::string id = world.enqueue("k1");
  EXPECT_EQ(replay(id).unchanged, 1);
  EXPECT_EQ(replay("nobody").refused, 1);
}

TEST_F(OperatorScenario, ABackoffIsEnded) {
  const std::string id = world.enqueue("k1");
  const std::int64_t row = world.observer().outbox().find(id)->value();
  ASSERT_TRUE(world.observer().write([&]() -> Result<void> {
    OutboxTable& outbox = world.observer().outbox();
    const Instant now = world.clock.now();
    TRY(outbox.claim(row, {9, 1, now, now + 1min}));
    TRY(outbox.back_off(row, 9, now + 30min, false, "refused", now));
    return {};
  }));
  EXPECT_EQ(replay(id).done, 1);
  deliver();
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
}

TEST_F(OperatorScenario, AnExpiredMessageNeedsANewExpiry) {
  NewMessage message;
  message.channel = "sms";
  message.recipient = "+821000000000";
  message.payload = R"({"body":"hello"})";
  message.expires = world.clock.now() + 1min;
  std::string id;
  ASSERT_TRUE(world.observer().write([&]() -> Result<void> {
    TRY_ASSIGN(const InsertResult row, world.observer().outbox().insert(message, world.clock.now()));
    id = row.message_id;
    return {};
  }));
  world.clock.advance(2min);
  world.relay_all();
  EXPECT_EQ(world.outbox(id), OutboxState::kExpired);
  EXPECT_EQ(replay(id).refused, 1);
  EXPECT_EQ(replay(id, {.expires = world.clock.now() + 1h}).done, 1);
  deliver();
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
}

TEST_F(OperatorScenario, ARateSpreadsTheMessages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(settled("k" + std::to_string(i), refused()));
  ReplayOptions how;
  how.rate = Rate{2, 1min};
  EXPECT_EQ(notify::replay(ports(), ids, how)->done, 4);
  deliver();
  EXPECT_EQ(world.status().inbox.sent, 1);
  world.clock.advance(30s);
  deliver();
  EXPECT_EQ(world.status().inbox.sent, 2);
  world.clock.advance(1min);
  deliver();
  EXPECT_EQ(world.status().inbox.sent, 4);
}

TEST_F(OperatorScenario, APatchMendsWhatIsSentAndTheKeyStandsForTheOriginal) {
  const std::string id = settled("k1", refused());
  ReplayOptions how;
  how.patch = *PayloadPatch::parse(R"({"body":"mended"})", {});
  EXPECT_EQ(replay(id, how).done, 1);
  const auto story = world.observer().story(id, world.clock.now())->value();
  EXPECT_EQ(story.outbox->payload, R"({"body":"mended"})");
  EXPECT_EQ(story.outbox->original_payload, R"({"body":"hello"})");
  std::string body;
  world.relay_all();
  world.work_all([&](const Call& call) {
    body = call.dispatch.content.body;
    return sent();
  });
  EXPECT_EQ(body, "mended");
  EXPECT_EQ(world.enqueue("k1"), id) << "the same request as before";
}

TEST_F(OperatorScenario, ADryRunSaysTheSameAndChangesNothing) {
  const std::string failed = settled("k1", refused());
  const std::string done = settled("k2", sent());
  const auto summary = replay_dry(ports(), std::vector{failed, done}, {});
  EXPECT_EQ(summary->done, 1);
  EXPECT_EQ(summary->refused, 1);
  EXPECT_EQ(world.inbox(failed), InboxState::kFailed);
}

}  // namespace
}  // namespace notify::sim

// What becomes of a message by its recipient: consent, endpoints, limits per recipient, text limits, surges.

#include <gtest/gtest.h>

#include "sim/world.hpp"

namespace notify::sim {
namespace {

class Recipients : public ::testing::Test {
 protected:
  void set(const std::string& id, const std::string& address, const std::string& locale = {}) {
    RecipientChange change;
    change.id = id;
    change.locale = locale;
    change.endpoints["sms"] = {address};
    change.enable = true;
    write([&] { return world.observer().recipients().set(change, world.clock.now()); });
  }
  void opt_out(const std::string& subject, const std::string& category = {}) {
    write([&] {
      return world.observer().recipients().opt_out({subject, {"", category, ""}, world.clock.now()}).map([](bool) {});
    });
  }
  void write(const std::function<Result<void>()>& body) {
    const Result<void> done = world.observer().write(body);
    ASSERT_TRUE(done) << done.error().message;
  }
  // With its own words, so that two of them differ.
  std::string enqueue(const std::string& key, const std::string& to, const std::string& payload = R"({"body":"hello"})",
                      std::optional<Instant> expires = std::nullopt) {
    NewMessage message;
    message.dedup_key = key;
    message.channel = "sms";
    message.recipient = to;
    message.payload = payload;
    message.fingerprint = std::string(32, 'f');
    message.expires = expires;
    std::string id;
    write([&]() -> Result<void> {
      TRY_ASSIGN(const InsertResult inserted, world.observer().outbox().insert(message, world.clock.now()));
      id = inserted.message_id;
      return {};
    });
    return id;
  }
  std::string skipped_because(const std::string& id) {
    const auto text = world.observer().story(id, world.clock.now());
    const MessageStory& story = text->value();
    if (story.inbox && story.inbox->status == "SKIPPED") return story.inbox->reason;
    return story.outbox && story.outbox->status == "SKIPPED" ? "outbox " + story.outbox->reason : "";
  }

  World world{};
  std::vector<std::string> addresses{};  // that were called, in order
  std::function<Outcome(const Call&)> note = [this](const Call& call) {
    addresses.push_back(call.dispatch.address);
    return sent();
  };
};

TEST_F(Recipients, Row14_OptedOutBeforeTheRelayLooks) {
  const std::string id = enqueue("k1", "+821012345678");
  opt_out("+821012345678");
  world.relay_all();
  EXPECT_EQ(world.outbox(id), OutboxState::kSkipped);
  EXPECT_EQ(skipped_because(id), "outbox opted-out");
  world.check_accounts();
}

TEST_F(Recipients, Row14_OptedOutBetweenRelayAndWorker) {
  const std::string id = enqueue("k1", "+821012345678");
  world.relay_all();
  opt_out("+821012345678");
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kSkipped);
  EXPECT_EQ(skipped_because(id), "opted-out");
  EXPECT_EQ(world.vendor.received(id), 0);
  world.check_accounts();
}

TEST_F(Recipients, Row14_OptedOutBetweenTheLookAndTheClaim) {
  const std::string id = enqueue("k1", "+821012345678");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());  // leased and looked at
  opt_out("+821012345678");
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(skipped_because(id), "opted-out");
  world.check_accounts();
}

TEST_F(Recipients, AMessageToAnIdGoesWhereTheRecipientIsNow) {
  set("42", "+8210111");
  const std::string id = enqueue("k1", "@42");
  world.relay_all();
  set("42", "+8210222");
  world.work_all(note);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(addresses, std::vector<std::string>{"+8210222"});
  world.check_accounts();
}

TEST_F(Recipients, AnEndpointThatChangesBeforeTheClaimIsLookedUpAgain) {
  set("42", "+8210111");
  enqueue("k1", "@42");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  set("42", "+8210222");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(worker.worker_turn());
  ASSERT_EQ(worker.calls.size(), 1U);
  EXPECT_EQ(worker.calls.front().dispatch.address, "+8210222");
}

TEST_F(Recipients, WhoeverHasNoEndpointIsParked) {
  set("43", "+8210333");
  enqueue("k1", "@42");
  world.relay_all();
  world.work_all(always_sent);
  EXPECT_EQ(world.status().parked.reasons.front().first, "no-endpoint");
  EXPECT_EQ(world.vendor.distinct(), 0U);
  world.check_accounts();
}

TEST_F(Recipients, AnAddressThatTheVendorCallsDeadIsNotWrittenToAgain) {
  set("42", "+8210111");
  const std::string first = enqueue("k1", "@42");
  world.relay_all();
  world.work_all([](const Call&) {
    Outcome dead = refused();
    dead.disable_endpoint = true;
    dead.reason = "http-410";
    return dead;
  });
  EXPECT_EQ(world.inbox(first), InboxState::kFailed);
  const std::string by_id = enqueue("k2", "@42");
  const std::string by_address = enqueue("k3", "+8210111");
  world.relay_all();
  world.work_all(note);
  EXPECT_TRUE(addresses.empty());
  EXPECT_EQ(skipped_because(by_id), "endpoint-disabled");
  EXPECT_EQ(skipped_because(by_address), "endpoint-disabled");
  set("42", "+8210111");  // enabled again
  const std::string again = enqueue("k4", "@42");
  world.relay_all();
  world.work_all(note);
  EXPECT_EQ(world.inbox(again), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Recipients, TheLimitPerRecipientHoldsOverWorkersAndHoweverAddressed) {
  world.config.channels.front().per_recipient = RecipientCap{2, 1h, {}};
  set("42", "+821012345678");
  enqueue("k1", "+821012345678");
  enqueue("k2", "+82 10-1234-5678");
  const std::string third = enqueue("k3", "@42");
  const std::string other = enqueue("k4", "+821099999999");
  world.relay_all();
  world.work_all(note);
  world.work_all(note);
  EXPECT_EQ(addresses.size(), 3U);
  EXPECT_EQ(world.inbox(other), InboxState::kSent);
  EXPECT_EQ(world.inbox(third), std::nullopt);
  EXPECT_EQ(world.status().queue.delayed, 1);
  EXPECT_EQ(world.observer().story(third, world.clock.now())->value().queue->reason, "recipient-cap");
  world.check_accounts();
  world.clock.advance(1h);
  world.work_all(note);
  EXPECT_EQ(world.inbox(third), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Recipients, WhatWouldExpireOverTheLimitExpiresNow) {
  world.config.channels.front().per_recipient = RecipientCap{1, 1h, {}};
  enqueue("k1", "+8210111");
  const std::string second = enqueue("k2", "+8210111", R"({"body":"hello"})", world.clock.now() + 30min);
  world.relay_all();
  world.work_all(note);
  EXPECT_EQ(addresses.size(), 1U);
  EXPECT_EQ(skipped_because(second), "expires-over-recipient-cap");
  EXPECT_EQ(world.status().alerts_open, 1);
  world.check_accounts();
}

TEST_F(Recipients, ACallThatWasCertainlyNotMadeDoesNotCount) {
  world.config.channels.front().per_recipient = RecipientCap{1, 1h, {}};
  const std::string id = enqueue("k1", "+8210111");
  world.relay_all();
  world.work_all([](const Call&) { return not_sent("http-503"); });
  EXPECT_EQ(world.inbox(id), std::nullopt);
  world.clock.advance(5s);
  world.work_all(note);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Recipients, ALimitForAdvertisingLeavesTheRestAlone) {
  world.config.channels.front().per_recipient = RecipientCap{1, 1h, kAdvertising};
  enqueue("k1", "+8210111");
  enqueue("k2", "+8210111");
  world.relay_all();
  world.work_all(note);
  EXPECT_EQ(addresses.size(), 2U);
}

TEST_F(Recipients, TextThatDoesNotFitIsParkedBeforeTheClaim) {
  world.config.channels.front().max_text_bytes = TextLimit{TextEncoding::kEucKr, 10};
  enqueue("k1", "+8210111", R"({"body":"안녕하세요!"})");
  enqueue("k2", "+8210111", R"({"body":"hi 😀"})");
  const std::string fits = enqueue("k3", "+8210111", R"({"body":"안녕하세요"})");
  world.relay_all();
  world.work_all(note);
  EXPECT_EQ(world.inbox(fits), InboxState::kSent);
  std::map<std::string, std::int64_t> reasons;
  for (const auto& [reason, count] : world.status().parked.reasons) reasons[reason] = count;
  EXPECT_EQ(reasons["text-too-long"], 1);
  EXPECT_EQ(reasons["text-not-encodable"], 1);
  EXPECT_EQ(addresses.size(), 1U);
  world.check_accounts();
}

TEST_F(Recipients, APausedChannelKeepsItsMessagesAndTheirTries) {
  const std::string id = enqueue("k1", "+8210111");
  world.relay_all();
  write([&] { return world.observer().lanes().pause("sms", std::nullopt, "maintenance", world.clock.now()); });
  world.work_all(note);
  EXPECT_TRUE(addresses.empty());
  EXPECT_EQ(world.status().queue.total(), 1);
  EXPECT_EQ(world.status().alerts_open, 0);
  write([&] { return world.observer().lanes().resume("sms", world.clock.now()).map([](bool) {}); });
  world.work_all(note);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Recipients, APauseStopsWhatIsLeasedButNotYetClaimed) {
  enqueue("k1", "+8210111");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  write([&] { return world.observer().lanes().pause("sms", std::nullopt, "now", world.clock.now()); });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.status().queue.ready, 1);
}

TEST_F(Recipients, ResumeOpensAHaltedLaneForTheNextMessage) {
  Outcome denied = not_sent("http-401");
  denied.status = 401;
  denied.halt_channel = true;
  const std::string id = enqueue("k1", "+8210111");
  world.relay_all();
  world.work_all([&](const Call&) { return denied; });
  world.work_all(note);
  EXPECT_TRUE(addresses.empty());  // halted, and its probe is not due
  write([&] { return world.observer().lanes().resume("sms", world.clock.now()).map([](bool) {}); });
  world.work_all(note);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Recipients, ASurgeIsHeldUntilItIsAllowed) {
  world.config.relay.surge.per_run_max = 3;
  for (int i = 0; i < 10; ++i) enqueue("k" + std::to_string(i), "+8210" + std::to_string(i));
  world.relay_all();
  EXPECT_EQ(world.status().outbox.published, 3);
  EXPECT_EQ(world.status().outbox.pending, 7);
  ASSERT_EQ(world.status().alerts_open, 1);
  EXPECT_EQ(world.status().alerts.front().kind, "surge");
  world.relay_all();  // cron's next run
  EXPECT_EQ(world.status().outbox.published, 3);
  world.config.relay.surge = {};
  world.relay_all();
  EXPECT_EQ(world.status().outbox.published, 10);
  world.check_accounts();
}

TEST_F(Recipients, ASurgeIsToldOnceHoweverOftenTheRelayLooks) {
  world.config.relay.surge.per_run_max = 3;
  for (int i = 0; i < 10; ++i) enqueue("k" + std::to_string(i), "+8210" + std::to_string(i));
  Process& relay = world.start(Process::Kind::kRelay);
  ASSERT_TRUE(relay.relay_step());
  (void)world.observer().changed_elsewhere();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*relay.relay_step(), 0);
  EXPECT_FALSE(*world.observer().changed_elsewhere());  // a commit would wake a relay that stays
  EXPECT_EQ(world.status().alerts.front().count, 1);
  EXPECT_EQ(world.events.counts["relay.surge"], 1);
  EXPECT_EQ(world.status().outbox.pending, 7);
}

TEST_F(Recipients, TheHoursVolumeIsSharedByAllRelays) {
  world.config.relay.surge.hourly_factor = 2;
  world.config.relay.surge.hourly_min = 4;
  for (int i = 0; i < 10; ++i) enqueue("k" + std::to_string(i), "+8210" + std::to_string(i));
  world.relay_all();
  world.relay_all();
  EXPECT_EQ(world.status().outbox.published, 4);
  world.clock.advance(70min);
  world.relay_all();  // twice the four of the hour before
  EXPECT_EQ(world.status().outbox.published, 10);
  world.relay_all();
  EXPECT_EQ(world.status().alerts_open, 0);
  world.check_accounts();
}

}  // namespace
}  // namespace notify::sim

// What reconcile does over the real store: questions to vendors, accounts, alerts.

#include "core/alert_teller.hpp"
#include "core/look_ups.hpp"
#include "sim/reconciling.hpp"

namespace notify::sim {
namespace {

// --- look-up ------------------------------------------------------------------------------------------------

class AnsweringChannel final : public Channel, private LookUp {
 public:
  Result<void> check(const Dispatch&) const override { return {}; }
  void send(Dispatch, Done) override { ADD_FAILURE() << "asked to send"; }
  LookUp* look_up() override { return this; }

  LookUpAnswer::Kind kind = LookUpAnswer::Kind::kUnknown;
  std::vector<std::string> asked{};

 private:
  void look_up(LookUpQuestion question, std::function<void(LookUpAnswer)> done) override {
    asked.push_back(question.message_id);
    done({kind, {}, {}, "vendor-1"});
  }
};

class LookingUp : public Reconciling {
 protected:
  std::int64_t ask(LookUpAnswer::Kind kind) {
    vendor.kind = kind;
    Process& process = world.start(Process::Kind::kReconciler);
    bool ended = false;
    LookUps look_ups(process.reconciler(), {{world.config.channel("sms"), &vendor, {}}}, [&](Result<void> result) {
      EXPECT_TRUE(result);
      ended = true;
    });
    look_ups.start();
    EXPECT_TRUE(ended);
    const std::int64_t settled = process.reconciler().summary().settled;
    world.kill(process);
    return settled;
  }

  AnsweringChannel vendor{};
};

TEST_F(LookingUp, TheVendorHasIt) {
  const std::string id = error_message();
  EXPECT_EQ(ask(LookUpAnswer::Kind::kAccepted), 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

TEST_F(LookingUp, TheVendorRefusedIt) {
  const std::string id = error_message();
  EXPECT_EQ(ask(LookUpAnswer::Kind::kRefused), 1);
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
  EXPECT_EQ(world.status().parked.total, 1);
  world.check_accounts();
}

TEST_F(LookingUp, ItNeverArrivedIsBelievedOnlyWhenTheCallMustBeOver) {
  const std::string id = error_message();
  EXPECT_EQ(ask(LookUpAnswer::Kind::kNeverArrived), 0);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  world.clock.advance(10min);
  EXPECT_EQ(ask(LookUpAnswer::Kind::kNeverArrived), 0);  // stale_after, and the call's time-out besides
  world.clock.advance(11s);
  EXPECT_EQ(ask(LookUpAnswer::Kind::kNeverArrived), 1);
  EXPECT_EQ(world.inbox(id), std::nullopt);
  EXPECT_EQ(world.status().parked.reasons.front().first, "never-arrived");
  world.check_accounts();
}

TEST_F(LookingUp, AReconcileThatDiesWithTheAnswerInHandAsksAgain) {
  const std::string id = error_message();
  vendor.kind = LookUpAnswer::Kind::kAccepted;
  Process& dying = world.start(Process::Kind::kReconciler);
  dying.kill_switch().arm(CrashPoint::kReconcileBeforeAnswerCommit);
  LookUps look_ups(dying.reconciler(), {{world.config.channel("sms"), &vendor, {}}}, [](const Result<void>&) {});
  EXPECT_THROW(look_ups.start(), Killed);
  world.kill(dying);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(ask(LookUpAnswer::Kind::kAccepted), 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(vendor.asked.size(), 2U);
  world.check_accounts();
}

TEST_F(LookingUp, DontKnowChangesNothingAndIsAskedMoreAndMoreRarely) {
  const std::string id = error_message();
  for (int i = 0; i < 100; ++i) {
    world.clock.advance(5min);
    ask(LookUpAnswer::Kind::kUnknown);
  }
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_GE(vendor.asked.size(), 5U);
  EXPECT_LE(vendor.asked.size(), 25U);
  world.clock.advance(4 * 24h);
  vendor.asked.clear();
  ask(LookUpAnswer::Kind::kAccepted);
  EXPECT_TRUE(vendor.asked.empty());
}

// --- accounts -----------------------------------------------------------------------------------------------

TEST_F(Reconciling, WhatIsNowhereIsHandedOnAgain) {
  const std::string lost = world.enqueue("lost");
  const std::string sent_one = error_message("other");
  sql("DELETE FROM notification_queue");
  sql("DELETE FROM notification_inbox WHERE message_id = '" + lost + "'");
  sql("UPDATE notification_counter SET value = value - 1 WHERE bucket = 0 AND name = 'inbox.ERROR'");
  EXPECT_EQ(world.status().unaccounted, 1);
  EXPECT_EQ(world.reconcile().republished, 1);
  EXPECT_EQ(world.outbox(lost), OutboxState::kPending);
  EXPECT_EQ(world.outbox(sent_one), OutboxState::kPublished);
  EXPECT_TRUE(alert_open("republished"));
  world.check_accounts();
  world.relay_all();
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(lost), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Reconciling, WhatABrokerMayHoldIsLeftAloneForAWhile) {
  world.broker = std::make_unique<Broker>();
  const std::string id = world.enqueue("k1");
  world.relay_all();
  EXPECT_EQ(world.reconcile().republished, 0);
  world.clock.advance(2h);
  EXPECT_EQ(world.reconcile().republished, 1);
  world.relay_all();
  EXPECT_EQ(world.broker->depth(), 2U);  // the inbox stops the second copy
  world.work_all([&](const Call&) { return sent(); });
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
}

TEST_F(Reconciling, ACounterThatDriftedIsMended) {
  world.enqueue("k1");
  world.relay_all();
  sql("UPDATE notification_counter SET value = value + 5 WHERE bucket = 0 AND name = 'outbox.PUBLISHED'");
  const ReconcileSummary summary = world.reconcile();
  EXPECT_EQ(summary.mended, 1);
  EXPECT_EQ(summary.republished, 0);
  EXPECT_TRUE(alert_open("counters"));
  world.check_accounts();
}

// --- alerts -------------------------------------------------------------------------------------------------

TEST_F(Reconciling, ABacklogIsAnAlertUntilItIsGone) {
  world.enqueue("k1");
  world.clock.advance(61min);
  world.reconcile();
  EXPECT_TRUE(alert_open("backlog"));
  EXPECT_FALSE(alert_open("run-missing"));  // nothing ever ran here
  world.relay_all();
  world.work_all(always_sent);
  world.reconcile();
  EXPECT_FALSE(alert_open("backlog"));
}

TEST_F(Reconciling, ARelayThatNoLongerRunsIsMissedWhenThereIsSomethingToDo) {
  Process& relay = world.start(Process::Kind::kRelay);
  ASSERT_TRUE(
      world.observer().write([&] { return world.observer().runs().end(relay.run(), true, "{}", world.clock.now()); }));
  world.kill(relay);
  world.clock.advance(2h);
  world.reconcile();
  EXPECT_FALSE(alert_open("run-missing"));
  world.enqueue("k1");
  world.reconcile();
  EXPECT_TRUE(alert_open("run-missing"));
  Process& service = world.start(Process::Kind::kRelay);  // it runs and never ends
  world.reconcile();
  EXPECT_FALSE(alert_open("run-missing"));
  world.kill(service);
}

TEST_F(Reconciling, ManyParkedAtOnceAreAnAlert) {
  world.config.alerts.parked_growth = 3;
  world.reconcile();
  for (int i = 0; i < 5; ++i) world.enqueue("k" + std::to_string(i), "nobody-configured-this");
  world.relay_all();
  world.work_all(always_sent);
  world.reconcile();
  EXPECT_TRUE(alert_open("parked-growth"));
  world.clock.advance(2h);
  world.reconcile();
  EXPECT_FALSE(alert_open("parked-growth"));
  EXPECT_TRUE(alert_open("parked"));
}

TEST_F(Reconciling, AnotherReasonIsAnotherAlert) {
  error_message("k1");
  world.enqueue("k2");
  world.relay_all();
  world.work_all([](const Call&) {
    Outcome outcome = unknown();
    outcome.reason = "http-500";
    return outcome;
  });
  const auto open = world.open_alerts();
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[0].subject, "sms: http-500");
  EXPECT_EQ(open[1].subject, "sms: timeout");
}

class Telling : public Reconciling {
 protected:
  std::int64_t tell(bool exec_done = true) {
    AlertTeller teller(world.observer(), world.clock, world.config.alerts);
    const auto due = teller.due();
    EXPECT_TRUE(due);
    return *teller.tell(*due, exec_done);
  }
};

TEST_F(Telling, OnceAndAgainAfterAWhileWhileItIsOpen) {
  world.config.alerts.exec = {"/bin/page"};
  error_message();
  EXPECT_EQ(tell(false), 0);
  EXPECT_EQ(tell(), 1);
  EXPECT_EQ(tell(), 0);
  error_message("k2");
  EXPECT_EQ(tell(), 0) << "the same alert, counted once more";
  world.clock.advance(61min);
  EXPECT_EQ(tell(), 1);
}

TEST_F(Telling, AnAlertThatIsOverBeforeAnybodyLookedIsToldToo) {
  world.config.alerts.exec = {"/bin/page"};
  const std::string id = error_message();
  world.reconcile({accepted(id)});
  EXPECT_TRUE(world.open_alerts().empty());
  EXPECT_EQ(tell(), 1);
  world.clock.advance(24h);
  EXPECT_EQ(tell(), 0);
}

TEST_F(Telling, F47_ByAChannelAsAMessageThatRaisesNone) {
  world.add_channel("ops");
  world.config.alerts.channel = "ops";
  world.config.alerts.to = "oncall";
  error_message();
  EXPECT_EQ(tell(), 1);
  EXPECT_EQ(world.status().outbox.pending, 1);
  world.relay_all();
  world.work_all(always_unknown);
  EXPECT_EQ(world.status().inbox.error, 2);
  EXPECT_EQ(world.open_alerts().size(), 1U);
  world.reconcile();
  EXPECT_EQ(tell(), 0);
  world.check_accounts();
}

TEST_F(Telling, TheAlertsOwnChannelIsNotToldOfItself) {
  world.config.alerts.channel = "sms";
  world.config.alerts.to = "oncall";
  error_message();
  EXPECT_EQ(tell(), 0);
  EXPECT_EQ(world.status().outbox.pending, 0);
  world.config.alerts.exec = {"/bin/page"};
  EXPECT_EQ(tell(), 1);
}

TEST_F(Telling, AlertsOfTheirOwnChannelCrowdOutNoOthers) {
  world.config.alerts.channel = "sms";
  world.config.alerts.to = "oncall";
  ASSERT_TRUE(world.observer().write([&]() -> Result<void> {
    for (int i = 0; i < 250; ++i)
      TRY(world.observer().alerts().raise("parked", "sms: reason-" + std::to_string(i), {}, {}, world.clock.now()));
    return world.observer().alerts().raise("parked", "mail: refused", {}, {}, world.clock.now());
  }));
  EXPECT_EQ(tell(), 1);
}

TEST_F(Telling, AProgramThatFailedIsNoReasonForASecondMessage) {
  world.add_channel("ops");
  world.config.alerts.channel = "ops";
  world.config.alerts.to = "oncall";
  world.config.alerts.exec = {"/bin/page"};
  error_message();
  EXPECT_EQ(tell(false), 0);
  EXPECT_EQ(tell(false), 0);
  EXPECT_EQ(tell(true), 1);
  EXPECT_EQ(world.status().outbox.pending, 1);
  world.check_accounts();
}

}  // namespace
}  // namespace notify::sim

// What reconcile does with a message, step by step, over the real store: claims and receipts.

#include "sim/reconciling.hpp"

namespace notify::sim {
namespace {

// --- claims -------------------------------------------------------------------------------------------------

TEST_F(Reconciling, Row8_ADeadWorkersClaimBecomesErrorWithoutAnotherWorker) {
  const std::string id = world.enqueue("k1");
  world.kill(calling(id));
  EXPECT_EQ(world.reconcile().errors, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_TRUE(alert_open("stale"));
  run_on(3);
  EXPECT_EQ(world.vendor.received(id), 1);
  world.check_accounts();
}

TEST_F(Reconciling, AClaimOfALivingWorkerEndsByTime) {
  const std::string id = world.enqueue("k1");
  calling(id);
  EXPECT_EQ(world.reconcile().errors, 0);
  world.clock.advance(11min);
  EXPECT_EQ(world.reconcile().errors, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  world.check_accounts();
}

TEST_F(Reconciling, ARestingClaimWhoseWindowIsOverIsError) {
  ChannelConfig& hook = world.add_channel("hook");
  hook.semantics = Semantics::kAtLeastOnce;
  hook.idempotency_window = 1h;
  const std::string id = world.enqueue("k1", "hook");
  world.relay_all();
  world.work_all(always_unknown);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  world.clock.advance(30min);
  EXPECT_EQ(world.reconcile().errors, 0);
  world.clock.advance(2h);
  EXPECT_EQ(world.reconcile().errors, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  world.check_accounts();
}

TEST_F(Reconciling, Row12b_AReleaseThatComesTooLateLeavesAnErrorAndAnAlert) {
  const std::string id = world.enqueue("k1");
  Process& frozen = calling(id);
  world.clock.advance(20min);
  world.reconcile();
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  frozen.back.push_back({frozen.calls.front(), not_sent()});
  ASSERT_TRUE(frozen.worker_turn());
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_TRUE(alert_open("release-failed"));
  run_on(3);
  EXPECT_EQ(world.vendor.received(id), 1);
  world.check_accounts();
}

TEST_F(Reconciling, Row10_AResultThatCannotBeWrittenIsKeptAndNoNewWorkIsTaken) {
  const std::string id = world.enqueue("k1");
  Process& worker = calling(id);
  const std::string next = world.enqueue("k2");
  world.relay_all();
  worker.back.push_back({worker.calls.front(), sent()});
  worker.calls.clear();
  ASSERT_TRUE(worker.store().database().execute("PRAGMA query_only = 1"));
  EXPECT_FALSE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  ASSERT_TRUE(worker.store().database().execute("PRAGMA query_only = 0"));
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Reconciling, Row10_WhenItsWorkerDiesMeanwhileItIsErrorAndNotSentAgain) {
  const std::string id = world.enqueue("k1");
  Process& worker = calling(id);
  worker.back.push_back({worker.calls.front(), sent()});
  ASSERT_TRUE(worker.store().database().execute("PRAGMA query_only = 1"));
  EXPECT_FALSE(worker.worker_turn());
  world.kill(worker);
  world.reconcile();
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  run_on(3);
  EXPECT_EQ(world.vendor.received(id), 1);
  world.reconcile({accepted(id)});
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

TEST_F(Reconciling, ADeadReconcilersRunIsClosed) {
  Process& dead = world.start(Process::Kind::kReconciler);
  world.kill(dead);
  world.reconcile();
  EXPECT_EQ(*world.observer().database().integer("SELECT count(*) FROM notification_run WHERE outcome = 'dead'"), 1);
}

// --- receipts -----------------------------------------------------------------------------------------------

TEST_F(Reconciling, Row24_AnAcceptanceSettlesAnErrorOnce) {
  const std::string id = error_message();
  const ReconcileSummary first = world.reconcile({accepted(id)});
  EXPECT_EQ(first.receipts, 1);
  EXPECT_EQ(first.settled, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_FALSE(alert_open("error"));
  const ReconcileSummary again = world.reconcile({accepted(id)});
  EXPECT_EQ(again.known, 1);
  EXPECT_EQ(again.receipts, 0);
  EXPECT_EQ(again.settled, 0);
  world.check_accounts();
}

TEST_F(Reconciling, Row24_AReceiptThatComesBeforeTheResultStands) {
  for (const Outcome& late : {sent(), unknown(), refused()}) {
    const std::string id = world.enqueue("k-" + late.reason);
    Process& worker = calling(id);
    EXPECT_EQ(world.reconcile({accepted(id)}).settled, 1);
    EXPECT_EQ(world.inbox(id), InboxState::kSent);
    worker.back.push_back({worker.calls.front(), late});
    worker.calls.clear();
    ASSERT_TRUE(worker.worker_turn());
    EXPECT_EQ(world.inbox(id), InboxState::kSent);
    EXPECT_EQ(world.status().queue.total(), 0);
    world.kill(worker);
    run_on(1);
    EXPECT_EQ(world.vendor.received(id), 1);
    world.check_accounts();
  }
}

TEST_F(Reconciling, Row24_AnAcceptanceAfterAReplayStopsTheSecondCall) {
  const std::string pending = error_message("pending");
  const std::string queued = error_message("queued");
  world.replay(queued);
  world.relay_all();
  world.replay(pending);
  EXPECT_EQ(world.reconcile({accepted(pending), accepted(queued)}).settled, 2);
  world.check_accounts();
  world.relay_all();
  world.work_all([](const Call&) {
    ADD_FAILURE() << "called again";
    return sent();
  });
  EXPECT_EQ(world.inbox(pending), InboxState::kSent);
  EXPECT_EQ(world.inbox(queued), InboxState::kSent);
  EXPECT_EQ(world.outbox(pending), OutboxState::kPublished);
  EXPECT_EQ(world.status().queue.total(), 0);
  world.check_accounts();
}

TEST_F(Reconciling, Row24_EvenWhenTheReplayedMessageHasBeenClosedSince) {
  const std::string id = error_message();
  world.replay(id);
  ASSERT_TRUE(world.observer().write([&]() -> Result<void> {
    TRY_ASSIGN(const auto row, world.observer().outbox().find(id));
    TRY(world.observer().outbox().finish(*row, OutboxState::kExpired, "expired", world.clock.now()));
    return {};
  }));
  world.reconcile({accepted(id)});
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_EQ(world.outbox(id), OutboxState::kPublished);
  world.check_accounts();
}

TEST_F(Reconciling, AnAcceptanceOverrulesARefusalAndEmptiesTheParkingLot) {
  const std::string failed = world.enqueue("failed");
  world.relay_all();
  world.work_all([](const Call&) { return refused(); });
  EXPECT_EQ(world.status().parked.total, 1);
  world.reconcile({accepted(failed)});
  EXPECT_EQ(world.inbox(failed), InboxState::kSent);
  EXPECT_EQ(world.status().parked.total, 0);
  world.check_accounts();
}

TEST_F(Reconciling, Row24_ARefusalEndsItsOwnErrorAndParksIt) {
  const std::string id = error_message();
  EXPECT_EQ(world.reconcile({refusal(id)}).settled, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
  EXPECT_EQ(world.status().parked.total, 1);
  EXPECT_EQ(world.status().parked.reasons.front().first, "receipt-refused");
  EXPECT_TRUE(alert_open("parked"));
  world.check_accounts();
}

TEST_F(Reconciling, Row24_ARefusalOfTheFirstCallLeavesTheSecondAlone) {
  const std::string id = error_message();
  world.replay(id);
  Process& worker = calling(id);
  EXPECT_EQ(world.reconcile({refusal(id)}).settled, 0);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  worker.back.push_back({worker.calls.front(), unknown()});
  worker.calls.clear();
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(world.reconcile().settled, 0);  // which of the two calls was refused?
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  world.check_accounts();
}

TEST_F(Reconciling, ARefusalNamesItsCallByReferenceNumberOrTime) {
  const std::string id = error_message();
  Receipt other_number = refusal(id);
  other_number.attempt = 2;
  EXPECT_EQ(world.reconcile({other_number}).settled, 0);
  Receipt too_early = refusal(id);
  too_early.at = world.clock.now() - 1h;
  EXPECT_EQ(world.reconcile({too_early}).settled, 0);
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  Receipt this_one = refusal(id);
  this_one.attempt = 1;
  EXPECT_EQ(world.reconcile({this_one}).settled, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
}

TEST_F(Reconciling, ARefusalThatComesBeforeTheResultWaitsForIt) {
  const std::string id = world.enqueue("k1");
  Process& worker = calling(id);
  EXPECT_EQ(world.reconcile({refusal(id)}).settled, 0);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  world.kill(worker);
  const ReconcileSummary later = world.reconcile();
  EXPECT_EQ(later.errors, 1);
  EXPECT_EQ(later.settled, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
  world.check_accounts();
}

TEST_F(Reconciling, SentIsFinalButSomebodyIsTold) {
  const std::string id = world.enqueue("k1");
  world.relay_all();
  world.work_all(always_sent);
  EXPECT_EQ(world.reconcile({refusal(id)}).settled, 0);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_TRUE(alert_open("undelivered"));
  world.check_accounts();
}

TEST_F(Reconciling, AReferenceThatNobodyKnowsYetIsKept) {
  Receipt early;
  early.reference = "vendor-77";
  EXPECT_EQ(world.reconcile({early}).unknown, 1);
  const std::string id = world.enqueue("k1");
  world.relay_all();
  world.work_all([](const Call&) {
    Outcome outcome = unknown();
    outcome.reference = "vendor-77";
    return outcome;
  });
  EXPECT_EQ(world.inbox(id), InboxState::kError);
  EXPECT_EQ(world.reconcile().settled, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
}

TEST_F(Reconciling, AReferenceOfAnotherChannelIsNotOurs) {
  const std::string id = world.enqueue("k1");
  world.relay_all();
  world.work_all([](const Call&) {
    Outcome outcome = unknown();
    outcome.reference = "1";
    return outcome;
  });
  Receipt of_mail;
  of_mail.reference = "1";
  of_mail.channel = "mail";
  EXPECT_EQ(world.reconcile({of_mail}).settled, 0);
  of_mail.channel = "sms";
  EXPECT_EQ(world.reconcile({of_mail}).settled, 1);
}

TEST_F(Reconciling, AReceiptThatBelongsToNothingIsKeptForAWeek) {
  EXPECT_EQ(world.reconcile({accepted("nobody-00000000-1")}).unknown, 1);
  world.clock.advance(8 * 24h);
  EXPECT_EQ(world.reconcile().unknown, 1);
  EXPECT_EQ(world.reconcile().unknown, 0);
}

}  // namespace
}  // namespace notify::sim

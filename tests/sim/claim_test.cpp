// The claim: who calls, and what stops it.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "sim/world.hpp"
#include "store/sqlite/database.hpp"

namespace notify::sim {
namespace {

// A copy of what somebody is calling right now is put back, whatever the copy looks like.
TEST(Claim, ACopyOfALiveClaimIsNeverAcked) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& first = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(first.worker_turn());
  ASSERT_TRUE(first.worker_turn());
  ASSERT_EQ(first.calls.size(), 1U);
  world.execute("UPDATE notification_queue SET leased_by = NULL, lease_token = NULL, lost_leases = 99");
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(id), InboxState::kSending);
  EXPECT_EQ(world.status().parked.total, 0);
  EXPECT_EQ(world.observer().database().integer("SELECT count(*) FROM notification_queue"), 1);
}

// Two turns: the first leases, the second claims.
std::deque<Call>& claimed(Process& worker) {
  EXPECT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.worker_turn());
  return worker.calls;
}

// The process stood still, or the clock jumped: right before the call it looks at both clocks.
TEST(Claim, Row8b_WhoStoodStillDoesNotCall) {
  World world;
  const Policies policies(world.config, nullptr);
  Call call;
  call.dispatch.address = "+821000000000";
  call.claimed_at = world.clock.now();
  call.claimed_boottime = world.clock.boottime();
  const auto reason = [&] { return refuse_late(call, world.clock, policies).value_or(Outcome{}).reason; };
  world.clock.advance(5s);
  EXPECT_EQ(reason(), "");
  world.clock.wall = call.claimed_at + 5001ms;  // set forward
  EXPECT_EQ(reason(), "frozen");
  world.clock.wall = call.claimed_at - 5001ms;  // set back
  EXPECT_EQ(reason(), "frozen");
  world.clock.wall = call.claimed_at;
  EXPECT_EQ(reason(), "");
  world.clock.boot = call.claimed_boottime + 5001ms;  // suspended, with a wall clock that did not go on
  EXPECT_EQ(reason(), "frozen");
}

TEST(Claim, Row8b_TheClaimGoesBackAndTheMessageIsCalledOnce) {
  World world;
  const Policies policies(world.config, nullptr);
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_EQ(claimed(worker).size(), 1U);
  world.clock.advance(6s);
  const auto refused = refuse_late(worker.calls.front(), world.clock, policies);
  ASSERT_TRUE(refused.has_value());
  worker.back.push_back({worker.calls.front(), *refused});
  worker.calls.clear();
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_EQ(world.inbox(id), std::nullopt) << "released by its token";
  world.kill(worker);
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 1);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  world.check_accounts();
}

// A claim that is not on the disk is not a claim.
TEST(Claim, Row13_WhoseCommitFailsIsNotCalled) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  sqlite3* const database = worker.store().database().raw();
  sqlite3_commit_hook(
      database, [](void*) { return 1; }, nullptr);
  const Result<Turn> refused = worker.worker_turn();
  sqlite3_commit_hook(database, nullptr, nullptr);
  EXPECT_TRUE(!refused || refused->calls.empty());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.inbox(id), std::nullopt);
  world.clock.advance(20min);  // its lease is over
  world.kill(worker);
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 1);
  world.check_accounts();
}

// One item that cannot be written holds up no other: the group is retried one by one.
TEST(Claim, ARowThatCannotBeWrittenFailsAlone) {
  World world;
  const std::string bad = world.enqueue("k1");
  const std::string good = world.enqueue("k2");
  world.relay_all();
  world.execute("CREATE TRIGGER no_claim BEFORE INSERT ON notification_inbox WHEN NEW.message_id = '" + bad +
                "' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(good), InboxState::kSent);
  EXPECT_EQ(world.inbox(bad), std::nullopt);
  EXPECT_EQ(world.vendor.received(bad), 0);
  EXPECT_EQ(world.events.counts["work.group-failed"], 1);
  EXPECT_EQ(world.events.counts["work.claim-failed"], 1);

  world.execute("DROP TRIGGER no_claim");
  world.execute("CREATE TRIGGER no_result BEFORE UPDATE OF status ON notification_inbox WHEN NEW.message_id = '" + bad +
                "' AND NEW.status = 'SENT' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
  const std::string other = world.enqueue("k3");
  world.relay_all();
  world.clock.advance(20min);
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(other), InboxState::kSent);
  world.work_all(always_sent);
  EXPECT_EQ(world.inbox(bad), InboxState::kError) << "called, and its result could not be kept";
  EXPECT_EQ(world.events.counts["work.settle-failed"], 1);
  EXPECT_EQ(world.vendor.received(bad), 1);
}

// F06: a lease that would end during the call is given back before the claim, and nobody counts it.
TEST(Claim, ALeaseThatIsAlmostOverIsGivenBack) {
  World world;
  const std::string id = world.enqueue("k1");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  ASSERT_TRUE(worker.worker_turn());
  world.clock.advance(world.config.queue.lease - world.config.channels[0].timeout);
  ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty());
  EXPECT_EQ(world.inbox(id), std::nullopt);
  EXPECT_EQ(world.observer().database().integer("SELECT max(lost_leases) FROM notification_queue"), 0);
  world.kill(worker);
  world.work_all(always_sent);
  EXPECT_EQ(world.vendor.received(id), 1);
}

// F56: a vendor that never answers holds its own calls, and nobody else's.
TEST(Claim, AVendorThatHangsHoldsUpNoOtherChannel) {
  World world;
  world.config.channels[0].concurrency = 4;
  world.add_channel("hook").concurrency = 4;
  for (int i = 0; i < 40; ++i) world.enqueue("slow" + std::to_string(i), "sms", 9);
  for (int i = 0; i < 40; ++i) world.enqueue("quick" + std::to_string(i), "hook");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  int hanging = 0;
  for (int turn = 0; turn < 100; ++turn) {
    ASSERT_TRUE(worker.worker_turn());
    for (; !worker.calls.empty(); worker.calls.pop_front()) {
      if (worker.calls.front().dispatch.envelope.channel == "sms")
        ++hanging;
      else
        worker.back.push_back({worker.calls.front(), sent()});
    }
  }
  EXPECT_EQ(hanging, 4);
  EXPECT_EQ(world.status().inbox.sent, 40);
}

}  // namespace
}  // namespace notify::sim

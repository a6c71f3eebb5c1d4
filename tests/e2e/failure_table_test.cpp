// The rows of the failure table of docs/guarantees.md, each with a process that really dies there: _exit at a named
// crash point, against a vendor that logs a request before it answers. Rows that need no dying process are here too.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

class FailureTable : public ::testing::Test {
 protected:
  FailureTable() { machine.configure_webhook(stub.url()); }

  void relay_and_work() {
    machine.ok({"relay"});
    const Ran ran = machine.run({"work", "--drain"});
    EXPECT_EQ(ran.status, 0) << ran.err;
  }

  std::map<std::string, int> received() {
    std::map<std::string, int> count;
    for (const auto& line : stub.log()) count[line.value("id", "")] += 1;
    return count;
  }

  StubProcess stub{};
  Machine machine{};
};

const Words kEnqueue{"enqueue", "--channel", "hook", "--to", "+821000000000", "--key", "k1", "--body", "hello"};

TEST_F(FailureTable, Row1_EnqueueDiesBeforeItsCommit) {
  machine.ok({"init"});
  EXPECT_EQ(machine.crash("enqueue-before-commit", kEnqueue).status, kCrashed);
  EXPECT_EQ(machine.status()["outbox"]["PENDING"], 0);
  machine.enqueue("k1");
  EXPECT_EQ(machine.status()["outbox"]["PENDING"], 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row1b_EnqueueDiesAfterItsCommitAndF04_ARerunFindsItsOwnMessage) {
  const Ran died = machine.crash("enqueue-after-commit", kEnqueue);
  EXPECT_EQ(died.status, kCrashed);
  EXPECT_EQ(died.out, "");
  const Ran again = machine.run(kEnqueue);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out, "");
  EXPECT_EQ(machine.status()["outbox"]["PENDING"], 1);
  relay_and_work();
  EXPECT_EQ(received().size(), 1U);
  machine.check_accounts();
}

TEST_F(FailureTable, Row2_NothingRelaysForAWhile) {
  const std::string late = machine.enqueue("late");
  const std::string gone = machine.enqueue("gone", {"--expires", "+1s"});
  ASSERT_TRUE(eventually([&] {
    machine.ok({"relay"});
    return machine.status()["outbox"]["EXPIRED"] == 1 || machine.status()["outbox"]["PUBLISHED"] == 2;
  }));
  relay_and_work();
  EXPECT_EQ(machine.inbox(late), "SENT");
  // Whichever looked first after the second was over said so; it was sent only if it was in time.
  const auto log = received();
  EXPECT_LE(log.count(gone), 1U);
  machine.check_accounts();
}

TEST_F(FailureTable, Row2_PastItsExpiryItIsExpiredWithAnAlert) {
  const std::string id = machine.enqueue("gone", {"--expires", "+1s"});
  sleep(2);
  relay_and_work();
  EXPECT_EQ(machine.status()["outbox"]["EXPIRED"], 1);
  EXPECT_EQ(machine.status()["alerts_open"], 1);
  EXPECT_EQ(received().size(), 0U);
  machine.check_accounts();
}

TEST_F(FailureTable, Row3_RelayDiesAfterTheClaim) {
  const std::string id = machine.enqueue("k1");
  EXPECT_EQ(machine.crash("relay-after-claim", {"relay"}).status, kCrashed);
  // Claiming and publishing are one transaction here; with a broker (tests/sim) the row would be PUBLISHING.
  EXPECT_EQ(machine.status()["outbox"]["PENDING"], 1);
  relay_and_work();  // at once: no lease is waited for
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(received().at(id), 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row5_RelayDiesBetweenConfirmAndMark) {
  const std::string id = machine.enqueue("k1");
  EXPECT_EQ(machine.crash("relay-after-publish", {"relay"}).status, kCrashed);
  relay_and_work();
  EXPECT_EQ(received().at(id), 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row5_RelayDiesAfterTheMark) {
  const std::string id = machine.enqueue("k1");
  EXPECT_EQ(machine.crash("relay-after-mark", {"relay"}).status, kCrashed);
  relay_and_work();
  EXPECT_EQ(received().at(id), 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row7_WorkerDiesBeforeTheClaim) {
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  EXPECT_EQ(machine.crash("work-after-receive", {"work", "--drain"}).status, kCrashed);
  EXPECT_EQ(machine.crash("work-before-claim-commit", {"work", "--drain"}).status, kCrashed);
  EXPECT_EQ(received().size(), 0U);
  relay_and_work();
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(received().at(id), 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row8_F04_WorkerDiesAfterTheClaim) {
  for (const char* point : {"work-after-claim", "work-before-call"}) {
    SCOPED_TRACE(point);
    const std::string id = machine.enqueue(point);
    machine.ok({"relay"});
    EXPECT_EQ(machine.crash(point, {"work", "--drain"}).status, kCrashed);
    EXPECT_EQ(machine.inbox(id), "SENDING");
    relay_and_work();
    EXPECT_EQ(machine.inbox(id), "ERROR");
    EXPECT_EQ(received().count(id), 0U);
  }
  EXPECT_EQ(machine.status()["alerts_open"], 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row8_WorkerDiesAfterTheVendorAccepted) {
  for (const char* point : {"work-after-call", "work-before-settle-commit"}) {
    SCOPED_TRACE(point);
    const std::string id = machine.enqueue(point);
    machine.ok({"relay"});
    EXPECT_EQ(machine.crash(point, {"work", "--drain"}).status, kCrashed);
    EXPECT_EQ(received().at(id), 1);
    relay_and_work();
    EXPECT_EQ(machine.inbox(id), "ERROR");
    EXPECT_EQ(received().at(id), 1) << "sent twice";
  }
  machine.check_accounts();
}

TEST_F(FailureTable, Row11_WorkerDiesAfterTheResultIsDurable) {
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  EXPECT_EQ(machine.crash("work-after-settle", {"work", "--drain"}).status, kCrashed);
  EXPECT_EQ(machine.inbox(id), "SENT");
  relay_and_work();
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(received().at(id), 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row6b_AFrozenRelaysLateWritesChangeNothing) {
  std::string lines;
  for (int i = 0; i < 2000; ++i)
    lines += R"({"channel":"hook","to":"x","key":"k)" + std::to_string(i) +
             R"(","body":"b"})"
             "\n";
  EXPECT_EQ(machine.run({"enqueue", "--jsonl", "-"}, lines).status, 0);
  Running relay = machine.start({"relay", "--batch", "1"});
  ASSERT_TRUE(eventually([&] { return machine.status()["outbox"]["PUBLISHED"] > 0 || relay.ended(); }));
  // Frozen while it holds the write lock it holds up other writers, as any SQLite program would; elsewhere nobody.
  relay.signal(SIGSTOP);
  const Ran other = machine.run({"relay", "--max", "10"});
  EXPECT_TRUE(other.status == 0 || other.status == 75) << other.err;
  relay.signal(SIGCONT);
  EXPECT_EQ(relay.wait().status, 0);
  machine.ok({"relay"});
  EXPECT_EQ(machine.status()["outbox"]["PUBLISHED"], 2000);
  EXPECT_EQ(machine.run({"work", "--drain"}).status, 0);
  for (const auto& [id, count] : received()) EXPECT_EQ(count, 1) << id;
  EXPECT_EQ(received().size(), 2000U);
  machine.check_accounts();
}

TEST_F(FailureTable, Row8b_AWorkerFrozenBetweenClaimAndCallDoesNotCall) {
  // The process is stopped at a random place; whatever it had claimed and not called within 5 seconds goes back.
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += R"({"channel":"hook","to":"x","key":"k)" + std::to_string(i) +
             R"(","body":"b"})"
             "\n";
  EXPECT_EQ(machine.run({"enqueue", "--jsonl", "-"}, lines).status, 0);
  machine.ok({"relay"});
  Running worker = machine.start({"work", "--drain"});
  ASSERT_TRUE(eventually([&] { return stub.log().size() > 100 || worker.ended(); }));
  worker.signal(SIGSTOP);
  sleep(6);
  worker.signal(SIGCONT);
  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_EQ(machine.run({"work", "--drain"}).status, 0);
  for (const auto& [id, count] : received()) EXPECT_EQ(count, 1) << id;
  EXPECT_EQ(machine.status()["inbox"]["SENDING"], 0);
  machine.check_accounts();
}

TEST_F(FailureTable, Row16_F11_PoisonIsParkedAfterOneLookAndTheQueueMovesOn) {
  Words to_nobody = kEnqueue;
  to_nobody[2] = "nosuchchannel";
  EXPECT_EQ(machine.run(to_nobody).status, 0);
  for (int i = 0; i < 20; ++i) machine.enqueue("good" + std::to_string(i));
  relay_and_work();
  EXPECT_EQ(machine.status()["inbox"]["SENT"], 20);
  EXPECT_EQ(machine.status()["parked"]["reasons"]["unknown-channel"], 1);
  machine.check_accounts();
}

TEST_F(FailureTable, Row17_AMessageThatKillsItsWorkersIsParkedAtTheDeliveryLimit) {
  machine.configure_webhook(stub.url(), "[queue]\ndelivery_limit = 3\n");
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(machine.crash("work-after-receive", {"work", "--drain"}).status, kCrashed);
  }
  relay_and_work();
  EXPECT_EQ(machine.status()["parked"]["reasons"]["delivery-limit"], 1);
  EXPECT_EQ(received().size(), 0U);
  machine.check_accounts();
}

TEST_F(FailureTable, Row18_SigtermWithCallsInFlightFinishesThem) {
  machine.configure_webhook(stub.url("slow:1"), "concurrency = 8\n");
  for (int i = 0; i < 20; ++i) machine.enqueue("k" + std::to_string(i));
  machine.ok({"relay"});
  Running worker = machine.start({"work"});
  ASSERT_TRUE(eventually([&] { return !stub.log().empty(); }));
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait().status, 0);
  const auto report = machine.status();
  EXPECT_EQ(report["inbox"]["SENDING"], 0);
  EXPECT_EQ(report["inbox"]["ERROR"], 0);
  EXPECT_EQ(report["inbox"]["SENT"], stub.log().size());
  EXPECT_EQ(report["queue"]["leased"], 0);
  machine.check_accounts();
}

TEST_F(FailureTable, Row9_TheVendorHasItAndNobodyKnows) {
  for (const char* mode : {"rst", "close", "code:500", "half-status", "not-http"}) {
    SCOPED_TRACE(mode);
    machine.configure_webhook(stub.url(mode));
    const std::string id = machine.enqueue(mode);
    relay_and_work();
    EXPECT_EQ(machine.inbox(id), "ERROR");
    relay_and_work();
    EXPECT_EQ(received().at(id), 1);
  }
  machine.check_accounts();
}

TEST_F(FailureTable, Row9b_WithAnIdempotencyKeyItIsSentAgainWithTheSameKey) {
  machine.configure_webhook(stub.url("close"), "semantics = \"at-least-once\"\nretry = [\"100ms\", \"100ms\"]\n");
  const std::string id = machine.enqueue("k1");
  relay_and_work();
  const auto log = stub.log();
  EXPECT_EQ(log.size(), 3U);
  for (const auto& line : log) EXPECT_EQ(line.at("id"), id);
  EXPECT_EQ(machine.inbox(id), "ERROR");  // the ladder is over, and it is never a release
  machine.check_accounts();
}

TEST_F(FailureTable, Row12_F08_CertainlyNotSentIsTriedAgainAndThenParked) {
  machine.configure_webhook(stub.url("code:503"), "not_sent = [503]\nretry = [\"50ms\", \"50ms\"]\n");
  const std::string id = machine.enqueue("k1");
  relay_and_work();
  EXPECT_EQ(stub.log().size(), 3U);
  EXPECT_EQ(machine.inbox(id), "");
  EXPECT_EQ(machine.status()["parked"]["reasons"]["retries-exhausted"], 1);
  machine.check_accounts();
}

TEST_F(FailureTable, F02_AReusedConnectionThatDiesDoesNotPostTwice) {
  machine.configure_webhook(stub.url("rst2"), "concurrency = 1\n");
  const std::string first = machine.enqueue("k1");
  const std::string second = machine.enqueue("k2");
  relay_and_work();
  EXPECT_EQ(received().at(first), 1);
  EXPECT_EQ(received().at(second), 1);
  EXPECT_EQ(machine.inbox(first), "SENT");
  EXPECT_EQ(machine.inbox(second), "ERROR");
  machine.check_accounts();
}

}  // namespace
}  // namespace notify::test

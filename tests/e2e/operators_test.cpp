// Operators' commands as they are typed, and what is left when they die in the middle (rows 21 and 25 of the failure table
// are in tests/sim/operators_test.cpp, too, step by step).

#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

class Operators : public ::testing::Test {
 protected:
  Operators() { machine.configure_webhook(stub.url()); }
  ~Operators() override { machine.check_accounts(); }

  void deliver() {
    machine.ok({"relay"});
    const Ran ran = machine.run({"work", "--drain"});
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  std::map<std::string, int> received() {
    std::map<std::string, int> count;
    for (const auto& line : stub.log()) count[line.value("id", "")] += 1;
    return count;
  }
  // Refused by the vendor: FAILED and parked. The vendor is well again afterwards.
  std::vector<std::string> parked(int count) {
    machine.configure_webhook(stub.url("code:400"));
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) ids.push_back(machine.enqueue("k" + std::to_string(i)));
    deliver();
    EXPECT_EQ(machine.status()["parked"]["total"], count);
    machine.configure_webhook(stub.url());
    return ids;
  }

  StubProcess stub{};
  Machine machine{};
};

TEST_F(Operators, ReplayDiesBeforeItsCommit) {
  const auto ids = parked(2);
  EXPECT_EQ(machine.crash("replay-before-commit", {"replay", "--parked", "--yes"}).status, kCrashed);
  EXPECT_EQ(machine.status()["parked"]["total"], 2) << "nothing has moved";
  EXPECT_EQ(machine.inbox(ids[0]), "FAILED");
  machine.ok({"replay", "--parked", "--yes"});
  deliver();
  for (const std::string& id : ids) EXPECT_EQ(machine.inbox(id), "SENT");
}

TEST_F(Operators, ReplayDiesAfterItsCommitAndARerunChangesNothing) {
  const auto ids = parked(2);
  EXPECT_EQ(machine.crash("replay-after-commit", {"replay", ids[0], ids[1], "--yes"}).status, kCrashed);
  EXPECT_EQ(machine.status()["outbox"]["PENDING"], 2);
  const Ran again = machine.run({"replay", ids[0], ids[1], "--yes", "--json"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out).at("unchanged"), 2);
  deliver();
  for (const auto& [id, count] : received()) EXPECT_EQ(count, 2) << "refused once, sent once: " << id;
}

TEST_F(Operators, ParkAndDropDieAroundTheirCommits) {
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  EXPECT_EQ(machine.crash("park-before-commit", {"park", "add", id, "--reason", "hold"}).status, kCrashed);
  EXPECT_EQ(machine.status()["queue"]["ready"], 1);
  EXPECT_EQ(machine.crash("park-after-commit", {"park", "add", id, "--reason", "hold"}).status, kCrashed);
  machine.ok({"park", "add", id, "--reason", "hold"});
  EXPECT_EQ(machine.status()["parked"]["reasons"]["hold"], 1);
  deliver();
  EXPECT_EQ(received().size(), 0U);
  EXPECT_EQ(machine.crash("park-before-commit", {"park", "drop", id, "--reason", "over"}).status, kCrashed);
  EXPECT_EQ(machine.inbox(id), "");
  EXPECT_EQ(machine.crash("park-after-commit", {"park", "drop", id, "--reason", "over"}).status, kCrashed);
  machine.ok({"park", "drop", id, "--reason", "over"});
  EXPECT_EQ(machine.inbox(id), "SKIPPED");
}

TEST_F(Operators, CancelDiesAroundItsCommit) {
  const std::string early = machine.enqueue("k1");
  EXPECT_EQ(machine.crash("cancel-before-commit", {"cancel", early}).status, kCrashed);
  EXPECT_EQ(machine.status()["outbox"]["PENDING"], 1);
  EXPECT_EQ(machine.crash("cancel-after-commit", {"cancel", early}).status, kCrashed);
  machine.ok({"cancel", early});
  deliver();
  EXPECT_EQ(machine.status()["outbox"]["SKIPPED"], 1);
  EXPECT_EQ(received().size(), 0U);
}

TEST_F(Operators, PruneDiesAroundItsCommit) {
  const std::string id = machine.enqueue("k1");
  deliver();
  sleep(2);
  EXPECT_EQ(machine.crash("prune-before-commit", {"prune", "--older-than", "1s"}).status, kCrashed);
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(machine.crash("prune-after-commit", {"prune", "--older-than", "1s"}).status, kCrashed);
  EXPECT_EQ(machine.status()["outbox"]["PUBLISHED"], 0);
  machine.ok({"prune", "--older-than", "1s"});
  EXPECT_EQ(machine.enqueue("k1"), id) << "the key is used for ever";
  deliver();
  EXPECT_EQ(received().at(id), 1);
}

TEST_F(Operators, Row21_AParkedMessageThatWasSentAllTheSame) {
  // Held back, given free and sent; somebody who still has its id replays it once more.
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  machine.ok({"park", "add", id, "--reason", "hold"});
  machine.ok({"replay", id, "--yes"});
  deliver();
  const Ran ran = machine.run({"replay", id, "--yes", "--accept-duplicates"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("already sent"), std::string::npos) << ran.err;
  deliver();
  EXPECT_EQ(received().at(id), 1);
}

TEST_F(Operators, Row25_CancelRacesTheWorkers) {
  std::string lines;
  for (int i = 0; i < 300; ++i)
    lines += R"({"channel":"hook","to":"x","key":"k)" + std::to_string(i) + R"(","body":"b"})" + "\n";
  EXPECT_EQ(machine.run({"enqueue", "--jsonl", "-"}, lines).status, 0);
  machine.ok({"relay", "--max", "200"});  // the others are cancelled in the outbox
  Running worker = machine.start({"work", "--drain"});
  ASSERT_TRUE(eventually([&] { return !stub.log().empty() || worker.ended(); }));
  const Ran cancelled = machine.run({"cancel", "--key-prefix", "k", "--json"});
  EXPECT_TRUE(cancelled.status == 0 || cancelled.status == 1) << cancelled.err;
  EXPECT_EQ(worker.wait().status, 0);
  deliver();
  const auto summary = nlohmann::json::parse(cancelled.out);
  const auto report = machine.status();
  const std::int64_t stopped = summary.at("cancelled");
  EXPECT_EQ(report["outbox"]["SKIPPED"].get<std::int64_t>() + report["inbox"]["SKIPPED"].get<std::int64_t>(), stopped);
  EXPECT_EQ(received().size(), static_cast<std::size_t>(300 - stopped)) << "stopped or sent, never both";
  EXPECT_GE(stopped, 100);
  for (const auto& [id, count] : received()) EXPECT_EQ(count, 1) << id;
}

TEST_F(Operators, ReplayRacesTheWorkersAndNothingIsSentTwice) {
  const auto ids = parked(40);
  Running worker = machine.start({"work"});
  Running relay = machine.start({"relay", "--watch"});
  for (int round = 0; round < 5; ++round) {
    const Ran ran = machine.run({"replay", "--failed", "--yes"});
    EXPECT_TRUE(ran.status == 0 || ran.status == 1) << ran.err;
  }
  EXPECT_TRUE(eventually([&] { return machine.status()["inbox"]["SENT"] == 40; }));
  for (Running* service : {&worker, &relay}) service->signal(SIGTERM);
  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_EQ(relay.wait().status, 0);
  for (const auto& [id, count] : received()) EXPECT_EQ(count, 2) << "refused once, sent once: " << id;
}

TEST_F(Operators, ParkAddMeetsACallInProgress) {
  machine.configure_webhook(stub.url("slow:2"));
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  Running worker = machine.start({"work", "--drain"});
  ASSERT_TRUE(eventually([&] { return !stub.log().empty(); }));
  const Ran ran = machine.run({"park", "add", id, "--reason", "hold"});
  EXPECT_EQ(ran.status, 75) << ran.err;
  EXPECT_NE(ran.err.find("hint: "), std::string::npos);
  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_EQ(machine.inbox(id), "SENT");
}

TEST_F(Operators, ErrorIsReplayedOnlyBySayingSo) {
  machine.configure_webhook(stub.url("code:500"));
  const std::string id = machine.enqueue("k1");
  deliver();
  ASSERT_EQ(machine.inbox(id), "ERROR");
  machine.configure_webhook(stub.url());
  EXPECT_EQ(machine.run({"replay", "--error", "--yes"}).status, 64);
  EXPECT_EQ(machine.run({"replay", id, "--yes"}).status, 1);
  machine.ok({"replay", "--error", "--accept-duplicates", "--yes"});
  deliver();
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(received().at(id), 2);
}

TEST_F(Operators, IdsComeFromAnotherProgram) {
  parked(3);
  const Ran list = machine.run({"list", "parked", "--json"});
  EXPECT_EQ(machine.run({"replay", "-"}, list.out).status, 64) << "nobody can be asked";
  const Ran replayed = machine.run({"replay", "-", "--yes", "--json"}, list.out);
  EXPECT_EQ(replayed.status, 0) << replayed.err;
  EXPECT_EQ(nlohmann::json::parse(replayed.out).at("replayed"), 3);
  EXPECT_EQ(machine.run({"replay", "-", "--yes"}, "{\"id\":1}\n").status, 65);
}

TEST_F(Operators, AMendedMessageIsSentAsItReadsNow) {
  const auto ids = parked(1);
  machine.ok({"replay", ids[0], "--yes", "--set", "body=mended", "--why", "too long"});
  const auto story = nlohmann::json::parse(machine.run({"show", ids[0], "--json", "--reveal"}).out);
  EXPECT_EQ(story["outbox"]["payload"]["body"], "mended");
  EXPECT_EQ(story["outbox"]["original_payload"]["body"], "hello");
  deliver();
  EXPECT_EQ(machine.inbox(ids[0]), "SENT");
  EXPECT_EQ(machine.enqueue("k0"), ids[0]) << "the key stands for what was asked for at first";
}

}  // namespace
}  // namespace notify::test

// notifyctl reconcile as its users run it, and every crash point in it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

class Reconcile : public ::testing::Test {
 protected:
  Reconcile() { configure(); }

  void configure(const std::string& mode = "close") {
    machine.configure_webhook(stub.url(mode), "[alerts]\nexec = [\"/bin/sh\", \"-c\", \"cat >> " + told() + "\"]\n");
  }

  std::string told() const { return machine.path("told.jsonl"); }

  // A message whose vendor closed the connection: ERROR.
  std::string error_message(const std::string& key) {
    const std::string id = machine.enqueue(key);
    machine.ok({"relay"});
    machine.ok({"work", "--drain"});
    EXPECT_EQ(machine.inbox(id), "ERROR");
    return id;
  }

  nlohmann::json reconcile(Words more = {}, const std::string& input = {}, int status = 0) {
    Words words{"reconcile", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = machine.run(words, input);
    EXPECT_EQ(ran.status, status) << ran.err;
    return nlohmann::json::parse(ran.out, nullptr, false);
  }

  int times_told(const std::string& word) const {
    std::istringstream lines(machine.read("told.jsonl"));
    int times = 0;
    for (std::string line; std::getline(lines, line);) times += line.find(word) != std::string::npos ? 1 : 0;
    return times;
  }

  std::size_t calls(const std::string& id) {
    std::size_t count = 0;
    for (const auto& line : stub.log()) count += line.value("id", "") == id ? 1U : 0U;
    return count;
  }

  StubProcess stub{};
  Machine machine{};
};

std::string line(const std::string& id, const std::string& outcome) {
  return R"({"message_id":")" + id + R"(","outcome":")" + outcome + "\"}\n";
}

TEST_F(Reconcile, SaysNothingWhenAllIsWell) {
  machine.ok({"init"});
  const Ran ran = machine.run({"reconcile"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_FALSE(machine.status()["last_run"]["reconcile"].is_null());
}

TEST_F(Reconcile, Row8_EndsWhatADeadWorkerHeld) {
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  EXPECT_EQ(machine.crash("work-after-call", {"work", "--drain"}).status, kCrashed);
  EXPECT_EQ(machine.inbox(id), "SENDING");
  EXPECT_EQ(machine.crash("reconcile-after-stale", {"reconcile"}).status, kCrashed);
  EXPECT_EQ(reconcile()["errors"], 0);  // the first one had done it
  EXPECT_EQ(machine.inbox(id), "ERROR");
  EXPECT_EQ(times_told("\"stale\""), 1);
  EXPECT_EQ(calls(id), 1U);
  machine.check_accounts();
}

TEST_F(Reconcile, Row24_ReceiptsSettleAndASecondImportChangesNothing) {
  const std::string a = error_message("a");
  const std::string b = error_message("b");
  const std::string lines = line(a, "delivered") + "not json\n" + line(b, "failed") + line("unknown-1", "accepted");
  const auto first = reconcile({"--receipts", "-"}, lines, 1);
  EXPECT_EQ(first["receipts"], 3);
  EXPECT_EQ(first["settled"], 2);
  EXPECT_EQ(first["rejected"], 1);
  EXPECT_EQ(first["unknown"], 1);
  EXPECT_EQ(machine.inbox(a), "SENT");
  EXPECT_EQ(machine.inbox(b), "FAILED");
  const auto second = reconcile({"--receipts", "-"}, lines, 1);
  EXPECT_EQ(second["receipts"], 0);
  EXPECT_EQ(second["known"], 3);
  EXPECT_EQ(second["settled"], 0);
  machine.ok({"work", "--drain"});
  EXPECT_EQ(calls(a), 1U);
  EXPECT_EQ(calls(b), 1U);
  machine.check_accounts();
}

TEST_F(Reconcile, Row24_AProcessThatDiesWithReceiptsInHandLosesNone) {
  const std::string a = error_message("a");
  const std::string lines = line(a, "delivered");
  EXPECT_EQ(machine.crash("reconcile-before-receipts-commit", {"reconcile", "--receipts", "-"}, lines).status,
            kCrashed);
  EXPECT_EQ(machine.inbox(a), "ERROR");
  EXPECT_EQ(machine.crash("reconcile-after-receipts", {"reconcile", "--receipts", "-"}, lines).status, kCrashed);
  EXPECT_EQ(machine.inbox(a), "SENT");
  EXPECT_EQ(reconcile({"--receipts", "-"}, lines)["known"], 1);
  machine.check_accounts();
}

TEST_F(Reconcile, ReceiptsThatCannotBeReadAreSaidByPlace) {
  machine.ok({"init"});
  machine.write("bad.csv", "message_id,status\nx,delivered\ny,perhaps\n");
  const Ran some = machine.run({"reconcile", "--receipts", machine.path("bad.csv")});
  EXPECT_EQ(some.status, 1);
  EXPECT_NE(some.err.find("bad.csv:3: status: "), std::string::npos) << some.err;
  machine.write("worse.csv", "a,b\n1,2\n");
  EXPECT_EQ(machine.run({"reconcile", "--receipts", machine.path("worse.csv")}).status, 65);
  EXPECT_EQ(machine.run({"reconcile", "--receipts", machine.path("missing.csv")}).status, 65);
  EXPECT_EQ(machine.run({"reconcile", "--format", "csv"}).status, 64);
}

TEST_F(Reconcile, AnUnaccountedMessageIsHandedOnAgainAlsoWhenReconcileDies) {
  configure("ok");
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  const std::string remove = "sqlite3 '" + machine.database() + "' 'DELETE FROM notification_queue'";
  if (system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "needs the sqlite3 shell";
  ASSERT_EQ(system(remove.c_str()), 0);
  EXPECT_EQ(machine.status()["unaccounted"], 1);
  EXPECT_EQ(machine.crash("reconcile-after-republish", {"reconcile"}).status, kCrashed);
  machine.check_accounts();
  EXPECT_EQ(reconcile()["republished"], 0);
  machine.ok({"relay"});
  machine.ok({"work", "--drain"});
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(calls(id), 1U);
  machine.check_accounts();
}

TEST_F(Reconcile, AlertsAreToldAtLeastOnce) {
  error_message("k1");
  EXPECT_EQ(machine.crash("reconcile-after-alert-exec", {"reconcile"}).status, kCrashed);
  EXPECT_EQ(times_told("\"error\""), 1);
  EXPECT_EQ(machine.crash("reconcile-after-alerts", {"reconcile"}).status, kCrashed);
  EXPECT_EQ(times_told("\"error\""), 2);
  EXPECT_EQ(reconcile()["alerts"], 0);
  EXPECT_EQ(times_told("\"error\""), 2);
}

TEST_F(Reconcile, AProgramThatFailsIsSaidAndTriedAgain) {
  error_message("k1");
  machine.configure_webhook(stub.url(), "[alerts]\nexec = [\"/bin/sh\", \"-c\", \"echo no pager >&2; exit 3\"]\n");
  const Ran ran = machine.run({"reconcile"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("no pager"), std::string::npos) << ran.err;
  configure();
  EXPECT_EQ(reconcile()["alerts"], 1);
  EXPECT_EQ(times_told("\"error\""), 1);
}

TEST_F(Reconcile, OnlyOneRunsAndReceiptsAreTakenAllTheSame) {
  const std::string id = error_message("k1");
  machine.configure_webhook(
      stub.url(), "[alerts]\nexec = [\"/bin/sh\", \"-c\", \"touch " + machine.path("begun") + "; exec sleep 20\"]\n");
  Running first = machine.start({"reconcile"});
  ASSERT_TRUE(eventually([&] { return access(machine.path("begun").c_str(), F_OK) == 0; }));
  EXPECT_EQ(machine.run({"reconcile"}).status, 0);
  EXPECT_FALSE(first.ended());
  EXPECT_EQ(reconcile({"--receipts", "-"}, line(id, "delivered"))["settled"], 1);
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_FALSE(first.ended());
}

}  // namespace
}  // namespace notify::test

// Broadcasts as they are typed, and what is left when a process dies in the middle: each recipient endpoint gets one
// message, whoever dies where and however often anything is run again.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

class Broadcasts : public ::testing::Test {
 protected:
  Broadcasts() {
    machine.configure_webhook(stub.url());
    machine.ok({"init"});
  }
  ~Broadcasts() override { machine.check_accounts(); }

  std::string list(int recipients) {
    std::string lines;
    for (int i = 0; i < recipients; ++i) lines += "user" + std::to_string(i) + "@example.com\n";
    machine.write("list.txt", lines);
    return machine.path("list.txt");
  }
  static Words accept(const std::string& key, const std::string& recipients, const std::string& body = "closed today") {
    return {"enqueue", "--channel", "hook", "--broadcast", key, "--recipients", recipients, "--body", body, "--json"};
  }
  nlohmann::json standing(const std::string& key) {
    const Ran ran = machine.run({"status", "--broadcast", key, "--json"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return nlohmann::json::parse(ran.out);
  }
  void deliver() {
    machine.ok({"relay"});
    machine.ok({"work", "--drain"});
  }
  std::map<std::string, int> received() {
    std::map<std::string, int> count;
    for (const auto& line : stub.log()) count[nlohmann::json::parse(line.value("body", "{}")).value("to", "")] += 1;
    return count;
  }
  void expect_each_once(std::size_t recipients) {
    const auto count = received();
    EXPECT_EQ(count.size(), recipients);
    for (const auto& [to, times] : count) EXPECT_EQ(times, 1) << to;
  }

  StubProcess stub{};
  Machine machine{};
};

TEST_F(Broadcasts, EachRecipientGetsOneMessageAndARerunAddsNothing) {
  const std::string file = list(1200);
  const Ran first = machine.run(accept("closing", file));
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(nlohmann::json::parse(first.out)["created"], true);
  EXPECT_EQ(nlohmann::json::parse(first.out)["recipients"], 1200);
  EXPECT_EQ(standing("closing")["remaining"], 1200);
  deliver();
  EXPECT_EQ(nlohmann::json::parse(machine.run(accept("closing", file)).out)["created"], false);
  deliver();
  expect_each_once(1200);
  EXPECT_EQ(standing("closing")["status"], "DONE");
  EXPECT_EQ(standing("closing")["sent"], 1200);
  EXPECT_EQ(standing("closing")["remaining"], 0);
}

TEST_F(Broadcasts, WhoHadAMessageIsForgottenWhenAllHaveOne) {
  ASSERT_EQ(machine.run(accept("closing", list(1200))).status, 0);
  machine.ok({"relay"});
  const auto targets = [&] {
    FILE* pipe = popen(
        ("sqlite3 '" + machine.database() + "' 'SELECT count(*) FROM notification_broadcast_target'").c_str(), "r");
    char text[32] = {};
    const bool read = fgets(text, sizeof text, pipe) != nullptr;
    pclose(pipe);
    return read ? std::stoi(text) : -1;
  };
  if (system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "needs the sqlite3 shell";
  EXPECT_EQ(targets(), 1200) << "while it was open somebody might have had to go on";
  machine.ok({"relay"});
  EXPECT_EQ(targets(), 0);
}

TEST_F(Broadcasts, OtherContentOrRecipientsUnderTheSameKeyAreRefused) {
  ASSERT_EQ(machine.run(accept("closing", list(3))).status, 0);
  EXPECT_EQ(machine.run(accept("closing", list(3), "open today")).status, 4);
  const Ran other = machine.run(accept("closing", list(4)));
  EXPECT_EQ(other.status, 4);
  EXPECT_NE(other.err.find("fingerprint"), std::string::npos) << other.err;
  EXPECT_EQ(standing("closing")["recipients"], 3);
}

TEST_F(Broadcasts, ARecipientIsReachedAtEachEndpointAndNamedTwiceOnlyOnce) {
  machine.write("people.jsonl",
                "{\"id\":\"u1\",\"endpoints\":{\"hook\":[\"tok-a\",\"tok-b\"]},\"groups\":[\"g\"]}\n"
                "{\"id\":\"u2\",\"endpoints\":{\"hook\":[\"tok-c\"]},\"groups\":[\"g\"]}\n"
                "{\"id\":\"u3\",\"groups\":[\"g\"]}\n");
  machine.ok({"recipient", "import", machine.path("people.jsonl")});
  machine.ok({"recipient", "opt-out", "u2"});
  machine.write("list.txt", "@u1\r\n\nb@example.com\n  B@example.com \n@u1\n@u9\n@u2");
  ASSERT_EQ(machine.run(accept("mixed", machine.path("list.txt"))).status, 0);
  deliver();
  EXPECT_EQ(received(), (std::map<std::string, int>{{"tok-a", 1}, {"tok-b", 1}, {"b@example.com", 1}}));
  const auto mixed = standing("mixed");
  EXPECT_EQ(mixed["messages"], 4);
  EXPECT_EQ(mixed["repeated"], 3);
  EXPECT_EQ(mixed["unreachable"], 1);
  EXPECT_EQ(mixed["skipped"], 1) << "opted out";

  ASSERT_EQ(machine.run(accept("group", "group:g", "again")).status, 0);
  machine.ok({"recipient", "set", "u4", "--endpoint", "hook=tok-d", "--group", "g"});
  EXPECT_EQ(machine.run(accept("group", "group:g", "again")).status, 0) << "the same request, whoever has joined";
  deliver();
  EXPECT_EQ(received()["tok-d"], 0) << "the group is that of the moment it was accepted";
  EXPECT_EQ(received()["tok-a"], 2);
}

TEST_F(Broadcasts, AListWithABadLineIsNotAccepted) {
  const Ran ran = machine.run(accept("bad", "-"), "a@example.com\n\x01z\n@\n");
  EXPECT_EQ(ran.status, 65);
  EXPECT_NE(ran.err.find("\"line\":2"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("\"line\":3"), std::string::npos) << ran.err;
  EXPECT_EQ(machine.run({"status", "--broadcast", "bad"}).status, 65);
  EXPECT_EQ(machine.run(accept("empty", "-"), "\n\n").status, 65);
  EXPECT_EQ(machine.run({"enqueue", "--broadcast", "k", "--channel", "hook", "--body", "x"}).status, 64);
  EXPECT_TRUE(std::filesystem::is_empty(machine.path("notify.db-lists"))) << "nothing stays";
}

TEST_F(Broadcasts, WhoeverDiesARerunCompletesIt) {
  const std::string file = list(1200);
  for (const char* point : {"broadcast-after-spool", "broadcast-before-commit"}) {
    EXPECT_EQ(machine.crash(point, accept("closing", file)).status, kCrashed);
    EXPECT_EQ(machine.run({"status", "--broadcast", "closing"}).status, 65) << point << ": nothing was accepted";
  }
  EXPECT_EQ(machine.crash("broadcast-after-commit", accept("closing", file)).status, kCrashed);
  EXPECT_EQ(nlohmann::json::parse(machine.run(accept("closing", file)).out)["created"], false);

  EXPECT_EQ(machine.crash("relay-before-fan-out-commit", {"relay"}).status, kCrashed);
  EXPECT_EQ(standing("closing")["fanned_out"], 0);
  EXPECT_EQ(machine.crash("relay-after-fan-out", {"relay"}).status, kCrashed);
  EXPECT_EQ(standing("closing")["fanned_out"], 500);
  EXPECT_EQ(machine.crash("relay-before-fan-out-commit:2", {"relay"}).status, kCrashed);
  deliver();
  expect_each_once(1200);
}

TEST_F(Broadcasts, OverlappingRelaysMakeEachMessageOnce) {
  ASSERT_EQ(machine.run(accept("closing", list(3000))).status, 0);
  std::vector<Running> relays;
  for (int i = 0; i < 4; ++i) relays.push_back(machine.start({"relay"}));
  for (Running& relay : relays) {
    const Ran ran = relay.wait();
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  EXPECT_EQ(standing("closing")["messages"], 3000);
  EXPECT_EQ(standing("closing")["repeated"], 0);
  machine.ok({"work", "--drain"});
  expect_each_once(3000);
}

TEST_F(Broadcasts, CancelledInTheMiddleItMakesNoMore) {
  ASSERT_EQ(machine.run(accept("closing", list(1200))).status, 0);
  EXPECT_EQ(machine.crash("relay-after-fan-out", {"relay"}).status, kCrashed);
  machine.ok({"cancel", "--broadcast", "closing", "--why", "wrong day"});
  deliver();
  EXPECT_TRUE(received().empty());
  EXPECT_EQ(standing("closing")["status"], "CANCELLED");
  EXPECT_EQ(standing("closing")["skipped"], 500);
  EXPECT_EQ(standing("closing")["remaining"], 0);
}

TEST_F(Broadcasts, ALostListIsSaidAndTheSameRequestRepairsIt) {
  const std::string file = list(1200);
  ASSERT_EQ(machine.run(accept("closing", file)).status, 0);
  std::filesystem::remove_all(machine.path("notify.db-lists"));
  machine.ok({"relay"});
  EXPECT_EQ(standing("closing")["status"], "FAILED");
  EXPECT_NE(standing("closing")["reason"].get<std::string>().find("gone"), std::string::npos);
  EXPECT_NE(machine.run({"list", "alerts"}).out.find("broadcast-failed"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(machine.run(accept("closing", file)).out)["status"], "OPEN");
  deliver();
  expect_each_once(1200);

  ASSERT_EQ(machine.run(accept("second", list(3))).status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(machine.path("notify.db-lists")))
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 1);
  machine.ok({"relay"});
  EXPECT_EQ(standing("second")["status"], "FAILED") << "a list that was changed is not used";
}

}  // namespace
}  // namespace notify::test

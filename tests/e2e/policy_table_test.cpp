// The rows of the failure table that are about what may be sent to whom and when, with the program itself.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

constexpr int kDay = 24 * 60;

// The minute of the day in Seoul, which has no summer time.
int seoul_minute() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<int>((std::chrono::duration_cast<std::chrono::minutes>(now).count() + 9 * 60) % kDay);
}

std::string clock(int minute) {
  char text[8];
  (void)std::snprintf(text, sizeof text, "%02d:%02d", (minute + kDay) % kDay / 60, (minute + kDay) % 60);
  return text;
}

// Closed now, open again in half an hour; or the other way round.
std::string window(const char* who, bool closed) {
  const int from = seoul_minute() + (closed ? -30 : 60);
  return std::string(who) + " = { from = \"" + clock(from) + "\", until = \"" + clock(from + 60) + "\" }\n";
}

class PolicyTable : public ::testing::Test {
 protected:
  PolicyTable() { machine.configure_webhook(stub.url()); }

  void work() {
    const Ran ran = machine.run({"work", "--drain"});
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  void quiet_hours(bool relay_closed, bool worker_closed) {
    machine.configure("timezone = \"Asia/Seoul\"\n[quiet_hours.advertising]\n" + window("relay", relay_closed) +
                      window("worker", worker_closed) + "[channels.hook]\ndriver = \"webhook\"\nurl = \"" + stub.url() +
                      "\"\n");
  }
  std::string advertise(const std::string& key, const Words& more = {}) {
    Words words{"--category", "advertising"};
    words.insert(words.end(), more.begin(), more.end());
    return machine.enqueue(key, words);
  }
  nlohmann::json story(const std::string& id) {
    return nlohmann::json::parse(machine.run({"show", id, "--json"}).out, nullptr, false);
  }

  StubProcess stub{};
  Machine machine{};
};

TEST_F(PolicyTable, Row14_OptedOutAfterEnqueueTheRelaySkipsIt) {
  const std::string id = machine.enqueue("k1");
  machine.ok({"recipient", "opt-out", "+82 10-0000-0000"});
  machine.ok({"relay"});
  work();
  EXPECT_EQ(story(id)["outbox"]["status"], "SKIPPED");
  EXPECT_EQ(story(id)["outbox"]["reason"], "opted-out");
  EXPECT_TRUE(stub.log().empty());
  machine.check_accounts();
}

TEST_F(PolicyTable, Row14_OptedOutAfterTheRelayTheWorkerSkipsIt) {
  const std::string id = machine.enqueue("k1");
  const std::string advertising = advertise("k2");
  machine.ok({"relay"});
  machine.ok({"recipient", "opt-out", "+821000000000", "--category", "advertising"});
  work();
  EXPECT_EQ(machine.inbox(id), "SENT");
  EXPECT_EQ(story(advertising)["inbox"]["status"], "SKIPPED");
  EXPECT_EQ(story(advertising)["inbox"]["reason"], "opted-out");
  EXPECT_EQ(stub.log().size(), 1U);
  machine.check_accounts();
}

TEST_F(PolicyTable, Row15_AdvertisingOutsideItsHoursIsDeferredByTheRelay) {
  quiet_hours(true, true);
  const std::string id = advertise("k1");
  const std::string worthless = advertise("k2", {"--expires", "+20m"});
  const std::string transactional = machine.enqueue("k3");
  machine.ok({"relay"});
  work();
  EXPECT_EQ(machine.inbox(transactional), "SENT");
  EXPECT_EQ(story(id)["outbox"]["status"], "PENDING");
  EXPECT_EQ(story(id)["outbox"]["reason"], "quiet-hours");
  EXPECT_EQ(story(worthless)["outbox"]["status"], "EXPIRED");
  EXPECT_EQ(stub.log().size(), 1U);
  EXPECT_EQ(machine.status()["alerts_open"], 1);
  machine.check_accounts();
}

TEST_F(PolicyTable, Row15_AndByTheWorkerWhatTheRelayHandedOnInTime) {
  quiet_hours(false, true);
  const std::string id = advertise("k1");
  const std::string worthless = advertise("k2", {"--expires", "+20m"});
  machine.ok({"relay"});
  work();
  EXPECT_EQ(story(id)["queue"]["status"], "DELAYED");
  EXPECT_EQ(story(id)["queue"]["reason"], "quiet-hours");
  EXPECT_EQ(story(worthless)["inbox"]["status"], "SKIPPED");
  EXPECT_TRUE(stub.log().empty());
  EXPECT_EQ(machine.status()["alerts_open"], 1);
  machine.check_accounts();
}

TEST_F(PolicyTable, Row16_TextThatCannotBeSentIsParkedAndTheRestGoesOn) {
  machine.enqueue("k1", {"--body", "안녕하세요, 반갑습니다"});
  machine.enqueue("k2", {"--body", "hi 😀"});
  machine.enqueue("k3", {"--body", "안녕"});
  machine.ok({"relay"});
  machine.configure_webhook(stub.url(), "max_text_bytes = { encoding = \"EUC-KR\", limit = 10 }\n");
  work();
  EXPECT_EQ(machine.status()["parked"]["reasons"]["text-too-long"], 1);
  EXPECT_EQ(machine.status()["parked"]["reasons"]["text-not-encodable"], 1);
  EXPECT_EQ(machine.status()["inbox"]["SENT"], 1);
  const Ran refused =
      machine.run({"enqueue", "--channel", "hook", "--to", "+8210", "--body", "안녕하세요, 반갑습니다"});
  EXPECT_EQ(refused.status, 65);
  EXPECT_NE(refused.err.find("22 bytes as EUC-KR"), std::string::npos) << refused.err;
  machine.check_accounts();
}

TEST_F(PolicyTable, Row16_NoEndpointIsParkedAndADisabledOneSkipped) {
  machine.ok({"recipient", "set", "42", "--endpoint", "hook=+821000000042"});
  const Words to_42{"enqueue", "--channel", "hook", "--body", "hello", "--to", "@42", "--key"};
  const auto enqueue = [&](const std::string& key) {
    Words words = to_42;
    words.push_back(key);
    machine.ok(words);
  };
  machine.ok({"enqueue", "--channel", "hook", "--body", "hello", "--to", "@nobody"});
  enqueue("k1");
  machine.ok({"relay"});
  work();
  EXPECT_EQ(machine.status()["inbox"]["SENT"], 1);
  EXPECT_EQ(machine.status()["parked"]["reasons"]["no-endpoint"], 1);
  machine.ok({"recipient", "disable-endpoint", "42", "--channel", "hook", "--reason", "returned"});
  enqueue("k2");
  machine.ok({"relay"});
  work();
  EXPECT_EQ(machine.status()["inbox"]["SKIPPED"], 1);
  machine.check_accounts();
}

TEST_F(PolicyTable, NoSpanHasMoreCallsThanTheRateAcrossWorkersAndRestarts) {
  constexpr int kRate = 20;
  constexpr int kMessages = 60;
  machine.configure_webhook(stub.url(), "rate = \"20/s\"\n");
  for (int i = 0; i < kMessages; ++i) machine.enqueue("k" + std::to_string(i));
  machine.ok({"relay"});
  Running steady = machine.start({"work", "--drain"});
  while (stub.log().size() < kMessages) {
    Running restarted = machine.start({"work", "--drain"});
    const std::size_t before = stub.log().size();
    ASSERT_TRUE(eventually([&] { return stub.log().size() >= std::min<std::size_t>(before + 8, kMessages); }));
    restarted.signal(SIGTERM);
    EXPECT_EQ(restarted.wait().status, 0);
  }
  (void)steady.wait();
  std::vector<std::int64_t> at;
  for (const auto& line : stub.log()) at.push_back(line.at("t").get<std::int64_t>());
  std::sort(at.begin(), at.end());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto end = std::lower_bound(at.begin(), at.end(), at[i] + 1'000'000);
    // A quarter of a second may lie between a permit and the vendor's log.
    EXPECT_LE(end - at.begin() - static_cast<std::ptrdiff_t>(i), kRate + kRate / 4 + 1);
  }
  machine.check_accounts();
}

TEST_F(PolicyTable, ThreeADayIsThreeADayForAllWorkers) {
  machine.configure_webhook(stub.url(), "per_recipient = { limit = 3, per = \"1d\" }\n");
  for (int i = 0; i < 8; ++i) machine.enqueue("k" + std::to_string(i));
  machine.enqueue("other", {"--to", "+821099999999"});
  machine.ok({"relay"});
  Running first = machine.start({"work", "--drain"});
  Running second = machine.start({"work", "--drain"});
  EXPECT_EQ(first.wait().status, 0);
  EXPECT_EQ(second.wait().status, 0);
  work();
  EXPECT_EQ(stub.log().size(), 4U);
  EXPECT_EQ(machine.status()["queue"]["delayed"], 5);
  machine.check_accounts();
}

TEST_F(PolicyTable, RefusedCredentialsHaltTheChannelWithOneAlertAndNoLostTry) {
  for (const int status : {401, 403}) {
    SCOPED_TRACE(status);
    machine.configure_webhook(stub.url("code:" + std::to_string(status)), "concurrency = 1\n");
    for (int i = 0; i < 5; ++i) machine.enqueue(std::to_string(status) + "-" + std::to_string(i));
    machine.ok({"relay"});
    const std::size_t before = stub.log().size();
    EXPECT_EQ(machine.run({"work", "--drain"}).status, 69);
    EXPECT_EQ(machine.run({"work", "--drain"}).status, 69);
    EXPECT_EQ(stub.log().size(), before + 1);
    EXPECT_EQ(machine.status()["alerts_open"], 1);
    EXPECT_EQ(machine.status()["parked"]["total"], 0);
    machine.configure_webhook(stub.url());
    machine.ok({"channel", "resume", "hook"});
    work();
    EXPECT_EQ(machine.status()["queue"]["ready"], 0);
    EXPECT_EQ(machine.status()["alerts_open"], 0);
  }
  machine.check_accounts();
}

TEST_F(PolicyTable, FiveRefusedConnectsInARowHaltTheChannel) {
  machine.configure_webhook("http://127.0.0.1:1/", "concurrency = 1\n");
  for (int i = 0; i < 12; ++i) machine.enqueue("k" + std::to_string(i));
  machine.ok({"relay"});
  EXPECT_EQ(machine.run({"work", "--drain"}).status, 69);
  EXPECT_EQ(machine.status()["channels"]["hook"]["state"], "halted");
  EXPECT_EQ(machine.status()["alerts_open"], 1);
  EXPECT_EQ(machine.status()["parked"]["total"], 0);
  machine.configure_webhook(stub.url());
  machine.ok({"channel", "resume", "hook"});
  machine.ok({"work", "--drain"});
  ASSERT_TRUE(eventually([&] {
    machine.ok({"work", "--drain"});
    return machine.status()["inbox"]["SENT"] == 12;
  }));
  machine.check_accounts();
}

}  // namespace
}  // namespace notify::test

// The release binary under random SIGKILL: enqueue, relays and workers are killed at random moments while thousands
// of messages go through. Counted in the vendor's log, which it writes before it answers.
//
//   KILLS=n MESSAGES=n   how hard (default 20 and 10000); KILL_SEED=n   which sequence

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

constexpr int kConcurrency = 32;

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string lines(std::uint64_t messages) {
  std::string text;
  for (std::uint64_t i = 0; i < messages; ++i) {
    text += R"({"channel":"hook","to":"+82100000)" + std::to_string(i % 1000) + R"(","key":"k)" + std::to_string(i) +
            R"(","body":"hello"})"
            "\n";
  }
  return text;
}

class KillHarness : public ::testing::Test {
 protected:
  KillHarness() {
    machine_.configure_webhook(stub_.url(), "concurrency = " + std::to_string(kConcurrency) + "\n");
    machine_.ok({"init"});
  }

  // The processes that are kept running; each is started again when it has ended or was killed.
  struct Slot {
    Words words;
    std::string input;
    bool once;  // enqueue: done when it has succeeded
    std::unique_ptr<Running> process;
    bool done = false;
  };

  void keep_running(Slot& slot) {
    if (slot.done) return;
    if (slot.process && slot.process->ended()) {
      const int status = slot.process->wait().status;
      EXPECT_TRUE(status == 0 || status == 137) << slot.words.front() << ": " << slot.process->wait().err;
      slot.done = slot.once && status == 0;
      slot.process.reset();
    }
    if (!slot.process && !slot.done) {
      slot.process = std::make_unique<Running>(machine_.start(slot.words, slot.input));
    }
  }

  StubProcess stub_{{"--no-body"}};
  Machine machine_{};
};

TEST_F(KillHarness, NothingTwiceNothingUnaccounted) {
  const std::uint64_t kills = number("KILLS", 20);
  const std::uint64_t messages = number("MESSAGES", 10'000);
  std::mt19937_64 random(number("KILL_SEED", 7));

  std::vector<Slot> slots;
  slots.push_back({{"enqueue", "--jsonl", "-"}, lines(messages), true, nullptr});
  slots.push_back({{"relay", "--watch"}, {}, false, nullptr});
  slots.push_back({{"relay"}, {}, false, nullptr});
  slots.push_back({{"work"}, {}, false, nullptr});
  slots.push_back({{"work", "--drain"}, {}, false, nullptr});

  std::uint64_t killed_workers = 0;
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    const auto pause = std::chrono::milliseconds(20 + random() % 150);
    const auto until = std::chrono::steady_clock::now() + pause;
    while (std::chrono::steady_clock::now() < until) {
      for (Slot& slot : slots) keep_running(slot);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::vector<Slot*> alive;
    for (Slot& slot : slots)
      if (slot.process && !slot.process->ended()) alive.push_back(&slot);
    if (alive.empty()) continue;
    Slot& victim = *alive[random() % alive.size()];
    victim.process->signal(SIGKILL);
    if (victim.words.front() == "work") ++killed_workers;
  }
  for (Slot& slot : slots) {
    if (slot.process) slot.process->signal(SIGKILL);
    if (slot.words.front() == "work" && slot.process) ++killed_workers;
    slot.process.reset();
  }

  // Afterwards: a rerun of everything, with no waiting for the leases of the dead.
  EXPECT_EQ(machine_.run({"enqueue", "--jsonl", "-"}, lines(messages)).status, 0);
  machine_.ok({"relay"});
  const Ran drained = machine_.run({"work", "--drain"});
  EXPECT_EQ(drained.status, 0) << drained.err;

  std::map<std::string, int> received;
  for (const auto& line : stub_.log()) received[line.value("id", "")] += 1;
  for (const auto& [id, count] : received) EXPECT_EQ(count, 1) << id << " arrived more than once";

  const nlohmann::json report = machine_.status();
  const auto inbox = report.at("inbox");
  EXPECT_EQ(inbox.at("SENT").get<std::uint64_t>() + inbox.at("ERROR").get<std::uint64_t>(), messages) << report.dump(1);
  EXPECT_EQ(inbox.at("SENDING"), 0);
  EXPECT_LE(inbox.at("ERROR").get<std::uint64_t>(), killed_workers * kConcurrency);
  EXPECT_LE(inbox.at("SENT").get<std::uint64_t>(), received.size());
  machine_.check_accounts();
  std::printf("[ counted  ] %llu kills (%llu of workers): %zu arrived, SENT %llu, ERROR %llu\n",
              static_cast<unsigned long long>(kills), static_cast<unsigned long long>(killed_workers), received.size(),
              static_cast<unsigned long long>(inbox.at("SENT").get<std::uint64_t>()),
              static_cast<unsigned long long>(inbox.at("ERROR").get<std::uint64_t>()));
}

}  // namespace
}  // namespace notify::test

// Many processes on one file: nobody sees "busy", and nothing is sent twice. CONTENTION_SECONDS says how long
// (default 10).

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "support/machine.hpp"
#include "support/stub_process.hpp"

namespace notify::test {
namespace {

struct Job {
  Words words;
  std::unique_ptr<Running> process{};
  int runs = 0;
};

TEST(Contention, F15_F18_SixteenProcessesOnOneFile) {
  const char* text = getenv("CONTENTION_SECONDS");             // NOLINT(concurrency-mt-unsafe): one thread
  const int seconds = text == nullptr ? 10 : std::atoi(text);  // NOLINT(cert-err34-c)
  StubProcess stub({"--no-body"});
  Machine machine;
  machine.configure_webhook(stub.url());

  std::vector<Job> jobs;  // all of them start at once on a file that does not exist yet
  for (int i = 0; i < 8; ++i) jobs.push_back({{"work", "--drain"}});
  for (int i = 0; i < 4; ++i) jobs.push_back({{"enqueue", "--channel", "hook", "--to", "x", "--body", "b"}});
  for (int i = 0; i < 2; ++i) jobs.push_back({{"relay"}});
  jobs.push_back({{"status", "--json"}});
  jobs.push_back({{"list", "outbox", "--json", "--limit", "5"}});
  machine.ok({"init"});

  int enqueued = 0;
  const auto collect = [&](Job& job) {
    const Ran ran = job.process->wait();
    EXPECT_EQ(ran.status, 0) << job.words.front() << ": " << ran.err;
    if (job.words.front() == "enqueue") ++enqueued;
    job.process.reset();
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end && !::testing::Test::HasFailure()) {
    for (Job& job : jobs) {
      if (job.process && job.process->ended()) collect(job);
      if (!job.process) {
        job.process = std::make_unique<Running>(machine.start(job.words));
        ++job.runs;
      }
    }
    usleep(1000);
  }
  for (Job& job : jobs)
    if (job.process) collect(job);

  machine.ok({"relay"});
  machine.ok({"work", "--drain"});
  std::map<std::string, int> received;
  for (const auto& line : stub.log()) received[line.value("id", "")] += 1;
  for (const auto& [id, count] : received) EXPECT_EQ(count, 1) << id;
  EXPECT_EQ(static_cast<int>(received.size()), enqueued);
  EXPECT_EQ(machine.status()["inbox"]["SENT"], enqueued);
  machine.check_accounts();
}

TEST(Contention, F12_NobodyWaitsForASlowVendor) {
  StubProcess stub;
  Machine machine;
  machine.configure_webhook(stub.url("slow:3"), "concurrency = 4\n");
  for (int i = 0; i < 4; ++i) machine.enqueue("slow" + std::to_string(i));
  machine.ok({"relay"});
  Running worker = machine.start({"work", "--drain"});
  ASSERT_TRUE(eventually([&] { return stub.log().size() == 4; }));
  // The vendor has the calls and does not answer: no transaction is open, so everybody else goes on.
  for (int i = 0; i < 20; ++i) machine.enqueue("meanwhile" + std::to_string(i));
  machine.ok({"relay"});
  EXPECT_FALSE(worker.ended());
  EXPECT_EQ(machine.status()["outbox"]["PUBLISHED"], 24);
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_EQ(machine.status()["inbox"]["SENDING"], 0);
  machine.check_accounts();
}

TEST(Contention, F01_ResultsThatCannotBeWrittenAreKeptAndWrittenLater) {
  StubProcess stub;
  Machine machine;
  machine.configure_webhook(stub.url("slow:1"));
  const std::string id = machine.enqueue("k1");
  machine.ok({"relay"});
  Running worker = machine.start({"work", "--drain"});
  ASSERT_TRUE(eventually([&] { return !stub.log().empty(); }));
  // Another program takes the write lock before the answer comes and keeps it longer than the busy timeout.
  const std::string lock = "sqlite3 " + machine.database() + " \"BEGIN IMMEDIATE\" \".shell sleep 14\" \"COMMIT\"";
  EXPECT_EQ(std::system(lock.c_str()), 0);  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  const Ran ran = worker.wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (int i = 0; i < 3; ++i) machine.ok({"work", "--drain"});
  EXPECT_EQ(stub.log().size(), 1U);
  EXPECT_EQ(machine.inbox(id), "SENT");
  machine.check_accounts();
}

}  // namespace
}  // namespace notify::test

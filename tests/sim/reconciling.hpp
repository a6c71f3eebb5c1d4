#pragma once

// What the tests of reconcile have in common.

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/world.hpp"
#include "store/sqlite/database.hpp"

namespace notify::sim {

inline Outcome always_unknown(const Call&) { return unknown(); }

inline Receipt accepted(const std::string& message_id) {
  Receipt receipt;
  receipt.message_id = message_id;
  return receipt;
}

inline Receipt refusal(const std::string& message_id) {
  Receipt receipt = accepted(message_id);
  receipt.verdict = ReceiptVerdict::kRefused;
  receipt.reason = "no such number";
  return receipt;
}

class Reconciling : public ::testing::Test {
 protected:
  std::string error_message(const std::string& key = "k1") {
    const std::string id = world.enqueue(key);
    world.relay_all();
    world.work_all(always_unknown);
    EXPECT_EQ(world.inbox(id), InboxState::kError);
    return id;
  }

  // A worker that has claimed the message and called the vendor, and has heard nothing yet.
  Process& calling(const std::string& id) {
    world.relay_all();
    Process& worker = world.start(Process::Kind::kWorker);
    (void)worker.worker_turn();
    (void)worker.worker_turn();
    EXPECT_EQ(worker.calls.size(), 1U);
    world.vendor.receive(id);
    return worker;
  }

  void run_on(int hours) {
    for (int i = 0; i < hours; ++i) {
      world.clock.advance(1h);
      world.relay_all();
      world.work_all(always_sent);
      world.reconcile();
    }
  }

  bool alert_open(const std::string& kind) {
    const auto open = world.open_alerts();
    return std::any_of(open.begin(), open.end(), [&](const Alert& alert) { return alert.kind == kind; });
  }

  void sql(const std::string& text) { ASSERT_TRUE(world.observer().database().execute(text)); }

  World world{};
};

}  // namespace notify::sim

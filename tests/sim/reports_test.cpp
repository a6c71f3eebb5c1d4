// What a vendor's later report does to the address and to the lane, beside settling its message.

#include "sim/reconciling.hpp"

namespace notify::sim {
namespace {

Receipt dead(const std::string& message_id) {
  Receipt receipt = refusal(message_id);
  receipt.reason = "30005";
  receipt.disable_endpoint = true;
  return receipt;
}

Receipt broken(const std::string& message_id) {
  Receipt receipt = refusal(message_id);
  receipt.reason = "4432";
  receipt.halt_channel = true;
  return receipt;
}

class Reports : public Reconciling {
 protected:
  void set(const std::string& id, const std::string& address) {
    RecipientChange change;
    change.id = id;
    change.endpoints["sms"] = {address};
    change.enable = true;
    write([&] { return world.observer().recipients().set(change, world.clock.now()); });
  }

  std::string enqueue_to(const std::string& key, const std::string& to) {
    NewMessage message;
    message.dedup_key = key;
    message.channel = "sms";
    message.recipient = to;
    message.payload = R"({"body":"hello"})";
    message.fingerprint = std::string(32, 'f');
    std::string id;
    write([&]() -> Result<void> {
      TRY_ASSIGN(const InsertResult inserted, world.observer().outbox().insert(message, world.clock.now()));
      id = inserted.message_id;
      return {};
    });
    return id;
  }

  std::string send_to(const std::string& key, const std::string& to,
                      const std::function<Outcome(const Call&)>& outcome = always_sent) {
    std::string id = enqueue_to(key, to);
    world.relay_all();
    world.work_all(outcome);
    return id;
  }

  void write(const std::function<Result<void>()>& body) {
    const Result<void> done = world.observer().write(body);
    ASSERT_TRUE(done) << done.error().message;
  }

  bool is_dead(const std::string& address) { return world.observer().recipients().dead("sms", address).value(); }
  Lane lane() { return world.observer().lanes().find("sms").value().value_or(Lane{}); }
  std::int64_t halts() {
    return *world.observer().database().integer(
        "SELECT coalesce(sum(count), 0) FROM notification_alert WHERE kind = 'lane-halted'");
  }
  std::int64_t events(const std::string& name) {
    return *world.observer().database().integer(
        ("SELECT count(*) FROM notification_event WHERE name = '" + name + "'").c_str());
  }
};

// --- the address

TEST_F(Reports, ABounceAfterTheAcceptanceDisablesTheAddressAndLeavesSent) {
  const std::string id = send_to("k1", "+8210111");
  EXPECT_EQ(world.reconcile({dead(id)}).settled, 0);
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
  EXPECT_TRUE(alert_open("undelivered"));
  EXPECT_TRUE(is_dead("+8210111"));
  EXPECT_FALSE(is_dead("+8210222"));
  const std::string next = send_to("k2", "+82 10 111");
  EXPECT_EQ(world.inbox(next), InboxState::kSkipped);
  EXPECT_EQ(world.vendor.received(next), 0);
  world.check_accounts();
}

TEST_F(Reports, TheSameReceiptTwiceDoesNothingMore) {
  const std::string id = send_to("k1", "+8210111");
  world.reconcile({dead(id)});
  set("42", "+8210111");  // an operator enables it again
  EXPECT_FALSE(is_dead("+8210111"));
  EXPECT_EQ(world.reconcile({dead(id)}).known, 1);
  EXPECT_FALSE(is_dead("+8210111"));
  EXPECT_EQ(events("endpoint-disabled"), 1);
}

TEST_F(Reports, AComplaintThatFollowsADeliveryIsAnotherReceipt) {
  const std::string id = send_to("k1", "+8210111", always_unknown);
  EXPECT_EQ(world.reconcile({accepted(id)}).settled, 1);
  EXPECT_FALSE(is_dead("+8210111"));
  Receipt complaint = accepted(id);
  complaint.disable_endpoint = true;
  EXPECT_EQ(world.reconcile({complaint}).receipts, 1);
  EXPECT_TRUE(is_dead("+8210111"));
  EXPECT_EQ(world.inbox(id), InboxState::kSent);
}

TEST_F(Reports, TheAddressIsTheOneThatTheMessageWentTo) {
  set("42", "+8210111");
  const std::string id = send_to("k1", "@42");
  set("42", "+8210222");
  world.reconcile({dead(id)});
  EXPECT_TRUE(is_dead("+8210111"));
  EXPECT_FALSE(is_dead("+8210222"));
  EXPECT_EQ(world.inbox(send_to("k2", "@42")), InboxState::kSent);
}

TEST_F(Reports, TheReasonDoesNotRepeatTheAddress) {
  set("42", "ann@example.com");
  Receipt bounce = dead(send_to("k1", "@42"));
  bounce.reason = "550 5.1.1 <ann@example.com>: no such user";
  world.reconcile({bounce});
  const RecipientRecord record = *world.observer().recipients().find("42").value();
  ASSERT_TRUE(record.endpoints.front().disabled_at.has_value());
  EXPECT_NE(record.endpoints.front().disabled_reason.find("550 5.1.1"), std::string::npos);
  EXPECT_EQ(record.endpoints.front().disabled_reason.find("ann@"), std::string::npos);
}

TEST_F(Reports, AMessageToAnIdDisablesItsEndpoint) {
  set("42", "+8210111");
  world.reconcile({dead(send_to("k1", "@42"))});
  EXPECT_EQ(world.inbox(send_to("k2", "@42")), InboxState::kSkipped);
  EXPECT_EQ(events("endpoint-disabled"), 1);
}

TEST_F(Reports, ARefusalSettlesAnErrorAndDisables) {
  const std::string id = send_to("k1", "+8210111", always_unknown);
  EXPECT_EQ(world.reconcile({dead(id)}).settled, 1);
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
  EXPECT_TRUE(is_dead("+8210111"));
  world.check_accounts();
}

TEST_F(Reports, AReceiptThatWaitsForTheEndOfItsCallActsThen) {
  const std::string id = world.enqueue("k1");
  Process& worker = calling(id);
  world.reconcile({dead(id)});
  EXPECT_EQ(events("endpoint-disabled"), 0);
  worker.back.push_back({worker.calls.front(), sent()});
  worker.calls.clear();
  ASSERT_TRUE(worker.worker_turn());
  world.reconcile();
  EXPECT_EQ(events("endpoint-disabled"), 1);
}

// The first call went to an address that was a mistake; its report must not fall on the second.
TEST_F(Reports, AReceiptOfAnEarlierCallDoesNothingToTheAddressOfThisOne) {
  set("42", "+8210111");
  const std::string id = send_to("k1", "@42", always_unknown);
  set("42", "+8210222");
  world.replay(id);
  world.relay_all();
  world.work_all(always_sent);
  world.reconcile({dead(id)});
  EXPECT_FALSE(is_dead("+8210111"));
  EXPECT_FALSE(is_dead("+8210222"));
}

TEST_F(Reports, AScrubbedMessageHasNoAddressToDisable) {
  set("42", "+8210111");
  const std::string by_id = send_to("k1", "@42");
  const std::string by_address = send_to("k2", "+8210333");
  sql("UPDATE notification_inbox SET address = ''");
  sql("INSERT INTO notification_meta VALUES ('mending', '1')");
  sql("UPDATE notification_outbox SET recipient = '(scrubbed)', payload = '{}'");
  sql("DELETE FROM notification_meta WHERE key = 'mending'");
  world.reconcile({dead(by_id), dead(by_address)});
  EXPECT_EQ(events("endpoint-disabled"), 0);
  EXPECT_FALSE(is_dead("(scrubbed)"));
}

// --- the lane

TEST_F(Reports, TroubleOfTheSenderHaltsTheLaneWithOneAlert) {
  const std::string a = send_to("k1", "+8210111");
  const std::string b = send_to("k2", "+8210222");
  world.reconcile({broken(a), broken(b)});
  EXPECT_TRUE(lane().halted);
  EXPECT_EQ(lane().reason, "4432");
  EXPECT_EQ(halts(), 1);
  EXPECT_FALSE(is_dead("+8210111"));
  const std::string next = enqueue_to("k3", "+8210333");
  world.relay_all();
  Process& worker = world.start(Process::Kind::kWorker);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(worker.worker_turn());
  EXPECT_TRUE(worker.calls.empty()) << next;
  world.check_accounts();
}

TEST_F(Reports, WhatWasSentLongAgoHaltsNothing) {
  const std::string id = send_to("k1", "+8210111");
  world.clock.advance(61min);
  world.reconcile({broken(id)});
  EXPECT_FALSE(lane().halted);
  EXPECT_EQ(halts(), 0);
  EXPECT_TRUE(alert_open("undelivered"));
}

TEST_F(Reports, WhatWasSentBeforeTheLaneWasOpenedHaltsItNoMore) {
  const std::string early = send_to("k1", "+8210111");
  const std::string late = send_to("k2", "+8210222");
  world.reconcile({broken(early)});
  ASSERT_TRUE(lane().halted);
  world.clock.advance(1min);
  write([&] { return world.observer().lanes().resume("sms", world.clock.now()).map([](bool) {}); });
  world.reconcile({broken(late)});
  EXPECT_FALSE(lane().halted);
  world.clock.advance(1min);
  world.reconcile({broken(send_to("k3", "+8210333"))});
  EXPECT_TRUE(lane().halted);
}

// The vendor accepts what it will fail to deliver: only a report tells that it is over.
TEST_F(Reports, TheLaneOpensByTheReportOfALaterMessageAndNotByAnAcceptance) {
  const std::string id = send_to("k1", "+8210111");
  const std::string before = send_to("k2", "+8210222");
  world.clock.advance(1s);
  world.reconcile({broken(id)});
  world.clock.advance(6min);
  const std::string probe = send_to("k3", "+8210333");
  EXPECT_EQ(world.inbox(probe), InboxState::kSent);
  EXPECT_TRUE(lane().halted);
  world.reconcile({accepted(before)});
  EXPECT_TRUE(lane().halted) << "that one was sent before";
  world.reconcile({accepted(probe)});
  EXPECT_FALSE(lane().halted);
  EXPECT_FALSE(alert_open("lane-halted"));
  EXPECT_EQ(halts(), 1);
}

// --- look-ups

TEST_F(Reports, AnAnswerToAQuestionActsInTheSameWay) {
  set("42", "+8210111");
  const std::string id = send_to("k1", "@42", always_unknown);
  Process& process = world.start(Process::Kind::kReconciler);
  const InboxRow row = world.observer().inbox().find(id)->value();
  EXPECT_EQ(row.address, "+8210111");
  LookUpAnswer answer;
  answer.kind = LookUpAnswer::Kind::kRefused;
  answer.reason = "code-3010";
  answer.disable_endpoint = true;
  answer.halt_channel = true;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(process.reconciler().answered(row, *world.config.channel("sms"), answer)) << i;
  EXPECT_EQ(world.inbox(id), InboxState::kFailed);
  EXPECT_TRUE(is_dead("+8210111"));
  EXPECT_TRUE(lane().halted);
  EXPECT_EQ(halts(), 1);
  world.check_accounts();
}

}  // namespace
}  // namespace notify::sim

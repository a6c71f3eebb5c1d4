// The statements of operators' commands: each changes what it says, only from the state that it expects.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

class StoreOperators : public StoreTest {
 protected:
  OperatorTable& table() { return store->operators(); }
  Whereabouts at(const std::string& id) { return table().whereabouts(id)->value(); }

  InsertResult queued(const std::string& key) {
    InsertResult row = insert(message(key));
    publish(row.outbox_id);
    return row;
  }
  void settled(const InsertResult& row, InboxState to) {
    ASSERT_TRUE(written([&] { return store->inbox().claim({row.message_id, row.outbox_id, "mail", 5, 1, now}); }));
    ASSERT_TRUE(written([&] { return store->inbox().settle({row.message_id, 5, to, "why", {}, {}, 0, now}); }));
    ASSERT_TRUE(written([&] { return store->queue().remove_any(row.message_id); }));
  }
  void TearDown() override {
    EXPECT_TRUE(store->status(now)->identity.holds);
    EXPECT_TRUE(store->verify_counters()->empty());
  }
};

TEST_F(StoreOperators, WhereaboutsByIdAndByKey) {
  const InsertResult row = queued("k1");
  EXPECT_EQ(at("k1").message_id, row.message_id);
  const Whereabouts found = at(row.message_id);
  EXPECT_EQ(found.outbox, OutboxState::kPublished);
  EXPECT_TRUE(found.queued);
  EXPECT_FALSE(found.inbox || found.parked);
  EXPECT_EQ(found.channel, "mail");
  EXPECT_FALSE(table().whereabouts("nobody")->has_value());
}

TEST_F(StoreOperators, ReopenOnlyFromTheExpectedState) {
  const InsertResult row = queued("k1");
  settled(row, InboxState::kFailed);
  const Reopening reopening{OutboxState::kFailed, now + 1min, now + 1h, false, now};
  EXPECT_FALSE(written([&] { return store->outbox().reopen(row.outbox_id, reopening); }));
  const Reopening right{OutboxState::kPublished, now + 1min, now + 1h, false, now};
  EXPECT_TRUE(written([&]() -> Result<bool> {
    TRY(store->inbox().forget(row.message_id, 5, InboxState::kFailed, now));
    return store->outbox().reopen(row.outbox_id, right);
  }));
  const Whereabouts found = at("k1");
  EXPECT_EQ(found.outbox, OutboxState::kPending);
  EXPECT_EQ(found.ready_at, now + 1min);
  EXPECT_EQ(found.expires, now + 1h);
}

TEST_F(StoreOperators, AClaimIsForgottenByStateAndToken) {
  const InsertResult row = queued("k1");
  settled(row, InboxState::kError);
  EXPECT_FALSE(written([&] { return store->inbox().forget(row.message_id, 5, InboxState::kFailed, now); }));
  EXPECT_FALSE(written([&] { return store->inbox().forget(row.message_id, 6, InboxState::kError, now); }));
  EXPECT_TRUE(written([&]() -> Result<bool> {
    TRY(store->outbox().reopen(row.outbox_id, {OutboxState::kPublished, now, {}, false, now}));
    return store->inbox().forget(row.message_id, 5, InboxState::kError, now);
  }));
}

TEST_F(StoreOperators, SentIsNeverForgotten) {
  const InsertResult row = queued("k1");
  settled(row, InboxState::kSent);
  EXPECT_THAT(sql_error("DELETE FROM notification_inbox"), ::testing::HasSubstr("never given back"));
}

TEST_F(StoreOperators, MendingKeepsTheOriginalAndTheFirstFingerprint) {
  sql("INSERT INTO notification_outbox (dedup_key, channel, recipient, payload) "
      "VALUES ('k1', 'mail', 'a@example.com', '{\"body\":\"old\"}')");
  const std::int64_t id = at("k1").outbox_id;
  const std::string before = *fingerprint("mail", "a@example.com", "", "transactional", R"({"body":"old"})");
  EXPECT_TRUE(written([&] {
    return table().mend(id, {R"({"body":"new"})", R"({"body":"old"})", "b@example.com", now});
  }));
  EXPECT_EQ(at("k1").payload, R"({"body":"new"})");
  EXPECT_EQ(at("k1").original_payload, R"({"body":"old"})");
  EXPECT_EQ(at("k1").recipient, "b@example.com");
  EXPECT_EQ(text("SELECT fingerprint FROM notification_outbox"), before);
  EXPECT_EQ(number("SELECT count(*) FROM notification_meta WHERE key = 'mending'"), 0);
}

TEST_F(StoreOperators, OnlyWhatIsPendingIsMended) {
  const InsertResult row = queued("k1");
  EXPECT_FALSE(written([&] { return table().mend(row.outbox_id, {R"({"body":"n"})", "{}", "x", now}); }));
}

TEST_F(StoreOperators, AParkedMessageIsNotClaimed) {
  const InsertResult row = queued("k1");
  EXPECT_TRUE(written([&] { return table().park(row.message_id, row.outbox_id, "held", now); }));
  EXPECT_FALSE(written([&] { return table().park(row.message_id, row.outbox_id, "again", now); }));
  EXPECT_FALSE(written([&] { return store->inbox().claim({row.message_id, row.outbox_id, "mail", 5, 1, now}); }));
  EXPECT_EQ(at("k1").parked_reason, "held");
  EXPECT_TRUE(*store->parked().any("mail", {}));
  EXPECT_FALSE(*store->parked().any("sms", {}));
}

TEST_F(StoreOperators, AClaimedMessageIsNotParked) {
  const InsertResult row = queued("k1");
  settled(row, InboxState::kError);
  EXPECT_FALSE(written([&] { return table().park(row.message_id, row.outbox_id, "held", now); }));
  EXPECT_TRUE(*store->inbox().any_error("mail", {}));
}

TEST_F(StoreOperators, WhatAWorkerHasIsNotTakenFromTheQueue) {
  const InsertResult row = queued("k1");
  const ReceiveQuota lane{"mail", 1};
  written([&] { return store->queue().take({{&lane, 1}, 0, now, now + 5min, 7}); });
  EXPECT_FALSE(written([&] { return table().take_from_queue(row.message_id, 0); }));
  EXPECT_EQ(at("k1").leased_by, 7);
  EXPECT_TRUE(written([&]() -> Result<bool> {
    TRY(store->outbox().reopen(row.outbox_id, {OutboxState::kPublished, now, {}, false, now}));
    return table().take_from_queue(row.message_id, 7);
  }));
}

TEST_F(StoreOperators, AnOutboxRowIsMadeAnewFromTheParkedEnvelope) {
  const InsertResult row = queued("k1");
  EXPECT_TRUE(written([&] { return table().park(row.message_id, row.outbox_id, "held", now); }));
  EXPECT_FALSE(written([&] { return table().restore(row.message_id, now, now); })) << "it is there";
  sql("INSERT INTO notification_meta VALUES ('pruning', '1')");
  sql("DELETE FROM notification_queue");
  sql("DELETE FROM notification_outbox");
  sql("UPDATE notification_counter SET value = 0 WHERE name IN ('enqueued', 'outbox.PUBLISHED')");
  sql("DELETE FROM notification_meta WHERE key = 'pruning'");
  EXPECT_EQ(at(row.message_id).recipient, "someone@example.com");
  EXPECT_TRUE(written([&]() -> Result<bool> {
    TRY_ASSIGN(const bool restored, table().restore(row.message_id, now, now));
    TRY(store->parked().remove(row.message_id));
    return restored;
  }));
  EXPECT_EQ(at("k1").message_id, row.message_id);
  EXPECT_EQ(at("k1").outbox, OutboxState::kPending);
}

}  // namespace
}  // namespace notify::test

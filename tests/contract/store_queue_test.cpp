// notification_queue: leases between relay and worker.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class QueueTest : public StoreTest {
 protected:
  std::string queued(const std::string& key, const std::string& channel = "mail", const std::string& kind = "order",
                     int priority = 5) {
    const InsertResult row = insert(message(key, channel, kind, priority));
    publish(row.outbox_id);
    return row.message_id;
  }
  std::vector<Delivery> take(const std::string& channel, int limit, std::int64_t holder = 1, int unlisted = 0) {
    const std::vector<ReceiveQuota> lanes{{channel, limit}};
    return written([&] { return store->queue().take({lanes, unlisted, now, now + 5min, holder}); });
  }
  static std::vector<std::string> keys(const std::vector<Delivery>& deliveries) {
    std::vector<std::string> out;
    for (const Delivery& d : deliveries) out.push_back(d.envelope.dedup_key);
    return out;
  }
};

TEST_F(QueueTest, OnlyTheHolderOfTheClaimCanPut) {
  const InsertResult row = insert(message("k1"));
  EXPECT_FALSE(written([&] { return store->queue().put(row.outbox_id, 1, now); })) << "not claimed";
  claim(row.outbox_id, 11, 1);
  EXPECT_FALSE(written([&] { return store->queue().put(row.outbox_id, 2, now); })) << "claimed by somebody else";
  EXPECT_EQ(number("SELECT count(*) FROM notification_queue"), 0);
  EXPECT_TRUE(written([&] { return store->queue().put(row.outbox_id, 1, now); }));
  EXPECT_TRUE(written([&] { return store->queue().put(row.outbox_id, 1, now); })) << "there already";
  EXPECT_EQ(number("SELECT count(*) FROM notification_queue"), 1);
}

TEST_F(QueueTest, TakingGivesTheEnvelopeOfTheOutbox) {
  const std::string id = queued("k1");
  const std::vector<Delivery> got = take("mail", 10);
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_EQ(got[0].handle.message_id, id);
  EXPECT_NE(got[0].handle.lease_token, 0);
  EXPECT_EQ(got[0].envelope.message_id, id);
  EXPECT_EQ(got[0].envelope.payload, message("k1").payload);
  EXPECT_EQ(got[0].envelope.recipient, "someone@example.com");
  EXPECT_EQ(got[0].lost_leases, 0);
  EXPECT_EQ(got[0].tries, 0);
  EXPECT_THAT(take("mail", 10), IsEmpty()) << "leased";
}

TEST_F(QueueTest, AckNeedsTheLease) {
  queued("k1");
  const DeliveryHandle handle = take("mail", 1)[0].handle;
  EXPECT_FALSE(written([&] { return store->queue().remove(handle.message_id, handle.lease_token + 2); }));
  EXPECT_TRUE(written([&] { return store->queue().remove(handle.message_id, handle.lease_token); }));
  EXPECT_FALSE(written([&] { return store->queue().remove(handle.message_id, handle.lease_token); }));
  EXPECT_EQ(number("SELECT count(*) FROM notification_queue"), 0);
}

TEST_F(QueueTest, AnExpiredLeaseIsLostAndReadyAgain) {
  queued("k1");
  const DeliveryHandle old = take("mail", 1)[0].handle;
  now = now + 5min;
  const std::vector<Delivery> again = take("mail", 1, 2);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].lost_leases, 1);
  EXPECT_NE(again[0].handle.lease_token, old.lease_token);
  QueueTable& queue = store->queue();
  EXPECT_FALSE(written([&] { return queue.remove(old.message_id, old.lease_token); }));
  EXPECT_FALSE(written([&] { return queue.put_back(old.message_id, old.lease_token, now, 1, "late"); }));
  EXPECT_FALSE(written([&] { return queue.extend(old.message_id, old.lease_token, now + 1h); }));
}

TEST_F(QueueTest, ExtendingKeepsTheLease) {
  queued("k1");
  const DeliveryHandle handle = take("mail", 1)[0].handle;
  EXPECT_TRUE(written([&] { return store->queue().extend(handle.message_id, handle.lease_token, now + 1h); }));
  now = now + 30min;
  EXPECT_THAT(take("mail", 1), IsEmpty());
  EXPECT_TRUE(written([&] { return store->queue().remove(handle.message_id, handle.lease_token); }));
}

TEST_F(QueueTest, PuttingBackKeepsTriesAndLosesNothing) {
  queued("k1");
  const DeliveryHandle handle = take("mail", 1)[0].handle;
  EXPECT_TRUE(written(
      [&] { return store->queue().put_back(handle.message_id, handle.lease_token, now + 10s, 3, "http-503"); }));
  EXPECT_THAT(take("mail", 1), IsEmpty());
  const std::vector<std::string> lanes{"mail"};
  EXPECT_EQ(store->queue().next_ready(lanes, now)->value(), now + 10s);
  now = now + 10s;
  const std::vector<Delivery> again = take("mail", 1);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].tries, 3);
  EXPECT_EQ(again[0].lost_leases, 0);
}

TEST_F(QueueTest, TheDeadLoseTheirLeasesAtOnce) {
  queued("a");
  queued("b");
  take("mail", 1, 7);
  take("mail", 1, 8);
  EXPECT_EQ(written([&] { return store->queue().recover_holder(7, now); }), 1);
  const std::vector<Delivery> again = take("mail", 10, 9);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].envelope.dedup_key, "a");
  EXPECT_EQ(again[0].lost_leases, 1);
}

TEST_F(QueueTest, UrgentFirstAndFairBetweenKinds) {
  for (int i = 0; i < 20; ++i) queued("flood" + std::to_string(i), "mail", "flood");
  queued("single", "mail", "single");
  queued("lazy", "mail", "single", 1);
  queued("urgent", "mail", "flood", 9);
  const std::vector<std::string> got = keys(take("mail", 4));
  EXPECT_EQ(got[0], "urgent");
  EXPECT_THAT(got, ::testing::Contains("single"));
  EXPECT_THAT(got, ::testing::Not(::testing::Contains("lazy")));
}

TEST_F(QueueTest, OnlyTheLanesAskedForAndTheOthersBesides) {
  queued("m", "mail");
  queued("s", "sms");
  queued("p", "push");
  EXPECT_THAT(keys(take("sms", 5)), ElementsAre("s"));
  EXPECT_THAT(keys(take("sms", 5, 1, 1)), ElementsAre("m"));
  EXPECT_THAT(keys(take("sms", 5, 1, 10)), ElementsAre("p"));
}

TEST_F(QueueTest, NextReadySeesLeasesThatEnd) {
  const std::vector<std::string> lanes{"mail"};
  EXPECT_FALSE(store->queue().next_ready(lanes, now)->has_value());
  queued("k1");
  EXPECT_EQ(store->queue().next_ready(lanes, now)->value(), now);
  take("mail", 1);
  EXPECT_EQ(store->queue().next_ready(lanes, now)->value(), now + 5min);
  const std::vector<std::string> other{"sms"};
  EXPECT_FALSE(store->queue().next_ready(other, now)->has_value());
}

TEST_F(QueueTest, WhoeverHoldsIt) {
  const std::string id = queued("k1");
  EXPECT_TRUE(written([&] { return store->queue().make_ready(id, now + 1h); }));
  EXPECT_THAT(take("mail", 1), IsEmpty());
  EXPECT_TRUE(written([&] { return store->queue().make_ready(id, now); }));
  take("mail", 1);
  EXPECT_FALSE(written([&] { return store->queue().make_ready(id, now); })) << "it is being worked on";
  EXPECT_TRUE(written([&] { return store->queue().remove_any(id); }));
  EXPECT_FALSE(written([&] { return store->queue().remove_any(id); }));
}

TEST_F(QueueTest, ARowWhoseOutboxIsGoneIsDeliveredToBeParked) {
  const std::string id = queued("k1");
  sql("INSERT INTO notification_meta VALUES ('pruning', '1'); DELETE FROM notification_outbox;"
      "DELETE FROM notification_meta WHERE key = 'pruning'");
  const std::vector<Delivery> got = take("mail", 1);
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_EQ(got[0].envelope.message_id, id);
  EXPECT_EQ(got[0].envelope.channel, "mail");
  EXPECT_EQ(got[0].envelope.payload, "");
}

TEST_F(QueueTest, ADeferralIsNotLate) {
  queued("k1");
  const DeliveryHandle handle = take("mail", 1)[0].handle;
  written([&] { return store->queue().put_back(handle.message_id, handle.lease_token, now + 10h, 0, "quiet-hours"); });
  now = now + 1h;
  EXPECT_FALSE(store->status(now)->oldest_unsent.has_value());
  now = now + 10h;
  EXPECT_EQ(store->status(now)->oldest_unsent, Duration(1h));
}

}  // namespace
}  // namespace notify::test

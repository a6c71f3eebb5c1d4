// notification_inbox: who may call the vendor, and what became of the call.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InboxTest : public StoreTest {
 protected:
  bool claim_message(std::string_view id = "m-1", std::int64_t token = 5, std::int64_t holder = 3) {
    return written([&] { return store->inbox().claim({std::string(id), 1, "mail", token, holder, now}); });
  }
  bool settle(InboxState to, std::int64_t token = 5) {
    return written([&] { return store->inbox().settle({"m-1", token, to, "why", "detail", "ref-1", 202, now}); });
  }
  InboxRow row(std::string_view id = "m-1") { return store->inbox().find(id)->value(); }
};

TEST_F(InboxTest, OneClaimWins) {
  EXPECT_FALSE(store->inbox().find("m-1")->has_value());
  EXPECT_TRUE(claim_message());
  EXPECT_FALSE(claim_message("m-1", 6, 4));
  const InboxRow claimed = row();
  EXPECT_EQ(claimed.state, InboxState::kSending);
  EXPECT_EQ(claimed.token, 5);
  EXPECT_EQ(claimed.holder, 3);
  EXPECT_EQ(claimed.channel, "mail");
  EXPECT_EQ(claimed.claimed_at, now);
  EXPECT_EQ(claimed.first_call_at, now);
  EXPECT_EQ(claimed.calls, 1);
  EXPECT_FALSE(claimed.unknown_before);
}

TEST_F(InboxTest, SettlingNeedsTheToken) {
  claim_message();
  EXPECT_FALSE(settle(InboxState::kSent, 6));
  EXPECT_TRUE(settle(InboxState::kSent));
  EXPECT_EQ(row().state, InboxState::kSent);
  EXPECT_EQ(text("SELECT reference FROM notification_inbox"), "ref-1");
}

TEST_F(InboxTest, SentIsFinalForEver) {
  claim_message();
  settle(InboxState::kSent);
  EXPECT_FALSE(settle(InboxState::kFailed));
  EXPECT_FALSE(settle(InboxState::kError));
  EXPECT_FALSE(written([&] { return store->inbox().release("m-1", 5); }));
  EXPECT_FALSE(claim_message("m-1", 7));
  EXPECT_FALSE(written([&] { return store->inbox().skip("m-1", 1, "mail", "cancelled", now); }));
  EXPECT_NE(sql_error("DELETE FROM notification_inbox"), "");
  EXPECT_NE(sql_error("UPDATE notification_inbox SET status = 'FAILED'"), "");
}

TEST_F(InboxTest, ALateResultOfTheSameClaimLands) {
  for (const InboxState late : {InboxState::kSent, InboxState::kFailed}) {
    const std::string id = "m-" + std::string(name(late));
    claim_message(id);
    EXPECT_TRUE(written([&] { return store->inbox().settle({id, 5, InboxState::kError, "stale", {}, {}, 0, now}); }));
    EXPECT_FALSE(written([&] { return store->inbox().settle({id, 5, InboxState::kError, "again", {}, {}, 0, now}); }));
    EXPECT_FALSE(written([&] { return store->inbox().settle({id, 6, late, "other claim", {}, {}, 0, now}); }));
    EXPECT_TRUE(written([&] { return store->inbox().settle({id, 5, late, "late", {}, {}, 0, now}); }));
    EXPECT_EQ(row(id).state, late);
  }
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
  EXPECT_EQ(store->status(now)->inbox.error, 0);
}

TEST_F(InboxTest, ReleasingIsOnlyForWhatCertainlyWasNotSent) {
  claim_message();
  EXPECT_FALSE(written([&] { return store->inbox().release("m-1", 6); }));
  EXPECT_TRUE(written([&] { return store->inbox().release("m-1", 5); }));
  EXPECT_FALSE(store->inbox().find("m-1")->has_value());

  claim_message();
  EXPECT_TRUE(written([&] { return store->inbox().rest("m-1", 5, now + 1min, 1, "timeout", "", now); }));
  EXPECT_FALSE(written([&] { return store->inbox().release("m-1", 5); })) << "an attempt is unknown";
  EXPECT_NE(sql_error("DELETE FROM notification_inbox"), "");
}

TEST_F(InboxTest, AClaimRestsAndIsTakenUpAgainByANewToken) {
  claim_message();
  EXPECT_TRUE(written([&] { return store->inbox().rest("m-1", 5, now + 1min, 1, "timeout", "no answer", now); }));
  InboxRow resting = row();
  EXPECT_EQ(resting.holder, 0);
  EXPECT_EQ(resting.resume_at, now + 1min);
  EXPECT_TRUE(resting.unknown_before);
  InboxTable& inbox = store->inbox();
  const Instant before = now - 1ms;
  EXPECT_FALSE(written([&] { return inbox.resume(5, {"m-1", 1, "mail", 8, 4, now}, before); })) << "too early";
  const Instant first_call = now;
  now = now + 1min;
  EXPECT_FALSE(written([&] {
    return inbox.resume(5, {"m-1", 1, "mail", 8, 4, now}, first_call);
  })) << "the vendor has forgotten it";
  EXPECT_FALSE(written([&] { return inbox.resume(6, {"m-1", 1, "mail", 8, 4, now}, before); })) << "not its token";
  EXPECT_TRUE(written([&] { return inbox.resume(5, {"m-1", 1, "mail", 8, 4, now, "+8210111"}, before); }));
  EXPECT_FALSE(written([&] { return inbox.resume(5, {"m-1", 1, "mail", 9, 5, now}, before); })) << "taken";
  EXPECT_FALSE(written([&] { return inbox.resume(8, {"m-1", 1, "mail", 9, 5, now}, before); })) << "not resting";
  const InboxRow resumed = row();
  EXPECT_EQ(resumed.address, "+8210111");
  EXPECT_EQ(resumed.token, 8);
  EXPECT_EQ(resumed.holder, 4);
  EXPECT_EQ(resumed.calls, 2);
  EXPECT_EQ(resumed.first_call_at, first_call);
  EXPECT_EQ(resumed.claimed_at, now);
  EXPECT_FALSE(resumed.resume_at.has_value());
  EXPECT_FALSE(settle(InboxState::kSent, 5)) << "the old claim has lost";
  EXPECT_TRUE(settle(InboxState::kSent, 8));
}

TEST_F(InboxTest, SkippingTakesTheIdWithoutACall) {
  EXPECT_TRUE(written([&] { return store->inbox().skip("m-1", 1, "mail", "cancelled", now); }));
  EXPECT_FALSE(written([&] { return store->inbox().skip("m-1", 1, "mail", "opted-out", now); }));
  EXPECT_FALSE(claim_message());
  EXPECT_EQ(row().state, InboxState::kSkipped);
  EXPECT_EQ(text("SELECT reason FROM notification_inbox"), "cancelled");
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(InboxTest, WhatAHolderHolds) {
  claim_message("m-1", 5, 3);
  claim_message("m-2", 6, 3);
  claim_message("m-3", 7, 4);
  claim_message("m-4", 8, 3);
  written([&] { return store->inbox().settle({"m-4", 8, InboxState::kSent, {}, {}, {}, 0, now}); });
  EXPECT_THAT(*store->inbox().held_by(3, 10), SizeIs(2));
  EXPECT_THAT(*store->inbox().held_by(3, 1), SizeIs(1));
  EXPECT_THAT(*store->inbox().held_by(9, 10), IsEmpty());
}

TEST_F(InboxTest, WhatIsHeldAgesFromItsClaimAndWhatRestsFromItsFirstCall) {
  claim_message("m-1");
  claim_message("m-2");
  written([&] { return store->inbox().rest("m-2", 5, now + 1h, 1, "timeout", "", now); });
  const Instant young = now;
  const Instant old = now + 1ms;
  EXPECT_THAT(*store->inbox().stale("mail", young, young, 10), IsEmpty());
  const auto held = *store->inbox().stale("mail", old, young, 10);
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_EQ(held[0].message_id, "m-1");
  const auto resting = *store->inbox().stale("mail", young, old, 10);
  ASSERT_THAT(resting, SizeIs(1));
  EXPECT_EQ(resting[0].message_id, "m-2");
  EXPECT_THAT(*store->inbox().stale("mail", old, old, 10), SizeIs(2));
  EXPECT_THAT(*store->inbox().stale("mail", old, old, 1), SizeIs(1));
  EXPECT_THAT(*store->inbox().stale("sms", old, old, 10), IsEmpty());
  const auto standing = *store->inbox().standing();
  ASSERT_THAT(standing, SizeIs(1));
  EXPECT_EQ(standing[0].channel, "mail");
  EXPECT_EQ(standing[0].claimed_since, now);
  EXPECT_EQ(standing[0].resting_since, now);
}

TEST_F(InboxTest, AMessageIdHasAtMostAHundredBytes) {
  const Result<void> done = store->write([&]() -> Result<void> {
    TRY(store->inbox().claim({std::string(101, 'x'), 0, "mail", 5, 3, now}));
    return {};
  });
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace notify::test

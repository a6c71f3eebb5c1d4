// notification_outbox: what enqueue inserts and what a relay may do with it.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class OutboxTest : public StoreTest {
 protected:
  std::vector<std::string> keys(const std::vector<Candidate>& rows) {
    std::vector<std::string> out;
    for (const Candidate& row : rows) out.push_back(row.envelope.dedup_key);
    return out;
  }
};

TEST_F(OutboxTest, InsertGivesTheMessageId) {
  const InsertResult first = insert(message("k1"));
  EXPECT_EQ(first.kind, InsertResult::Kind::kCreated);
  EXPECT_EQ(first.state, OutboxState::kPending);
  EXPECT_EQ(first.message_id, *store->outbox().message_id(first.outbox_id));
  EXPECT_TRUE(first.message_id.starts_with("notification-outbox-"));
  EXPECT_TRUE(first.message_id.ends_with("-" + std::to_string(first.outbox_id)));
}

TEST_F(OutboxTest, TheSameKeyAndContentIsFoundAgain) {
  const InsertResult first = insert(message("k1"));
  for (int i = 0; i < 3; ++i) {  // the second rerun takes the short cut
    const InsertResult again = insert(message("k1"));
    EXPECT_EQ(again.kind, InsertResult::Kind::kExisting);
    EXPECT_EQ(again.outbox_id, first.outbox_id);
    EXPECT_EQ(again.message_id, first.message_id);
  }
  EXPECT_EQ(insert(message("k2")).kind, InsertResult::Kind::kCreated);
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 2);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(OutboxTest, TheSameKeyWithOtherContentIsAConflictAndChangesNothing) {
  const NewMessage first = message("k1");
  insert(first);
  NewMessage other = message("k1");
  other.payload = R"({"body":"else"})";
  other.fingerprint = *fingerprint(other.channel, other.recipient, other.kind, other.category, other.payload);
  const InsertResult result = insert(other);
  EXPECT_EQ(result.kind, InsertResult::Kind::kConflict);
  EXPECT_EQ(result.existing_fingerprint, first.fingerprint);
  EXPECT_EQ(text("SELECT payload FROM notification_outbox"), first.payload);
}

TEST_F(OutboxTest, TimesAndPriorityDoNotBelongToTheContent) {
  insert(message("k1"));
  NewMessage later = message("k1");
  later.not_before = now + 2h;
  later.priority = 9;
  EXPECT_EQ(insert(later).kind, InsertResult::Kind::kExisting);
}

TEST_F(OutboxTest, WithoutAKeyEachInsertIsANewRow) {
  const InsertResult a = insert(message(""));
  const InsertResult b = insert(message(""));
  EXPECT_EQ(b.kind, InsertResult::Kind::kCreated);
  EXPECT_NE(a.outbox_id, b.outbox_id);
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox WHERE dedup_key IS NULL"), 2);
}

TEST_F(OutboxTest, ARowInsertedBySqlGetsItsFingerprintAtTheFirstComparison) {
  sql("INSERT INTO notification_outbox (dedup_key, channel, recipient, kind, payload)"
      " VALUES ('k1', 'mail', 'someone@example.com', 'order', '{ \"body\" : \"Thank you\", \"subject\":\"Paid\" }')");
  EXPECT_EQ(number("SELECT fingerprint IS NULL FROM notification_outbox"), 1);
  EXPECT_EQ(insert(message("k1")).kind, InsertResult::Kind::kExisting);
  EXPECT_EQ(number("SELECT length(fingerprint) FROM notification_outbox"), 32);
}

TEST_F(OutboxTest, ARowWhosePayloadCannotBeReadEqualsNothing) {
  sql("INSERT INTO notification_outbox (dedup_key, channel, recipient, kind, payload)"
      " VALUES ('k1', 'mail', 'someone@example.com', 'order', '{\"unheard\":\"\\\\\"}')");
  EXPECT_EQ(insert(message("k1")).kind, InsertResult::Kind::kConflict);
  EXPECT_EQ(number("SELECT fingerprint IS NULL FROM notification_outbox"), 1);
}

TEST_F(OutboxTest, APrunedKeyStaysUsed) {
  const NewMessage m = message("k1");
  sql("INSERT INTO notification_key VALUES ('k1', x'" +
      [&] {
        std::string hex;
        for (const char c : m.fingerprint) {
          static constexpr char kDigits[] = "0123456789abcdef";
          hex += kDigits[static_cast<unsigned char>(c) >> 4];
          hex += kDigits[static_cast<unsigned char>(c) & 15];
        }
        return hex;
      }() +
      "', '" + *store->outbox().message_id(77) + "', 1795958769000)");
  const InsertResult result = insert(m);
  EXPECT_EQ(result.kind, InsertResult::Kind::kExisting);
  EXPECT_EQ(result.outbox_id, 77);
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 0);
  sql("INSERT INTO notification_outbox (dedup_key, channel, recipient, payload) VALUES ('k1', 'mail', 'a', "
      "'{\"body\":\"x\"}')"
      " ON CONFLICT (dedup_key) DO NOTHING");
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 0);
}

TEST_F(OutboxTest, ImportsWithoutTriggersKnowPrunedKeysToo) {
  sql("INSERT INTO notification_key VALUES ('k1', NULL, 'notification-outbox-0badcafe-7', 1795958769000)");
  store.reset();
  OpenOptions options = creating(path);
  options.trusted_inserts = true;
  store = open_or_die(options);
  EXPECT_EQ(insert(message("k1")).kind, InsertResult::Kind::kConflict) << "pruned before it had a fingerprint";
  EXPECT_EQ(insert(message("k2")).kind, InsertResult::Kind::kCreated);
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 1);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(OutboxTest, WhatTheDatabaseRefusesIsBadInput) {
  NewMessage m = message("k1");
  m.category = "spam";
  const Result<void> done = store->write([&]() -> Result<void> {
    TRY(store->outbox().insert(m, now));
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kBadInput);
}

TEST_F(OutboxTest, ACandidateCarriesTheWholeEnvelope) {
  NewMessage m = message("k1");
  m.category = kAdvertising;
  m.expires = now + 1h;
  m.correlation = "c-7";
  m.priority = 8;
  const InsertResult inserted = insert(m);
  const auto rows = store->outbox().candidates(now, 10, true);
  ASSERT_THAT(*rows, SizeIs(1));
  const Candidate& row = rows->front();
  EXPECT_EQ(row.envelope.message_id, inserted.message_id);
  EXPECT_EQ(row.envelope.outbox_id, inserted.outbox_id);
  EXPECT_EQ(row.envelope.dedup_key, "k1");
  EXPECT_EQ(row.envelope.recipient, m.recipient);
  EXPECT_EQ(row.envelope.kind, "order");
  EXPECT_EQ(row.envelope.category, kAdvertising);
  EXPECT_EQ(row.envelope.payload, m.payload);
  EXPECT_EQ(row.envelope.expires, m.expires);
  EXPECT_EQ(row.envelope.priority, 8);
  EXPECT_EQ(row.envelope.correlation, "c-7");
  EXPECT_EQ(row.envelope.enqueued_at, now);
  EXPECT_EQ(row.due_at, now);
  EXPECT_EQ(row.ready_at, now);
  EXPECT_EQ(candidates(1).front().envelope.payload, "");
}

TEST_F(OutboxTest, NotBeforeItsTime) {
  NewMessage m = message("later");
  m.not_before = now + 1h;
  insert(m);
  EXPECT_THAT(candidates(), IsEmpty());
  EXPECT_EQ(store->outbox().next_ready(now)->value(), now + 1h);
  now = now + 1h;
  EXPECT_THAT(keys(candidates()), ElementsAre("later"));
}

TEST_F(OutboxTest, UrgentFirstThenOldest) {
  insert(message("old", "mail", "order", 5));
  now = now + 1s;
  insert(message("young", "mail", "order", 5));
  insert(message("urgent", "mail", "order", 9));
  insert(message("lazy", "mail", "order", 0));
  EXPECT_THAT(keys(candidates()), ElementsAre("urgent", "old", "young", "lazy"));
  EXPECT_THAT(keys(candidates(2)), ElementsAre("urgent", "old"));
}

TEST_F(OutboxTest, F56_AFloodOfOneChannelOrKindHidesNobody) {
  write([&]() -> Result<void> {
    for (int i = 0; i < 1000; ++i) TRY(store->outbox().insert(message("a" + std::to_string(i), "a", "flood", 9), now));
    TRY(store->outbox().insert(message("b", "b", "flood", 0), now));
    TRY(store->outbox().insert(message("c", "a", "other", 9), now));
    return {};
  });
  const std::vector<std::string> first = keys(candidates(50));
  EXPECT_THAT(first, SizeIs(50));
  EXPECT_THAT(first, ::testing::Contains("b"));
  EXPECT_THAT(first, ::testing::Contains("c"));
}

TEST_F(OutboxTest, RowsThatCannotGoNowHideNothing) {
  write([&]() -> Result<void> {
    for (int i = 0; i < 200; ++i) {
      NewMessage m = message("w" + std::to_string(i), "mail", "kind" + std::to_string(i), 9);
      m.not_before = now + 24h;
      TRY(store->outbox().insert(m, now));
    }
    TRY(store->outbox().insert(message("ready", "mail", "last", 1), now));
    return {};
  });
  EXPECT_THAT(keys(candidates(10)), ElementsAre("ready"));
}

TEST_F(OutboxTest, ManyKindsAllGetTheirTurn) {
  write([&]() -> Result<void> {
    for (int kind = 0; kind < 300; ++kind)
      for (int i = 0; i < 3; ++i)
        TRY(store->outbox().insert(message({}, "mail", "kind" + std::to_string(kind), 5), now));
    return {};
  });
  std::map<std::string, int> seen;
  std::set<std::int64_t> ids;
  for (int round = 0; round < 18; ++round) {
    const std::vector<Candidate> rows = candidates(50);
    ASSERT_THAT(rows, SizeIs(50)) << round;
    write([&]() -> Result<void> {
      for (const Candidate& row : rows) {
        ++seen[row.envelope.kind];
        EXPECT_TRUE(ids.insert(row.envelope.outbox_id).second);
        TRY(store->outbox().claim(row.envelope.outbox_id, {1, 1, now, now + 1h}));
      }
      return {};
    });
    if (round == 5) {
      EXPECT_THAT(seen, SizeIs(300));  // once round before anybody is served twice
    }
  }
  EXPECT_THAT(ids, SizeIs(900));
  EXPECT_THAT(candidates(), IsEmpty());
}

TEST_F(OutboxTest, OnlyOneClaims) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  EXPECT_TRUE(claim(id, 11, 1));
  EXPECT_FALSE(claim(id, 12, 2));
  EXPECT_EQ(state(id), OutboxState::kPublishing);
  EXPECT_THAT(candidates(), IsEmpty());
  EXPECT_FALSE(store->outbox().candidate(id, false)->has_value());
}

TEST_F(OutboxTest, F06_AStaleTokenChangesNothing) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  claim(id, 11);
  OutboxTable& outbox = store->outbox();
  now = now + 16min;
  EXPECT_EQ(written([&] { return outbox.recover_expired(now, false); }), 1);
  claim(id, 12, 2);
  EXPECT_FALSE(written([&] { return outbox.confirm(id, 11, now); }));
  EXPECT_FALSE(written([&] { return outbox.release(id, 11, now); }));
  EXPECT_FALSE(written([&] { return outbox.back_off(id, 11, now, true, "late", now); }));
  EXPECT_EQ(state(id), OutboxState::kPublishing);
  EXPECT_EQ(number("SELECT claim_token FROM notification_outbox"), 12);
  EXPECT_TRUE(written([&] { return outbox.confirm(id, 12, now); }));
  EXPECT_FALSE(written([&] { return outbox.confirm(id, 12, now); }));
  EXPECT_EQ(state(id), OutboxState::kPublished);
}

TEST_F(OutboxTest, BackingOffCountsAndRemembersACopy) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  claim(id);
  EXPECT_TRUE(written([&] { return store->outbox().back_off(id, 11, now + 1min, true, "timeout", now); }));
  Candidate row = store->outbox().candidate(id, false)->value();
  EXPECT_EQ(row.attempts, 1);
  EXPECT_TRUE(row.copy_may_be_out);
  EXPECT_EQ(row.ready_at, now + 1min);
  EXPECT_EQ(row.due_at, now);
  now = now + 1min;
  claim(id);
  EXPECT_TRUE(written([&] { return store->outbox().back_off(id, 11, now + 2min, false, "refused", now); }));
  row = store->outbox().candidate(id, false)->value();
  EXPECT_EQ(row.attempts, 2);
  EXPECT_TRUE(row.copy_may_be_out) << "once a copy may be out, it may be out for ever";
  // Then only the worker closes the message.
  EXPECT_FALSE(written([&] { return store->outbox().finish(id, OutboxState::kSkipped, "cancelled", now); }));
}

TEST_F(OutboxTest, ReleasingCountsNothing) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  claim(id);
  EXPECT_TRUE(written([&] { return store->outbox().release(id, 11, now); }));
  const Candidate row = store->outbox().candidate(id, false)->value();
  EXPECT_EQ(row.attempts, 0);
  EXPECT_FALSE(row.copy_may_be_out);
  EXPECT_EQ(row.ready_at, now);
}

TEST_F(OutboxTest, DeferringMovesTheTimeAtWhichItIsDue) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  EXPECT_TRUE(written([&] { return store->outbox().defer(id, now + 8h, "quiet-hours", now); }));
  EXPECT_THAT(candidates(), IsEmpty());
  const Candidate row = store->outbox().candidate(id, false)->value();
  EXPECT_EQ(row.due_at, now + 8h);
  EXPECT_EQ(row.attempts, 0);
}

TEST_F(OutboxTest, FinishingIsForGood) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  EXPECT_TRUE(written([&] { return store->outbox().finish(id, OutboxState::kExpired, "expired", now); }));
  EXPECT_FALSE(written([&] { return store->outbox().finish(id, OutboxState::kSkipped, "x", now); }));
  EXPECT_FALSE(claim(id));
  EXPECT_EQ(text("SELECT reason FROM notification_outbox"), "expired");
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(OutboxTest, LeasesOfTheLivingEndByTimeThoseOfTheDeadAtOnce) {
  std::vector<std::int64_t> ids;
  for (const char* key : {"a", "b", "c"}) ids.push_back(insert(message(key)).outbox_id);
  claim(ids[0], 1, 7);
  claim(ids[1], 2, 8);
  claim(ids[2], 3, 8);
  EXPECT_EQ(written([&] { return store->outbox().recover_expired(now, true); }), 0);
  EXPECT_EQ(written([&] { return store->outbox().recover_holder(8, now, true); }), 2);
  EXPECT_EQ(state(ids[0]), OutboxState::kPublishing);
  EXPECT_EQ(state(ids[1]), OutboxState::kPending);
  EXPECT_TRUE(store->outbox().candidate(ids[1], false)->value().copy_may_be_out);
  EXPECT_EQ(written([&] { return store->outbox().recover_expired(now + 15min, false); }), 1);
  EXPECT_FALSE(store->outbox().candidate(ids[0], false)->value().copy_may_be_out);
  const auto story = store->story("a", now);
  ASSERT_THAT((*story)->events, SizeIs(1));
  EXPECT_EQ((*story)->events[0].name, "claim-expired");
}

TEST_F(OutboxTest, NextReadyIsTheEarliestOfAll) {
  EXPECT_EQ(store->outbox().next_ready(now)->has_value(), false);
  NewMessage far = message("far", "a", "x", 9);
  far.not_before = now + 5h;
  NewMessage near = message("near", "z", "y", 0);
  near.not_before = now + 1h;
  insert(far);
  insert(near);
  EXPECT_EQ(store->outbox().next_ready(now)->value(), now + 1h);
  insert(message("now", "m"));
  EXPECT_EQ(store->outbox().next_ready(now)->value(), now);
}

TEST_F(OutboxTest, FindsByMessageIdAndByKey) {
  const InsertResult row = insert(message("order:42"));
  EXPECT_EQ(store->outbox().find(row.message_id)->value(), row.outbox_id);
  EXPECT_EQ(store->outbox().find("order:42")->value(), row.outbox_id);
  EXPECT_FALSE(store->outbox().find("order:43")->has_value());
  EXPECT_FALSE(store->outbox().find(row.message_id + "0")->has_value());
  EXPECT_FALSE(store->outbox().find("notification-outbox-00000000-1")->has_value());
  EXPECT_FALSE(store->outbox().state(4711)->has_value());
}

TEST_F(OutboxTest, AnIdKeepsTheGenerationOfItsRange) {
  const InsertResult before = insert(message("a"));
  sql("INSERT INTO notification_generation VALUES (" + std::to_string(before.outbox_id + 1) + ", '0badcafe', 1)");
  const InsertResult after = insert(message("b"));
  EXPECT_NE(before.message_id.find(text("SELECT generation FROM notification_generation WHERE first_id = 0")),
            std::string::npos);
  EXPECT_EQ(after.message_id, "notification-outbox-0badcafe-" + std::to_string(after.outbox_id));
  EXPECT_EQ(store->outbox().find(before.message_id)->value(), before.outbox_id);
  EXPECT_EQ(store->outbox().find(after.message_id)->value(), after.outbox_id);
}

TEST_F(OutboxTest, AFailedTransactionLeavesNothing) {
  const Result<void> done = store->write([&]() -> Result<void> {
    TRY(store->outbox().insert(message("k1"), now));
    return fail(Code::kUnavailable, "changed my mind");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "changed my mind");
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 0);
  insert(message("k2"));
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

using OutboxDeathTest = OutboxTest;

TEST_F(OutboxDeathTest, WritingOutsideWriteIsAnErrorOfTheProgram) {
  EXPECT_DEATH((void)store->outbox().insert(message("k"), now), "writing_");
  EXPECT_DEATH((void)store->write([&] { return store->write([] { return Result<void>(); }); }), "writing");
}

}  // namespace
}  // namespace notify::test

// prune: all rows of a finished message or none, keys for ever, and the accounts stay right.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"
#include "core/ports/operator_table.hpp"
#include "core/prune.hpp"

namespace notify::test {
namespace {

class Prune : public StoreTest {
 protected:
  // A message that came to this end at `now`; no state: queued.
  InsertResult made(const std::string& key, std::optional<InboxState> end) {
    const InsertResult row = insert(message(key));
    publish(row.outbox_id);
    if (!end) return row;
    write([&]() -> Result<void> {
      if (*end == InboxState::kSkipped) {
        TRY(store->inbox().skip(row.message_id, row.outbox_id, "mail", "cancelled", now));
      } else {
        TRY(store->inbox().claim({row.message_id, row.outbox_id, "mail", 5, 1, now, "a@example.com"}));
        TRY(store->inbox().settle({row.message_id, 5, *end, "why", "said: a@example.com", {}, 0, now}));
        TRY(store->history().event(row.message_id, "told", "x", "work", now));
      }
      TRY(store->queue().remove_any(row.message_id));
      return {};
    });
    return row;
  }
  PruneSummary prune(PruneOptions options) {
    clock.wall = now;
    return *notify::prune(*store, store->prune(), clock, crash_points, options);
  }
  PruneOptions older(Duration age) { return {.older_than = age}; }
  void TearDown() override {
    EXPECT_TRUE(store->status(now)->identity.holds);
    EXPECT_TRUE(store->verify_counters()->empty());
    EXPECT_EQ(number("SELECT count(*) FROM notification_meta WHERE key IN ('pruning', 'mending')"), 0);
  }

  FakeClock clock{};
  NeverCrashes crash_points{};
};

TEST_F(Prune, F13_RemovesAllRowsOfWhatIsFinishedAndNothingElse) {
  for (const InboxState end : {InboxState::kSent, InboxState::kFailed, InboxState::kSkipped})
    made("gone" + std::string(name(end)), end);
  made("error", InboxState::kError);
  made("queued", std::nullopt);
  insert(message("pending"));
  const InsertResult held = made("parked", std::nullopt);
  write([&]() -> Result<void> {
    TRY(store->operators().park(held.message_id, held.outbox_id, "held", now));
    return {};
  });
  now = now + 10min;
  made("young", InboxState::kSent);
  now = now + 1min;
  EXPECT_EQ(prune({.older_than = 5min, .dry_run = true}).removed, 3);
  EXPECT_EQ(prune(older(5min)).removed, 3);
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 5);
  EXPECT_EQ(number("SELECT count(*) FROM notification_inbox"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM notification_event"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM notification_key"), 3);
  EXPECT_EQ(prune(older(5min)).removed, 0);
}

TEST_F(Prune, AKeyOnceUsedStaysUsed) {
  const InsertResult row = made("k1", InboxState::kSent);
  now = now + 1h;
  EXPECT_EQ(prune(older(1min)).removed, 1);
  EXPECT_EQ(insert(message("k1")).kind, InsertResult::Kind::kExisting);
  EXPECT_EQ(insert(message("k1")).message_id, row.message_id);
  NewMessage other = message("k1");
  other.fingerprint = std::string(32, 'x');
  EXPECT_EQ(insert(other).kind, InsertResult::Kind::kConflict);
  sql("INSERT INTO notification_outbox (dedup_key, channel, recipient, payload) VALUES ('k1', 'mail', 'a', "
      "'{\"body\":\"x\"}')");
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 0);
}

TEST_F(Prune, KeysGoOnlyWhenAskedTo) {
  made("k1", InboxState::kSent);
  now = now + 1h;
  prune(older(1min));
  now = now + 1h;
  EXPECT_EQ(prune(older(1min)).keys_removed, 0);
  EXPECT_EQ(prune({.older_than = 1min, .keep_keys = 2h}).keys_removed, 0);
  EXPECT_EQ(prune({.older_than = 1min, .keep_keys = 30min, .dry_run = true}).keys_removed, 1);
  EXPECT_EQ(prune({.older_than = 1min, .keep_keys = 30min}).keys_removed, 1);
  EXPECT_EQ(number("SELECT count(*) FROM notification_key"), 0);
}

TEST_F(Prune, AMessageThatWasReplayedMeanwhileStays) {
  const InsertResult row = made("k1", InboxState::kFailed);
  now = now + 1h;
  const auto page = store->prune().finished_before(0, now, false);
  ASSERT_EQ(page->finished.size(), 1U);
  write([&]() -> Result<void> {
    TRY(store->inbox().forget(row.message_id, 5, InboxState::kFailed, now));
    TRY(store->outbox().reopen(row.outbox_id, {OutboxState::kPublished, now, {}, false, now}));
    return {};
  });
  EXPECT_FALSE(written([&]() -> Result<bool> {
    TRY(store->prune().begin());
    TRY_ASSIGN(const bool removed, store->prune().remove(row.outbox_id, now, now));
    TRY(store->prune().end());
    return removed;
  }));
}

TEST_F(Prune, ScrubbingKeepsStatesAndKeys) {
  sql("INSERT INTO notification_outbox (dedup_key, channel, recipient, payload) "
      "VALUES ('sql', 'mail', 'a@example.com', '{\"body\":\"secret\"}')");
  const InsertResult row = made("k1", InboxState::kSent);
  write([&]() -> Result<void> {
    TRY(store->outbox().finish(1, OutboxState::kSkipped, "cancelled", now));
    return {};
  });
  now = now + 24h * 40;
  EXPECT_EQ(prune({.scrub_after = 24h}).scrubbed, 2);
  EXPECT_EQ(prune({.scrub_after = 24h}).scrubbed, 0);
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox WHERE payload <> '{}' OR recipient LIKE '%@%'"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM notification_inbox WHERE detail <> ''"), 0);
  EXPECT_EQ(insert(message("k1")).kind, InsertResult::Kind::kExisting);
  EXPECT_EQ(text("SELECT fingerprint FROM notification_outbox WHERE dedup_key = 'sql'"),
            *fingerprint("mail", "a@example.com", "", "transactional", R"({"body":"secret"})"));
  EXPECT_TRUE(store->operators().whereabouts(row.message_id)->value().scrubbed());
  EXPECT_EQ(store->inbox().find(row.message_id)->value().address, "");
}

TEST_F(Prune, ScrubbingEmptiesBroadcastsThatMakeNoMoreMessages) {
  NewBroadcast broadcast;
  broadcast.key = "closing";
  broadcast.fingerprint = std::string(32, 'f');
  broadcast.list = std::string(64, 'a');
  broadcast.list_bytes = 10;
  broadcast.recipients = 1;
  broadcast.message = message("ignored");
  write([&]() -> Result<void> {
    TRY(store->broadcasts().insert(broadcast, now));
    broadcast.key = "open";
    TRY(store->broadcasts().insert(broadcast, now));
    TRY_ASSIGN(const auto closing, store->broadcasts().find("closing"));
    TRY(store->broadcasts().advance(closing->id, 0, 10, now));
    return {};
  });
  prune({.scrub_after = 24h});
  EXPECT_EQ(number("SELECT count(*) FROM notification_broadcast WHERE payload = '{}'"), 0) << "too young";
  now = now + 24h * 40;
  prune({.scrub_after = 24h, .dry_run = true});
  EXPECT_EQ(number("SELECT count(*) FROM notification_broadcast WHERE payload = '{}'"), 0) << "a dry run";
  prune({.scrub_after = 24h});
  EXPECT_EQ(text("SELECT group_concat(broadcast_key) FROM notification_broadcast WHERE payload = '{}'"), "closing");
  broadcast.key = "closing";
  write([&]() -> Result<void> {
    TRY_ASSIGN(const BroadcastInsert again, store->broadcasts().insert(broadcast, now));
    EXPECT_EQ(again.kind, BroadcastInsert::Kind::kExisting);
    return {};
  });
}

// What others do between the transactions of a prune.
class InBetween final : public CrashPoints {
 public:
  explicit InBetween(std::function<void()> others) : others_(std::move(others)) {}
  void reach(CrashPoint point) override {
    if (point == CrashPoint::kPruneAfterCommit) others_();
  }

 private:
  std::function<void()> others_;
};

TEST_F(Prune, F24_LetsOthersInBetweenItsTransactions) {
  for (int i = 0; i < 1203; ++i) {
    const InsertResult row = insert(message("k" + std::to_string(i)));
    write([&]() -> Result<void> {
      TRY(store->outbox().finish(row.outbox_id, OutboxState::kSkipped, "cancelled", now));
      return {};
    });
  }
  now = now + 1h;
  clock.wall = now;
  const auto writer = *open_store({.path = path});
  int written = 0;
  InBetween others([&] {
    EXPECT_TRUE(writer->write([&]() -> Result<void> {
      TRY(writer->outbox().insert(message("between" + std::to_string(written++)), now));
      return {};
    }));
  });
  EXPECT_EQ(notify::prune(*store, store->prune(), clock, others, older(1min))->removed, 1203);
  EXPECT_GE(written, 12);
}

}  // namespace
}  // namespace notify::test

// What status, list and show are told.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"
#include "store/migrations.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ReportTest : public StoreTest {
 protected:
  // One message in every place where one can be.
  void fill() {
    insert(message("pending"));
    NewMessage late = message("delayed", "sms");
    late.not_before = now + 1h;
    insert(late);
    claim(insert(message("publishing")).outbox_id, 99, 5);
    written(
        [&] { return store->outbox().finish(insert_in(message("skipped")), OutboxState::kSkipped, "opted-out", now); });
    written(
        [&] { return store->outbox().finish(insert_in(message("expired")), OutboxState::kExpired, "expired", now); });
    written([&] { return store->outbox().finish(insert_in(message("failed")), OutboxState::kFailed, "gave-up", now); });
    queued("queued");
    queued("waiting");
    write([&]() -> Result<void> {
      TRY(store->queue().make_ready(id("waiting"), now + 1h));
      return {};
    });
    queued("sending");
    lease("sending");
    written([&] { return store->inbox().claim({id("sending"), row_of("sending"), "mail", 5, 3, now}); });
    const auto settled = [&](const char* key, InboxState to) {
      queued(key);
      write([&]() -> Result<void> {
        TRY_ASSIGN(const std::optional<std::int64_t> outbox_id, store->outbox().find(id(key)));
        TRY(store->inbox().claim({id(key), *outbox_id, "mail", 5, 3, now}));
        TRY(store->inbox().settle({id(key), 5, to, "why", "detail", "ref", 200, now}));
        TRY(store->queue().remove_any(id(key)));
        return {};
      });
    };
    settled("sent", InboxState::kSent);
    settled("refused", InboxState::kFailed);
    settled("unknown", InboxState::kError);
    park("refused", "refused");  // has an inbox row as well
    queued("parked");
    write([&]() -> Result<void> {
      TRY(store->queue().remove_any(id("parked")));
      return {};
    });
    park("parked", "template-missing");
    queued("stopped");
    written([&] { return store->inbox().skip(id("stopped"), row_of("stopped"), "mail", "cancelled", now); });
  }

  std::int64_t insert_in(const NewMessage& m) { return store->outbox().insert(m, now)->outbox_id; }
  std::int64_t row_of(const std::string& key) { return store->outbox().find(key)->value(); }
  std::string id(const std::string& key) { return *store->outbox().message_id(row_of(key)); }
  void queued(const std::string& key) { publish(insert(message(key)).outbox_id); }
  void lease(const std::string& key) {
    sql("UPDATE notification_queue SET lease_token = 1, leased_by = 3, ready_at = " + std::to_string((now + 5min).ms) +
        " WHERE message_id = '" + id(key) + "'");
  }
  void park(const std::string& key, const std::string& reason) {
    ParkedMessage p;
    p.envelope.message_id = id(key);
    p.envelope.outbox_id = store->outbox().find(key)->value();
    p.envelope.dedup_key = key;
    p.envelope.channel = "mail";
    p.envelope.kind = "order";
    p.envelope.recipient = "a";
    p.reason = reason;
    p.now = now;
    written([&] { return store->parked().park(p); });
  }
  StatusReport status() { return *store->status(now); }

  std::vector<std::string> list(ListSubject subject, const ListFilter& filter) {
    std::vector<std::string> out;
    const Result<void> done = store->list(subject, filter, now, [&](const ListRow& row) {
      out.push_back(row.key);
      return true;
    });
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
    return out;
  }
};

TEST_F(ReportTest, AnEmptyDatabaseAddsUp) {
  const StatusReport report = status();
  EXPECT_EQ(report.outbox.total(), 0);
  EXPECT_TRUE(report.identity.holds);
  EXPECT_EQ(report.unaccounted, 0);
  EXPECT_FALSE(report.oldest_unsent.has_value());
  EXPECT_THAT(report.last_run, SizeIs(3));
}

TEST_F(ReportTest, EveryMessageIsInExactlyOnePlace) {
  fill();
  const StatusReport report = status();
  EXPECT_EQ(report.outbox.pending, 2);
  EXPECT_EQ(report.outbox.publishing, 1);
  EXPECT_EQ(report.outbox.published, 8);
  EXPECT_EQ(report.outbox.skipped, 1);
  EXPECT_EQ(report.outbox.expired, 1);
  EXPECT_EQ(report.outbox.failed, 1);
  EXPECT_EQ(report.queue.ready, 2);  // queued, and stopped: its copy is still there
  EXPECT_EQ(report.queue.delayed, 1);
  EXPECT_EQ(report.queue.leased, 1);
  EXPECT_EQ(report.inbox.sending, 1);
  EXPECT_EQ(report.inbox.sent, 1);
  EXPECT_EQ(report.inbox.failed, 1);
  EXPECT_EQ(report.inbox.error, 1);
  EXPECT_EQ(report.inbox.skipped, 1);
  EXPECT_EQ(report.parked.total, 2);
  EXPECT_THAT(report.parked.reasons, UnorderedElementsAre(std::pair<std::string, std::int64_t>("refused", 1),
                                                          std::pair<std::string, std::int64_t>("template-missing", 1)));
  EXPECT_EQ(report.identity.enqueued, 14);
  EXPECT_EQ(report.identity.in_queue, 2);
  EXPECT_EQ(report.identity.parked, 1);
  EXPECT_EQ(report.unaccounted, 0);
  EXPECT_TRUE(report.identity.holds);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

// Whichever of the tables is the larger one.
TEST_F(ReportTest, AMessageInSeveralPlacesIsCountedOnce) {
  for (const int others : {0, 10}) {
    for (int i = 0; i < others; ++i) queued("other" + std::to_string(i));
    const std::string suffix = std::to_string(others);
    queued("in queue and parked" + suffix);
    park("in queue and parked" + suffix, "poison");
    queued("everywhere" + suffix);
    park("everywhere" + suffix, "poison");
    written([&] { return store->inbox().skip(id("everywhere" + suffix), 0, "mail", "dropped", now); });
    const StatusReport report = status();
    EXPECT_EQ(report.unaccounted, 0);
    EXPECT_EQ(report.identity.in_queue, others);
    EXPECT_EQ(report.identity.parked, others == 0 ? 1 : 2);
    EXPECT_TRUE(report.identity.holds);
  }
  for (int i = 0; i < 30; ++i)
    written([&] { return store->inbox().skip("elsewhere-0badcafe-" + std::to_string(i), 0, "mail", "dropped", now); });
  EXPECT_EQ(status().identity.in_queue, 10) << "a large inbox, a small queue";
}

TEST_F(ReportTest, AMessageThatIsNowhereShows) {
  fill();
  write([&]() -> Result<void> {
    TRY(store->queue().remove_any(id("queued")));
    return {};
  });
  const StatusReport report = status();
  EXPECT_EQ(report.unaccounted, 1);
  EXPECT_FALSE(report.identity.holds);
}

TEST_F(ReportTest, ACopyThatRunsAheadOfItsRowIsCountedOnce) {
  const std::int64_t row = insert(message("k1")).outbox_id;
  claim(row);
  written([&] { return store->inbox().skip(id("k1"), row, "mail", "cancelled", now); });
  EXPECT_EQ(status().identity.early, 1);
  EXPECT_EQ(status().unaccounted, 0);
  written([&] { return store->outbox().back_off(row, 11, now, true, "timeout", now); });
  EXPECT_EQ(status().unaccounted, 0);
  claim(row);
  written([&] { return store->outbox().confirm(row, 11, now); });
  EXPECT_EQ(status().identity.early, 0);
  EXPECT_EQ(status().unaccounted, 0);
}

TEST_F(ReportTest, ARowThatSomebodyCountedWrongIsFound) {
  insert(message("k1"));
  sql("UPDATE notification_outbox SET status = 'SKIPPED'");
  const auto drifts = *store->verify_counters();
  ASSERT_THAT(drifts, SizeIs(1));
  EXPECT_EQ(drifts[0].name, "outbox.SKIPPED");
  EXPECT_EQ(drifts[0].counted, 0);
  EXPECT_EQ(drifts[0].found, 1);
  EXPECT_FALSE(status().identity.holds);
}

TEST_F(ReportTest, TheOldestUnsentCountsFromWhenItWasDue) {
  NewMessage m = message("k1");
  m.not_before = now + 1h;
  const std::int64_t row = insert(m).outbox_id;
  EXPECT_FALSE(status().oldest_unsent.has_value());
  now = now + 3h;
  EXPECT_EQ(status().oldest_unsent, Duration(2h));
  claim(row);
  EXPECT_EQ(status().oldest_unsent, Duration(2h));
  written([&] { return store->outbox().back_off(row, 11, now + 30min, false, "down", now); });
  EXPECT_EQ(status().oldest_unsent, Duration(2h)) << "backing off does not make it young";
  now = now + 30min;
  publish(row);
  EXPECT_EQ(status().oldest_unsent, Duration(150min)) << "the queue is not the vendor";
}

TEST_F(ReportTest, RatesOfTheHourAndTheDay) {
  insert(message("a"));
  now = now + 2h;
  queued("b");
  EXPECT_EQ(status().rates.hour.enqueued, 1);
  EXPECT_EQ(status().rates.hour.published, 1);
  EXPECT_EQ(status().rates.day.enqueued, 2);
  now = now + 48h;
  EXPECT_EQ(status().rates.day.enqueued, 0);
  insert(message("c"));
  EXPECT_EQ(number("SELECT count(*) FROM notification_counter WHERE bucket > 0"), 1) << "old spans go";
}

TEST_F(ReportTest, ChannelsAndTheirLanes) {
  insert(message("a", "mail"));
  insert(message("b", "mail"));
  insert(message("c", "sms"));
  Lane lane;
  lane.channel = "push";
  lane.halted = true;
  lane.probe_at = now + 5s;
  lane.reason = "http-401";
  write([&] { return store->lanes().save(lane, now); });
  const auto channels = status().channels;
  ASSERT_THAT(channels, SizeIs(3));
  EXPECT_EQ(channels[0].channel, "mail");
  EXPECT_EQ(channels[0].pending, 2);
  EXPECT_EQ(channels[0].state, "open");
  EXPECT_EQ(channels[1].channel, "push");
  EXPECT_EQ(channels[1].state, "halted");
  EXPECT_EQ(channels[1].until, now + 5s);
  EXPECT_EQ(channels[1].reason, "http-401");
}

TEST_F(ReportTest, TheDatabaseDescribesItself) {
  insert(message("a"));
  const DatabaseReport report = status().database;
  EXPECT_EQ(report.path, std::filesystem::canonical(path).string());
  EXPECT_GT(report.size, 0);
  EXPECT_GT(report.wal_bytes, 0);
  EXPECT_EQ(report.page_size, 4096);
  EXPECT_GT(report.pages, 10);
  EXPECT_EQ(report.journal_mode, "wal");
  EXPECT_NE(report.filesystem, "");
  EXPECT_EQ(report.schema, newest_schema());
  EXPECT_EQ(report.source, "notification-outbox");
  EXPECT_EQ(report.generation.size(), 8U);
  EXPECT_FALSE(report.checkpoint_blocked);
}

TEST_F(ReportTest, F16_AClockThatWasSetBackIsReported) {
  insert(message("a"));
  EXPECT_FALSE(status().clock_behind.has_value());
  now = now - 2h;
  EXPECT_EQ(status().clock_behind, Duration(2h));
}

// --- list -------------------------------------------------------------------------------------------------

TEST_F(ReportTest, ListsOfEverySubject) {
  fill();
  EXPECT_THAT(list(ListSubject::kOutbox, {}), SizeIs(14));
  EXPECT_THAT(list(ListSubject::kQueue, {}), UnorderedElementsAre("queued", "waiting", "sending", "stopped"));
  EXPECT_THAT(list(ListSubject::kInbox, {}), UnorderedElementsAre("sending", "sent", "refused", "unknown", "stopped"));
  EXPECT_THAT(list(ListSubject::kParked, {}), UnorderedElementsAre("refused", "parked"));
  EXPECT_THAT(list(ListSubject::kAlerts, {}), IsEmpty());
}

TEST_F(ReportTest, ListsByState) {
  fill();
  const auto outbox = [&](const char* state) { return list(ListSubject::kOutbox, {.state = state}); };
  EXPECT_THAT(outbox("PENDING"), ElementsAre("delayed", "pending"));
  EXPECT_THAT(outbox("PUBLISHING"), ElementsAre("publishing"));
  EXPECT_THAT(outbox("SKIPPED"), ElementsAre("skipped"));
  EXPECT_THAT(outbox("EXPIRED"), ElementsAre("expired"));
  EXPECT_THAT(outbox("FAILED"), ElementsAre("failed"));
  EXPECT_THAT(outbox("PUBLISHED"), SizeIs(8));
  const auto inbox = [&](const char* state) { return list(ListSubject::kInbox, {.state = state}); };
  EXPECT_THAT(inbox("SENDING"), ElementsAre("sending"));
  EXPECT_THAT(inbox("SENT"), ElementsAre("sent"));
  EXPECT_THAT(inbox("ERROR"), ElementsAre("unknown"));
  EXPECT_THAT(inbox("FAILED"), ElementsAre("refused"));
  EXPECT_THAT(inbox("SKIPPED"), ElementsAre("stopped"));
  const auto queue = [&](const char* state) { return list(ListSubject::kQueue, {.state = state}); };
  EXPECT_THAT(queue("READY"), UnorderedElementsAre("queued", "stopped"));
  EXPECT_THAT(queue("DELAYED"), ElementsAre("waiting"));
  EXPECT_THAT(queue("LEASED"), ElementsAre("sending"));
}

TEST_F(ReportTest, ListsByEverythingElse) {
  fill();
  EXPECT_THAT(list(ListSubject::kOutbox, {.channel = "sms"}), ElementsAre("delayed"));
  EXPECT_THAT(list(ListSubject::kOutbox, {.kind = "nothing"}), IsEmpty());
  EXPECT_THAT(list(ListSubject::kOutbox, {.reason = "opted-out"}), ElementsAre("skipped"));
  EXPECT_THAT(list(ListSubject::kOutbox, {.key_prefix = "se"}), ElementsAre("sent", "sending"));
  EXPECT_THAT(list(ListSubject::kParked, {.reason = "template-missing"}), ElementsAre("parked"));
  EXPECT_THAT(list(ListSubject::kParked, {.channel = "sms"}), IsEmpty());
  EXPECT_THAT(list(ListSubject::kInbox, {.key_prefix = "un"}), ElementsAre("unknown"));
  EXPECT_THAT(list(ListSubject::kOutbox, {.since = now + 1ms}), IsEmpty());
  EXPECT_THAT(list(ListSubject::kOutbox, {.until = now}), IsEmpty());
  EXPECT_THAT(list(ListSubject::kOutbox, {.since = now, .until = now + 1ms}), SizeIs(14));
  EXPECT_THAT(list(ListSubject::kOutbox, {.limit = 1}), ElementsAre("stopped"));
  EXPECT_THAT(list(ListSubject::kOutbox, {.limit = 1, .newest_first = false}), ElementsAre("pending"));
}

TEST_F(ReportTest, ListsAreInTheOrderOfIdsNotOfTheirTexts) {
  for (int i = 1; i <= 12; ++i) queued("k" + std::to_string(i));
  const std::vector<std::string> newest = list(ListSubject::kQueue, {.limit = 4});
  EXPECT_THAT(newest, ElementsAre("k12", "k11", "k10", "k9"));
  EXPECT_THAT(list(ListSubject::kQueue, {.limit = 2, .newest_first = false}), ElementsAre("k1", "k2"));
}

TEST_F(ReportTest, LongListsComeInPagesAndHoldNothing) {
  write([&]() -> Result<void> {
    for (int i = 0; i < 1200; ++i) TRY(store->outbox().insert(message("k" + std::to_string(i)), now));
    return {};
  });
  int rows = 0;
  ASSERT_TRUE(store->list(ListSubject::kOutbox, {}, now, [&](const ListRow&) {
    EXPECT_EQ(sqlite3_next_stmt(store->database().raw(), nullptr) == nullptr, false);
    for (sqlite3_stmt* s = nullptr; (s = sqlite3_next_stmt(store->database().raw(), s)) != nullptr;)
      EXPECT_EQ(sqlite3_stmt_busy(s), 0) << sqlite3_sql(s);
    return ++rows < 1100;
  }));
  EXPECT_EQ(rows, 1100);
  EXPECT_THAT(list(ListSubject::kOutbox, {.newest_first = false}), SizeIs(1200));
}

TEST_F(ReportTest, InboxRowsWithoutAnOutboxRowAreListedToo) {
  written([&] { return store->inbox().claim({"elsewhere-0badcafe-7", 0, "mail", 5, 3, now}); });
  std::vector<std::string> ids;
  ASSERT_TRUE(store->list(ListSubject::kInbox, {}, now, [&](const ListRow& row) {
    ids.push_back(row.message_id);
    return true;
  }));
  EXPECT_THAT(ids, ElementsAre("elsewhere-0badcafe-7"));

  ids.clear();
  insert(message("k1"));
  written([&] { return store->inbox().claim({id("k1"), 0, "mail", 5, 3, now}); });
  ASSERT_TRUE(store->list(ListSubject::kInbox, {}, now, [&](const ListRow& row) {
    ids.push_back(row.message_id);
    return true;
  }));
  EXPECT_THAT(ids, ElementsAre(id("k1"), "elsewhere-0badcafe-7")) << "each once";
}

// --- show -------------------------------------------------------------------------------------------------

TEST_F(ReportTest, TheStoryOfAMessage) {
  fill();
  const MessageStory sent = store->story("sent", now)->value();
  EXPECT_EQ(sent.message_id, id("sent"));
  EXPECT_EQ(sent.outbox->status, "PUBLISHED");
  EXPECT_EQ(sent.outbox->payload, message("sent").payload);
  EXPECT_EQ(sent.outbox->fingerprint, message("sent").fingerprint);
  EXPECT_FALSE(sent.queue.has_value());
  EXPECT_EQ(sent.inbox->status, "SENT");
  EXPECT_EQ(sent.inbox->reference, "ref");
  EXPECT_EQ(sent.inbox->vendor_status, 200);
  EXPECT_FALSE(sent.parked.has_value());

  const MessageStory parked = store->story(id("parked"), now)->value();
  EXPECT_EQ(parked.parked->reason, "template-missing");
  EXPECT_EQ(store->story("sending", now)->value().queue->status, "LEASED");
  EXPECT_EQ(store->story("publishing", now)->value().outbox->claimed_by, 5);
  EXPECT_FALSE(store->story("unheard-of", now)->has_value());
}

}  // namespace
}  // namespace notify::test

// Parked messages, alerts, lanes, history and runs.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SideTablesTest : public StoreTest {
 protected:
  ParkedMessage parked(const std::string& id, const std::string& reason) {
    ParkedMessage p;
    p.envelope.message_id = id;
    p.envelope.channel = "mail";
    p.envelope.recipient = "a@example.com";
    p.envelope.category = kTransactional;
    p.envelope.payload = std::string("\xff not even text", 16);
    p.reason = reason;
    p.detail = "why";
    p.tries = 5;
    p.now = now;
    return p;
  }
};

TEST_F(SideTablesTest, ParkingKeepsTheFirstReason) {
  EXPECT_TRUE(written([&] { return store->parked().park(parked("m-1", "template-missing")); }));
  EXPECT_FALSE(written([&] { return store->parked().park(parked("m-1", "retries-exhausted")); }));
  EXPECT_TRUE(*store->parked().contains("m-1"));
  EXPECT_FALSE(*store->parked().contains("m-2"));
  EXPECT_EQ(text("SELECT reason FROM notification_parked"), "template-missing");
  EXPECT_EQ(number("SELECT length(CAST(payload AS BLOB)) FROM notification_parked"), 16);
  EXPECT_TRUE(written([&] { return store->parked().remove("m-1"); }));
  EXPECT_FALSE(written([&] { return store->parked().remove("m-1"); }));
}

TEST_F(SideTablesTest, OneOpenAlertPerKindAndSubject) {
  write([&]() -> Result<void> {
    TRY(store->alerts().raise("error", "sms", "m-1", "timeout", now));
    TRY(store->alerts().raise("error", "sms", "m-2", "reset", now + 1s));
    return store->alerts().raise("error", "mail", "m-3", "timeout", now);
  });
  const auto status = store->status(now + 2s);
  EXPECT_EQ(status->alerts_open, 2);
  ASSERT_THAT(status->alerts, SizeIs(2));
  EXPECT_EQ(status->alerts[0].subject, "sms");
  EXPECT_EQ(status->alerts[0].count, 2);
  EXPECT_EQ(status->alerts[0].message_id, "m-2");
  EXPECT_EQ(status->alerts[0].first_at, now);
  EXPECT_EQ(status->alerts[0].last_at, now + 1s);
  write([&] { return store->alerts().close("error", "sms", now + 3s); });
  EXPECT_EQ(store->status(now)->alerts_open, 1);
  write([&] { return store->alerts().raise("error", "sms", "m-4", "again", now + 4s); });
  EXPECT_EQ(store->status(now)->alerts_open, 2);
  EXPECT_EQ(number("SELECT count(*) FROM notification_alert"), 3);
}

TEST_F(SideTablesTest, ALaneComesBackAsItWasSaved) {
  EXPECT_FALSE(store->lanes().find("sms")->has_value());
  Lane lane;
  lane.channel = "sms";
  lane.paused = true;
  lane.paused_until = now + 1h;
  lane.reason = "maintenance";
  lane.halted = true;
  lane.probe_at = now + 5s;
  lane.probe_interval = 20s;
  lane.hold_until = now + 2h;
  lane.refused_in_a_row = 4;
  lane.rate_next_us = now.ms * 1000 + 7;
  write([&] { return store->lanes().save(lane, now); });
  const Lane found = store->lanes().find("sms")->value();
  EXPECT_EQ(found.paused_until, lane.paused_until);
  EXPECT_EQ(found.reason, "maintenance");
  EXPECT_TRUE(found.paused);
  EXPECT_TRUE(found.halted);
  EXPECT_EQ(found.probe_at, lane.probe_at);
  EXPECT_EQ(found.probe_interval, lane.probe_interval);
  EXPECT_EQ(found.hold_until, lane.hold_until);
  EXPECT_EQ(found.refused_in_a_row, 4);
  EXPECT_EQ(found.rate_next_us, lane.rate_next_us);
  lane = Lane{};
  lane.channel = "sms";
  write([&] { return store->lanes().save(lane, now); });
  EXPECT_FALSE(store->lanes().find("sms")->value().paused);
  EXPECT_THAT(*store->lanes().all(), SizeIs(1));
}

TEST_F(SideTablesTest, HistoryTellsTheStoryInOrder) {
  Outcome outcome;
  outcome.cls = OutcomeClass::kUnknown;
  outcome.reason = "timeout";
  outcome.phase = "response";
  outcome.bytes_sent = 812;
  outcome.elapsed = 10s;
  outcome.duplicate_risk = true;
  outcome.status = 503;
  const InsertResult row = insert(message("k1"));
  write([&]() -> Result<void> {
    TRY(store->history().event(row.message_id, "published", "", "relay", now));
    TRY(store->history().attempt(row.message_id, 1, outcome, now + 1s));
    return store->history().event(row.message_id, "stale", "timeout", "work", now + 2s);
  });
  const MessageStory story = store->story("k1", now)->value();
  ASSERT_THAT(story.attempts, SizeIs(1));
  EXPECT_EQ(story.attempts[0].outcome, outcome_name(OutcomeClass::kUnknown));
  EXPECT_EQ(story.attempts[0].status, 503);
  EXPECT_EQ(story.attempts[0].bytes_sent, 812);
  EXPECT_EQ(story.attempts[0].elapsed, 10s);
  EXPECT_TRUE(story.attempts[0].duplicate_risk);
  ASSERT_THAT(story.events, SizeIs(2));
  EXPECT_EQ(story.events[0].name, "published");
  EXPECT_EQ(story.events[1].actor, "work");
}

TEST_F(SideTablesTest, RunsThatHaveNotEnded) {
  std::vector<std::int64_t> ids;
  write([&]() -> Result<void> {
    ids.clear();
    for (const char* command : {"relay", "work", "work"}) {
      TRY_ASSIGN(const std::int64_t id, store->runs().begin(command, 100, now));
      ids.push_back(id);
    }
    TRY(store->runs().end(ids[0], true, R"({"published":3})", now + 1s));
    TRY(store->runs().end(ids[1], false, "{}", now + 2s));
    return {};
  });
  const auto open = *store->runs().open_runs();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].id, ids[2]);
  EXPECT_EQ(open[0].command, "work");
  write([&] { return store->runs().mark_dead(ids[2], now); });
  EXPECT_THAT(*store->runs().open_runs(), IsEmpty());
  EXPECT_EQ(text("SELECT group_concat(outcome) FROM notification_run"), "ok,failed,dead");

  const auto last = store->status(now)->last_run;
  EXPECT_EQ(last[0].command, "relay");
  EXPECT_EQ(last[0].succeeded_at, now + 1s);
  EXPECT_FALSE(last[1].succeeded_at.has_value()) << "work has never ended well";
}

TEST_F(SideTablesTest, OldRunsGoTheLastSuccessAndTheRunningStay) {
  write([&]() -> Result<void> {
    TRY_ASSIGN(const std::int64_t service, store->runs().begin("relay", 1, now));
    TRY_ASSIGN(const std::int64_t good, store->runs().begin("reconcile", 2, now));
    TRY(store->runs().end(good, true, "{}", now));
    EXPECT_EQ(service, 1);
    for (int i = 0; i < 10'050; ++i) {
      TRY_ASSIGN(const std::int64_t id, store->runs().begin("work", 3, now));
      TRY(store->runs().end(id, false, "{}", now));
    }
    return {};
  });
  EXPECT_LE(number("SELECT count(*) FROM notification_run"), 10'002);
  EXPECT_THAT(*store->runs().open_runs(), SizeIs(1));
  EXPECT_EQ(store->status(now)->last_run[2].succeeded_at, now);
}

}  // namespace
}  // namespace notify::test

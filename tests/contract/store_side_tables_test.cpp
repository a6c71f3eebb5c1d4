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
  lane.reason = "http-401";
  lane.halted = true;
  lane.probe_at = now + 5s;
  lane.probe_interval = 20s;
  lane.hold_until = now + 2h;
  lane.refused_in_a_row = 4;
  lane.rate_next_us = now.ms * 1000 + 7;
  lane.reported_at = now - 1s;
  lane.opened_at = now - 1h;
  write([&] { return store->lanes().save(lane, now); });
  const Lane found = store->lanes().find("sms")->value();
  EXPECT_EQ(found.reported_at, lane.reported_at);
  EXPECT_EQ(found.opened_at, lane.opened_at);
  EXPECT_EQ(found.reason, "http-401");
  EXPECT_FALSE(found.paused);
  EXPECT_TRUE(found.halted);
  EXPECT_EQ(found.probe_at, lane.probe_at);
  EXPECT_EQ(found.probe_interval, lane.probe_interval);
  EXPECT_EQ(found.hold_until, lane.hold_until);
  EXPECT_EQ(found.refused_in_a_row, 4);
  EXPECT_EQ(found.rate_next_us, lane.rate_next_us);
  lane = Lane{};
  lane.channel = "sms";
  write([&] { return store->lanes().save(lane, now); });
  EXPECT_FALSE(store->lanes().find("sms")->value().halted);
  EXPECT_THAT(*store->lanes().all(), SizeIs(1));
}

TEST_F(SideTablesTest, AWorkerThatSavesALaneKeepsTheOperatorsPause) {
  Lane seen_by_a_worker;
  seen_by_a_worker.channel = "sms";
  seen_by_a_worker.refused_in_a_row = 3;
  seen_by_a_worker.reason = "connect-refused";
  write([&] { return store->lanes().pause("sms", now + 1h, "maintenance", now); });
  write([&] { return store->lanes().save(seen_by_a_worker, now); });
  const Lane lane = store->lanes().find("sms")->value();
  EXPECT_TRUE(lane.paused);
  EXPECT_EQ(lane.paused_until, now + 1h);
  EXPECT_EQ(lane.pause_reason, "maintenance");
  EXPECT_EQ(lane.paused_at, now);
  EXPECT_EQ(lane.reason, "connect-refused");
  EXPECT_EQ(lane.refused_in_a_row, 3);
}

TEST_F(SideTablesTest, APauseLeavesBreakerAndRateAsTheyAre) {
  Lane lane;
  lane.channel = "sms";
  lane.halted = true;
  lane.probe_at = now + 5s;
  lane.hold_until = now + 2h;
  lane.rate_next_us = 77;
  lane.reported_at = now;
  write([&] { return store->lanes().save(lane, now); });
  write([&] { return store->lanes().pause("sms", std::nullopt, "why", now); });
  const Lane paused = store->lanes().find("sms")->value();
  EXPECT_TRUE(paused.halted);
  EXPECT_EQ(paused.probe_at, now + 5s);
  EXPECT_EQ(paused.hold_until, now + 2h);
  EXPECT_EQ(paused.rate_next_us, 77);
  EXPECT_EQ(paused.paused_until, std::nullopt);

  EXPECT_TRUE(written([&] { return store->lanes().resume("sms", now); }));
  const Lane open = store->lanes().find("sms")->value();
  EXPECT_FALSE(open.paused);
  EXPECT_FALSE(open.halted);
  EXPECT_EQ(open.hold_until, std::nullopt);
  EXPECT_EQ(open.reported_at, std::nullopt);
  EXPECT_EQ(open.opened_at, now);
  EXPECT_EQ(open.rate_next_us, 77);  // the vendor's limit is no matter of pauses
  EXPECT_FALSE(written([&] { return store->lanes().resume("sms", now); }));
  EXPECT_FALSE(written([&] { return store->lanes().resume("never-seen", now); }));
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

// The invariants of the simulator are worth what they find: each of these bugs is planted, and must be found within a few
// seeds.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <exception>

#include "sim/simulation.hpp"

namespace notify::sim {
namespace {

constexpr std::uint64_t kSeeds = 60;

constexpr PlantedBug kBugs[] = {
    {.name = "AClaimIsTakenOverByTheNextCopy",
     .sql = R"sql(
       CREATE TRIGGER bug BEFORE INSERT ON notification_inbox BEGIN
         DELETE FROM notification_inbox
          WHERE message_id = NEW.message_id AND status <> 'SENT' AND NOT (status = 'SENDING' AND unknown_before = 1);
       END)sql",
     .with_broker = true},
    {.name = "TheClaimIsNotWrittenBeforeTheCall", .sql = R"sql(
       CREATE TRIGGER bug AFTER INSERT ON notification_inbox WHEN NEW.status = 'SENDING' BEGIN
         DELETE FROM notification_inbox WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "AckedWhenItIsReceived", .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF lease_token ON notification_queue WHEN NEW.lease_token IS NOT NULL BEGIN
         DELETE FROM notification_queue WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "PublishedButNotQueued", .sql = R"sql(
       CREATE TRIGGER bug AFTER INSERT ON notification_queue WHEN NEW.outbox_id % 5 = 0 BEGIN
         DELETE FROM notification_queue WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "ARetryIsDropped", .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF lease_token ON notification_queue
         WHEN OLD.lease_token IS NOT NULL AND NEW.lease_token IS NULL BEGIN
         DELETE FROM notification_queue WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "ClaimsOfTheDeadAreReleased",
     .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF status ON notification_inbox
         WHEN NEW.status = 'ERROR' AND NEW.reason = 'worker-died' BEGIN
         DELETE FROM notification_inbox WHERE message_id = NEW.message_id;
       END)sql",
     .with_broker = true},
    {.name = "AnUnknownOutcomeIsForgotten",
     .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF status ON notification_inbox
         WHEN NEW.status = 'ERROR' AND NEW.reason <> 'worker-died' BEGIN
         DELETE FROM notification_inbox WHERE message_id = NEW.message_id;
       END)sql",
     .with_broker = true},
    {.name = "AParkedMessageIsForgotten", .sql = R"sql(
       CREATE TRIGGER bug AFTER INSERT ON notification_parked BEGIN
         DELETE FROM notification_parked WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "ARefusalIsTakenForAcceptance", .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF status ON notification_inbox WHEN NEW.status = 'FAILED' BEGIN
         DELETE FROM notification_inbox WHERE message_id = NEW.message_id;
         INSERT INTO notification_inbox (message_id, outbox_id, channel, status, claim_token, holder, claimed_at,
                                         first_call_at, created_at, updated_at)
         VALUES (NEW.message_id, NEW.outbox_id, NEW.channel, 'SENDING', 7, 1, 1, 1, 1, 1);
         UPDATE notification_inbox SET status = 'SENT', settled_at = 1 WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "WhoHasAMessageOfABroadcastIsForgotten", .sql = R"sql(
       CREATE TRIGGER bug AFTER INSERT ON notification_broadcast_target BEGIN
         DELETE FROM notification_broadcast_target
          WHERE broadcast_id = NEW.broadcast_id AND recipient = NEW.recipient;
       END)sql"},
    {.name = "AFanOutEndsBeforeItsList", .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF fanned_bytes ON notification_broadcast WHEN NEW.status = 'OPEN' BEGIN
         UPDATE notification_broadcast SET fanned_bytes = list_bytes, status = 'DONE' WHERE id = NEW.id;
       END)sql"},
    {.name = "TheWindowOfAKeyIsForgotten", .sql = R"sql(
       CREATE TRIGGER bug AFTER UPDATE OF resume_at ON notification_inbox WHEN NEW.resume_at IS NOT NULL BEGIN
         UPDATE notification_inbox SET first_call_at = NEW.resume_at + 86400000 WHERE message_id = NEW.message_id;
       END)sql"},
    {.name = "UnknownIsNotSent", .unknown_is_not_sent = true},
    {.name = "CommitsAreNotSynced", .lazy_sync = true},
};

// Whether a run with this bug breaks an invariant. An exception is the program's own refusal to go on.
bool found(const PlantedBug& bug, std::uint64_t seed) {
  ::testing::TestPartResultArray failures;
  const ::testing::ScopedFakeTestPartResultReporter catching(
      ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
  const auto failed = [&] {
    for (int i = 0; i < failures.size(); ++i)
      if (failures.GetTestPartResult(i).failed()) return true;
    return false;
  };
  try {
    Simulation(seed, bug, failed).run();
  } catch (const std::exception&) {
    return true;
  }
  return failed();
}

class PlantedBugs : public ::testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, IsFound) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    if (found(GetParam(), seed)) return;
  ADD_FAILURE() << "not found with " << kSeeds << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Simulator, PlantedBugs, ::testing::ValuesIn(kBugs),
                         [](const auto& tested) { return std::string(tested.param.name); });

// The same way of looking finds nothing where there is nothing.
TEST(PlantedBugs, NothingIsFoundWithoutOne) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_FALSE(found({.name = "none"}, seed)) << seed;
    EXPECT_FALSE(found({.name = "none", .with_broker = true}, seed)) << seed;
  }
}

}  // namespace
}  // namespace notify::sim

#include "core/park.hpp"

#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::string_view kParkActor = "park";

Result<Answer> park_one(const OperatorPorts& ports, const std::string& reason, const Whereabouts& at, Instant now) {
  if (at.inbox == InboxState::kSending) return Answer::busy("a worker is sending it");
  if (at.outbox == OutboxState::kPublishing) return Answer::busy("a relay is handing it on");
  if (at.inbox) return Answer::refused("it is " + std::string(name(*at.inbox)) + " already");
  if (at.parked) return Answer::unchanged();
  if (at.outbox == OutboxState::kPending) return Answer::refused("it is not in the queue yet; cancel stops it");
  if (at.outbox != OutboxState::kPublished)
    return Answer::refused(at.outbox ? "it is " + std::string(name(*at.outbox)) + " already"
                                     : "its row is not in this database");
  TRY_ASSIGN(const bool parked, ports.table.park(at.message_id, at.outbox_id, reason, now));
  ASSERT(parked);  // read in this very transaction
  TRY(clear_queue(ports, at));
  TRY(ports.store.history().event(at.message_id, "parked", reason, kParkActor, now));
  return Answer::done();
}

Result<Answer> drop_one(const OperatorPorts& ports, const std::string& reason, const Whereabouts& at, Instant now) {
  if (at.inbox == InboxState::kSending) return Answer::busy("a worker is sending it");
  if (!at.parked) return at.dropped() ? Answer::unchanged() : Answer::refused("it is not parked");
  TRY_ASSIGN(const bool removed, ports.store.parked().remove(at.message_id));
  ASSERT(removed);  // read in this very transaction
  if (!at.inbox) {
    TRY_ASSIGN(const bool skipped, ports.store.inbox().skip(at.message_id, at.outbox_id, at.channel, kDropped, now));
    ASSERT(skipped);
  }
  TRY(clear_queue(ports, at));
  const std::string detail = safe_text("was parked (" + at.parked_reason + "); " + reason, limits::kDetail);
  TRY(ports.store.history().event(at.message_id, kDropped, detail, kParkActor, now));
  return Answer::done();
}

}  // namespace

Result<OperatorSummary> park_messages(const OperatorPorts& ports, std::span<const std::string> ids,
                                      const std::string& reason) {
  return operate(ports, ids, CrashPoint::kParkBeforeCommit, CrashPoint::kParkAfterCommit,
                 [&](const Whereabouts& at, std::int64_t, Instant now) { return park_one(ports, reason, at, now); });
}

Result<OperatorSummary> drop_parked(const OperatorPorts& ports, std::span<const std::string> ids,
                                    const std::string& reason) {
  TRY_ASSIGN(OperatorSummary summary, operate(ports, ids, CrashPoint::kParkBeforeCommit, CrashPoint::kParkAfterCommit,
                                              [&](const Whereabouts& at, std::int64_t, Instant now) {
                                                return drop_one(ports, reason, at, now);
                                              }));
  TRY(close_settled_alerts(ports, summary.channels));
  return summary;
}

}  // namespace notify

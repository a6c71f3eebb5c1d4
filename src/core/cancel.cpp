#include "core/cancel.hpp"

namespace notify {
namespace {

constexpr std::string_view kCancelActor = "cancel";
constexpr std::string_view kCancelled = "cancelled";

Answer judge(const Whereabouts& at) {
  if (at.inbox == InboxState::kSkipped) return Answer::unchanged();
  if (at.inbox == InboxState::kSending) return Answer::refused("too late: a worker is sending it");
  if (at.inbox) return Answer::refused("too late: it is " + std::string(name(*at.inbox)));
  if (at.parked) return Answer::refused("it is parked; park drop closes it");
  if (!at.outbox) return Answer::refused("its row is not in this database; cancel it where it was enqueued");
  switch (*at.outbox) {
    case OutboxState::kPending:
    case OutboxState::kPublishing:
    case OutboxState::kPublished: return Answer::done();
    case OutboxState::kSkipped: return Answer::unchanged();
    case OutboxState::kExpired:
    case OutboxState::kFailed: break;
  }
  return Answer::refused("too late: it is " + std::string(name(*at.outbox)));
}

Result<Answer> cancel_one(const OperatorPorts& ports, const std::string& why, const Whereabouts& at, Instant now) {
  const Answer answer = judge(at);
  if (answer.kind != Answer::Kind::kDone) return answer;
  if (at.outbox == OutboxState::kPending && !at.copy_may_be_out) {
    TRY_ASSIGN(const bool skipped, ports.store.outbox().finish(at.outbox_id, OutboxState::kSkipped, kCancelled, now));
    ASSERT(skipped);  // read in this very transaction
  } else {
    // On its way, or a copy of it may be: stopped where it would be claimed.
    TRY_ASSIGN(const bool skipped, ports.store.inbox().skip(at.message_id, at.outbox_id, at.channel, kCancelled, now));
    ASSERT(skipped);
    TRY(clear_queue(ports, at));
  }
  TRY(ports.store.history().event(at.message_id, kCancelled, why, kCancelActor, now));
  return answer;
}

}  // namespace

Result<OperatorSummary> cancel_messages(const OperatorPorts& ports, std::span<const std::string> ids,
                                        const std::string& why) {
  return operate(ports, ids, CrashPoint::kCancelBeforeCommit, CrashPoint::kCancelAfterCommit,
                 [&](const Whereabouts& at, std::int64_t, Instant now) { return cancel_one(ports, why, at, now); });
}

Result<OperatorSummary> cancel_dry(const OperatorPorts& ports, std::span<const std::string> ids) {
  return operate_dry(ports, ids,
                     [](const Whereabouts& at, std::int64_t, Instant) -> Result<Answer> { return judge(at); });
}

}  // namespace notify

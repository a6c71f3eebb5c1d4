// The claim: one INSERT picks the winner, in the transaction that makes it durable before the call.

#include <algorithm>

#include "core/alert.hpp"
#include "core/idempotency.hpp"
#include "core/recipient_cap.hpp"
#include "core/work.hpp"

namespace notify {
namespace {

// A second copy that meets somebody's live claim looks again at most this much later.
constexpr Duration kLookAgain = 1min;

// How long a claim may lie before its call (row 8b).
constexpr Duration kFrozen = 5s;

InboxClaim inbox_claim(const std::string& message_id, const Dispatch& dispatch, std::int64_t token, std::int64_t holder,
                       Instant now) {
  const Envelope& envelope = dispatch.envelope;
  return {message_id,
          envelope.outbox_id,
          envelope.channel,
          token,
          holder,
          now,
          is_recipient_reference(envelope.recipient) ? dispatch.address : std::string()};
}

}  // namespace

std::optional<Outcome> refuse_late(const Call& call, Clock& clock, const Policies& policies) {
  const Duration wall = clock.now() - call.claimed_at;
  Outcome outcome;
  if (clock.boottime() - call.claimed_boottime > kFrozen || wall > kFrozen || wall < -kFrozen) {
    outcome.cls = OutcomeClass::kNotSent;
    outcome.not_begun = true;
    outcome.reason = "frozen";
    outcome.detail = "this process stood still, or the clock jumped, between claim and call";
    return outcome;
  }
  if (!policies.guard_allows(call.dispatch.address)) {
    outcome.cls = OutcomeClass::kPermanent;
    outcome.reason = "guard";
    return outcome;
  }
  return std::nullopt;
}

Result<void> Worker::claim(const Prepared& prepared, Group& group, Instant now) {
  const DeliveryHandle& handle = prepared.delivery.handle;
  if (stopping_ || group.remaining <= 0) {
    put_back(prepared, group, now, "worker-stopped");
    return {};
  }
  switch (prepared.action) {
    case Action::kPark: return park(prepared, group, now);
    case Action::kSkip:
    case Action::kExpire: return skip(prepared, group, now);
    case Action::kDefer:
      put_back(prepared, group, prepared.until, prepared.reason);
      return ports_.store.history().event(handle.message_id, "deferred", prepared.reason, kWorkActor, now);
    case Action::kCall: break;
  }
  Prepared again = prepare_call(prepared, now);
  if (again.action == Action::kCall) TRY(admit(again, now));
  return again.action == Action::kCall ? claim_call(again, group, now) : claim(again, group, now);
}

Result<void> Worker::claim_call(const Prepared& prepared, Group& group, Instant now) {
  const ChannelConfig& channel = *lanes_[prepared.lane].config;
  Lane& lane = group.lanes[prepared.lane];
  const bool probe = prepared.probe && lane_takes_probe(lane, now);
  if (!lane_open(lane, now) && !probe) {
    put_back(prepared, group, now, "lane-closed");
    return {};
  }
  if (now + channel.timeout >= prepared.lease_until) {
    put_back(prepared, group, now, "lease-too-short");
    return {};
  }
  if (group.out >= concurrency_ || group.out_by_lane[prepared.lane] >= group.windows[prepared.lane].size()) {
    group.kept.push_back(prepared);
    return {};
  }
  TRY_ASSIGN(const std::optional<Instant> room, over_cap(prepared, now));
  if (room) return wait_for_room(prepared, group, *room, now);
  if (channel.rate) {
    if (!lane_take_permit(lane, *channel.rate, now)) {
      const Instant permit = lane_next_permit(lane);
      group.wake_at = std::min(group.wake_at.value_or(permit), permit);
      group.kept.push_back(prepared);
      return {};
    }
    group.lane_changed[prepared.lane] = true;
  }

  const Envelope& envelope = prepared.dispatch.envelope;
  const std::int64_t token = new_token(ports_.random);
  TRY_ASSIGN(const bool won, ports_.store.inbox().claim(inbox_claim(prepared.delivery.handle.message_id,
                                                                    prepared.dispatch, token, holder_, now)));
  if (!won) return contested(prepared, group, now);
  if (const auto cap = recipient_cap(channel, envelope)) {
    TRY(ports_.store.recipients().count_call(channel.name, recipient_subjects(prepared.dispatch), envelope.message_id,
                                             cap->per, now));
  }
  begin_call(prepared, group, token, 1, false, now, now);
  return {};
}

// Somebody was here before. What the earlier claim became decides what this copy is.
Result<void> Worker::contested(const Prepared& prepared, Group& group, Instant now) {
  const std::string& message_id = prepared.delivery.handle.message_id;
  TRY_ASSIGN(const std::optional<InboxRow> row, ports_.store.inbox().find(message_id));
  if (!row || row->state != InboxState::kSending) {  // no row: parked
    ++group.counts.duplicate;
    group.deliveries.push_back({prepared.delivery.handle, std::nullopt, 0, {}});
    return {};
  }
  if (row->holder == 0 && row->resume_at) return take_up(*row, prepared, group, now);
  // Never acked: the owner may yet release the claim, and then this copy is the message.
  const ChannelConfig* channel = config_.channel(row->channel);
  const Instant stale = row->claimed_at + (channel != nullptr ? *channel : ChannelConfig{}).stale_after;
  put_back(prepared, group, std::clamp(stale, now + 1s, now + kLookAgain), "claimed-elsewhere");
  return {};
}

// The claim rests after an unknown call, and this copy is the message. It is called again with the same key, or ends.
Result<void> Worker::take_up(const InboxRow& row, const Prepared& prepared, Group& group, Instant now) {
  if (prepared.action != Action::kCall) return give_up(row, prepared, prepared.reason, group, now);
  const Instant forgotten = forgotten_before(*lanes_[prepared.lane].config, now);
  if (row.first_call_at <= forgotten) return give_up(row, prepared, "idempotency-window-over", group, now);
  if (*row.resume_at > now) {
    put_back(prepared, group, *row.resume_at, "resting");
    return {};
  }
  const std::int64_t token = new_token(ports_.random);
  TRY_ASSIGN(const bool resumed,
             ports_.store.inbox().resume(row.token, inbox_claim(row.message_id, prepared.dispatch, token, holder_, now),
                                         forgotten));
  if (resumed) {
    begin_call(prepared, group, token, row.calls + 1, true, row.first_call_at, now);
  } else {
    put_back(prepared, group, now + 1s, "claimed-elsewhere");
  }
  return {};
}

// No further call may be made, and nobody knows what became of the last one.
Result<void> Worker::give_up(const InboxRow& row, const Prepared& prepared, std::string_view reason, Group& group,
                             Instant now) {
  const Envelope& envelope = prepared.delivery.envelope;
  const std::string detail = "not called again after a call whose outcome is unknown (" + row.reason + ")";
  TRY_ASSIGN(const bool ended,
             ports_.store.inbox().settle(
                 {row.message_id, row.token, InboxState::kError, std::string(reason), detail, {}, 0, now}));
  if (!ended) {
    put_back(prepared, group, now + 1s, "claimed-elsewhere");
    return {};
  }
  group.deliveries.push_back({prepared.delivery.handle, std::nullopt, 0, {}});
  ++group.counts.error;
  const std::string told = std::string(reason) + ": " + detail;
  group.events.push_back({Event::Level::kError, "work.error", row.message_id, envelope.channel, told, 1});
  TRY(ports_.store.history().event(row.message_id, "error", reason, kWorkActor, now));
  return raise_alert(ports_.store.alerts(), "error", envelope, reason, told, now);
}

void Worker::begin_call(const Prepared& prepared, Group& group, std::int64_t token, int attempt, bool unknown_before,
                        Instant first_call_at, Instant now) {
  Call call{prepared.dispatch,       prepared.delivery.handle,
            prepared.lane,           token,
            prepared.delivery.tries, unknown_before,
            first_call_at,           now,
            ports_.clock.boottime(), prepared.probe && group.lanes[prepared.lane].halted};
  call.dispatch.attempt = attempt;
  call.dispatch.tries = prepared.delivery.tries;
  group.calls.push_back(std::move(call));
  ++group.out;
  ++group.out_by_lane[prepared.lane];
  --group.remaining;
}

Result<void> Worker::park(const Prepared& prepared, Group& group, Instant now) {
  const DeliveryHandle& handle = prepared.delivery.handle;
  TRY_ASSIGN(const std::optional<InboxRow> row, ports_.store.inbox().find(handle.message_id));
  if (row) return contested(prepared, group, now);  // it is never poison; mostly this is a second copy of it
  TRY_ASSIGN(const bool parked, ports_.store.parked().park({prepared.delivery.envelope, prepared.reason,
                                                            prepared.detail, prepared.delivery.tries, now}));
  if (!parked) return contested(prepared, group, now);
  group.deliveries.push_back({handle, std::nullopt, 0, {}});
  ++group.counts.parked;
  group.events.push_back({Event::Level::kWarning, "work.parked", handle.message_id, prepared.delivery.envelope.channel,
                          prepared.reason + ": " + prepared.detail, 0, prepared.delivery.envelope.correlation});
  TRY(ports_.store.history().event(handle.message_id, "parked", prepared.reason, kWorkActor, now));
  return raise_alert(ports_.store.alerts(), "parked", prepared.delivery.envelope, prepared.reason, prepared.detail,
                     now);
}

Result<void> Worker::skip(const Prepared& prepared, Group& group, Instant now) {
  const Envelope& envelope = prepared.dispatch.envelope;
  const std::string& message_id = prepared.delivery.handle.message_id;
  TRY_ASSIGN(const bool inserted,
             ports_.store.inbox().skip(message_id, envelope.outbox_id, envelope.channel, prepared.reason, now));
  if (!inserted) return contested(prepared, group, now);
  group.deliveries.push_back({prepared.delivery.handle, std::nullopt, 0, {}});
  ++group.counts.skipped;
  TRY(ports_.store.history().event(message_id, "skipped", prepared.reason, kWorkActor, now));
  if (prepared.action != Action::kExpire) return {};
  return raise_alert(ports_.store.alerts(), "expired", envelope, prepared.reason, {}, now);
}

void Worker::put_back(const Prepared& prepared, Group& group, Instant ready, std::string_view reason) {
  group.deliveries.push_back({prepared.delivery.handle, ready, prepared.delivery.tries, std::string(reason)});
}

}  // namespace notify

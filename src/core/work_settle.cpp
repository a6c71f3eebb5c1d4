// The result of a call: SENT, FAILED, ERROR, put back, or parked. Only proof releases a claim.

#include <algorithm>

#include "core/alert.hpp"
#include "core/backoff.hpp"
#include "core/idempotency.hpp"
#include "core/work.hpp"

namespace notify {
namespace {

// A draining run waits for retries of its own that are not further away than this.
constexpr Duration kOwnRetry = 5s;

constexpr Duration kTellShortageEvery = 1min;

std::string describe(const Outcome& outcome) {
  return outcome.detail.empty() ? outcome.reason : outcome.reason + ": " + outcome.detail;
}

}  // namespace

Result<void> Worker::settle(const Finished& finished, Group& group, Instant now) {
  --group.out;
  --group.out_by_lane[finished.call.lane];
  const Outcome& outcome = finished.outcome;
  const bool first_try_success = outcome.cls == OutcomeClass::kSent && finished.call.dispatch.attempt == 1 &&
                                 finished.call.tries == 0 && !outcome.duplicate_risk;
  // A shortage is no attempt, and may last: rows about it would be without end.
  if (!first_try_success && !outcome.shortage) {  // the evidence of a first-try success is in its inbox row
    TRY(ports_.store.history().attempt(finished.call.delivery.message_id,
                                       finished.call.tries + finished.call.dispatch.attempt, outcome, now));
  }
  TRY(note_lane(finished, group, now));
  TRY(note_recipient(finished, now));

  switch (outcome.cls) {
    case OutcomeClass::kSent: return settle_final(finished, InboxState::kSent, group, now);
    case OutcomeClass::kPermanent:
      // After an unknown attempt a refusal proves nothing about the earlier one.
      if (finished.call.unknown_before) return settle_final(finished, InboxState::kError, group, now);
      return settle_final(finished, InboxState::kFailed, group, now);
    case OutcomeClass::kUnknown: return settle_unknown(finished, group, now);
    case OutcomeClass::kNotSent:
      return finished.call.unknown_before ? settle_unknown(finished, group, now)
                                          : settle_not_sent(finished, group, now);
  }
  return {};
}

// SENT, FAILED (and parked) or ERROR (and an alert): the message is done with.
Result<void> Worker::settle_final(const Finished& finished, InboxState to, Group& group, Instant now) {
  const std::string& message_id = finished.call.delivery.message_id;
  const std::string& channel = finished.call.dispatch.envelope.channel;
  const std::string& correlation = finished.call.dispatch.envelope.correlation;
  const Outcome& outcome = finished.outcome;
  ack(finished, group);
  TRY_ASSIGN(const bool settled, ports_.store.inbox().settle({message_id, finished.call.token, to, outcome.reason,
                                                              outcome.detail, outcome.reference, outcome.status, now}));
  if (!settled) return claim_lost(finished, to, group);
  if (to == InboxState::kSent) {
    ++group.counts.sent;
    group.events.push_back({Event::Level::kDebug, "work.sent", message_id, channel, {}, 1, correlation});
    return {};
  }
  if (to == InboxState::kError) {
    ++group.counts.error;
    group.events.push_back(
        {Event::Level::kError, "work.error", message_id, channel, describe(outcome), 1, correlation});
    TRY(ports_.store.history().event(message_id, "error", outcome.reason, kWorkActor, now));
    return raise_alert(ports_.store.alerts(), "error", finished.call.dispatch.envelope, outcome.reason,
                       describe(outcome), now);
  }
  ++group.counts.failed;
  group.events.push_back(
      {Event::Level::kWarning, "work.failed", message_id, channel, describe(outcome), 1, correlation});
  TRY(ports_.store.parked().park(
      {finished.call.dispatch.envelope, outcome.reason, outcome.detail, finished.call.tries + 1, now}));
  TRY(ports_.store.history().event(message_id, "failed", outcome.reason, kWorkActor, now));
  return raise_alert(ports_.store.alerts(), "parked", finished.call.dispatch.envelope, outcome.reason,
                     describe(outcome), now);
}

// A receipt was here before the result: the message is SENT and stays so. Anything else must not happen.
Result<void> Worker::claim_lost(const Finished& finished, InboxState to, Group& group) {
  const std::string& message_id = finished.call.delivery.message_id;
  TRY_ASSIGN(const std::optional<InboxRow> row, ports_.store.inbox().find(message_id));
  const bool proven = row && row->state == InboxState::kSent && to != InboxState::kFailed;
  if (proven) ++group.counts.sent;
  group.events.push_back({proven ? Event::Level::kDebug : Event::Level::kError,
                          proven ? "work.sent" : "work.claim-lost", message_id, finished.call.dispatch.envelope.channel,
                          "the result came after the claim had been taken away: " + describe(finished.outcome),
                          proven ? 1 : 0, finished.call.dispatch.envelope.correlation});
  return {};
}

// Whether the message has nothing to do with what became of its call.
bool Worker::costs_nothing(const Finished& finished, const Group& group) const {
  const Outcome& outcome = finished.outcome;
  return outcome.cls == OutcomeClass::kNotSent &&
         (outcome.not_begun || concerns_lane(outcome) || group.lanes[finished.call.lane].halted);
}

// It, or an earlier call of this claim, may have been processed. Only a channel whose vendor honours the message id may
// ask again, with the same id, while the vendor remembers it.
Result<void> Worker::settle_unknown(const Finished& finished, Group& group, Instant now) {
  const Call& call = finished.call;
  const ChannelConfig& channel = *lanes_[call.lane].config;
  const bool counts = !costs_nothing(finished, group);
  const int calls = call.dispatch.attempt - (counts ? 0 : 1);
  const bool may_again = channel.semantics == Semantics::kAtLeastOnce &&
                         (!counts || static_cast<std::size_t>(calls) <= channel.retry.size());
  if (may_again) {
    const Duration ladder = counts ? backoff_delay(channel.retry, calls, ports_.random.next64()) : Duration{0};
    const Duration wait = std::max(ladder, finished.outcome.retry_after.value_or(Duration{0}));
    if (call.first_call_at > forgotten_before(channel, now + wait)) {
      TRY_ASSIGN(const bool rests, ports_.store.inbox().rest(call.delivery.message_id, call.token, now + wait, calls,
                                                             finished.outcome.reason, finished.outcome.detail, now));
      if (rests) {
        tell_shortage(finished, group, now);
        retry(finished, group, now + wait, call.tries, counts && wait <= kOwnRetry);
        return {};
      }
    }
  }
  return settle_final(finished, InboxState::kError, group, now);
}

// Certainly not sent: the claim is deleted and the message tried again, or parked when it is out of tries.
// What concerns the lane costs the message nothing.
Result<void> Worker::settle_not_sent(const Finished& finished, Group& group, Instant now) {
  const Call& call = finished.call;
  const ChannelConfig& channel = *lanes_[call.lane].config;
  TRY_ASSIGN(const bool released, ports_.store.inbox().release(call.delivery.message_id, call.token));
  if (!released) {
    // Row 12b: it was taken away in the meantime, and is ERROR or will become it.
    ack(finished, group);
    return raise_alert(ports_.store.alerts(), "release-failed", call.dispatch.envelope, finished.outcome.reason, {},
                       now);
  }
  TRY(uncount(finished));
  if (costs_nothing(finished, group)) {
    tell_shortage(finished, group, now);
    const bool lane = concerns_lane(finished.outcome);  // then the lane waits, and not this message
    retry(finished, group, lane ? now : now + finished.outcome.retry_after.value_or(Duration{0}), call.tries, false);
    return {};
  }
  if (static_cast<std::size_t>(call.tries) >= channel.retry.size()) {
    return park_call(finished, "retries-exhausted", group, now);
  }
  const Duration wait = std::max(backoff_delay(channel.retry, call.tries + 1, ports_.random.next64()),
                                 finished.outcome.retry_after.value_or(Duration{0}));
  retry(finished, group, now + wait, call.tries + 1, wait <= kOwnRetry);
  return {};
}

// One warning a minute, however many calls it stops.
void Worker::tell_shortage(const Finished& finished, Group& group, Instant now) {
  if (!finished.outcome.shortage || now < group.shortage_told_until) return;
  group.shortage_told_until = now + kTellShortageEvery;
  group.events.push_back({Event::Level::kWarning,
                          "work.shortage",
                          {},
                          finished.call.dispatch.envelope.channel,
                          "not sent for now: " + finished.outcome.detail,
                          0});
}

Result<void> Worker::park_call(const Finished& finished, std::string_view reason, Group& group, Instant now) {
  const Call& call = finished.call;
  const std::string& message_id = call.delivery.message_id;
  ack(finished, group);
  ++group.counts.parked;
  group.events.push_back({Event::Level::kWarning, "work.parked", message_id, call.dispatch.envelope.channel,
                          std::string(reason) + ": " + describe(finished.outcome), 1,
                          call.dispatch.envelope.correlation});
  TRY(ports_.store.parked().park(
      {call.dispatch.envelope, std::string(reason), describe(finished.outcome), call.tries + 1, now}));
  TRY(ports_.store.history().event(message_id, "parked", reason, kWorkActor, now));
  return raise_alert(ports_.store.alerts(), "parked", call.dispatch.envelope, reason, describe(finished.outcome), now);
}

Result<void> Worker::note_lane(const Finished& finished, Group& group, Instant now) {
  if (finished.outcome.not_begun) return {};
  group.windows[finished.call.lane].note(finished.outcome, finished.call.claimed_at, now);
  Lane& lane = group.lanes[finished.call.lane];
  const Lane before = lane;
  const LaneChange change = lane_note_outcome(lane, finished.outcome, finished.call.probe, now);
  if (change == LaneChange::kHalted) {
    group.events.push_back({Event::Level::kError, "lane.halted", {}, lane.channel, describe(finished.outcome), 0});
    TRY(ports_.store.alerts().raise("lane-halted", lane.channel, finished.call.delivery.message_id,
                                    finished.outcome.reason, now));
  } else if (change == LaneChange::kReopened) {
    group.events.push_back({Event::Level::kInfo, "lane.reopened", {}, lane.channel, {}, 0});
    TRY(ports_.store.alerts().close("lane-halted", lane.channel, now));
  }
  if (before.halted != lane.halted || before.hold_until != lane.hold_until || before.reason != lane.reason ||
      before.refused_in_a_row != lane.refused_in_a_row) {
    group.lane_changed[finished.call.lane] = true;
  }
  return {};
}

void Worker::ack(const Finished& finished, Group& group) {
  group.deliveries.push_back({finished.call.delivery, std::nullopt, 0, {}});
}

void Worker::retry(const Finished& finished, Group& group, Instant ready, int tries, bool own_retry) {
  ++group.counts.retried;
  group.deliveries.push_back({finished.call.delivery, ready, tries, finished.outcome.reason});
  if (own_retry) group.own_retry_until = std::max(group.own_retry_until.value_or(ready), ready);
  group.events.push_back({Event::Level::kInfo, "work.retry", finished.call.delivery.message_id,
                          finished.call.dispatch.envelope.channel, describe(finished.outcome), 0,
                          finished.call.dispatch.envelope.correlation});
}

}  // namespace notify

// What the recipient has to do with a message: where it goes, whether it may, how often, and whether the address still
// lives.

#include "core/recipient_cap.hpp"
#include "core/work.hpp"

namespace notify {
namespace {

// When the recipient could not be read; a store in trouble is met by the turn that follows.
constexpr Duration kReadAgain = 5s;

}  // namespace

// Before the claim, outside a transaction. Sets the address, or the action that takes the place of the call.
void Worker::find_address(Prepared& prepared, Variables& vars) {
  const Envelope& envelope = prepared.dispatch.envelope;
  prepared.action = Action::kCall;
  prepared.dispatch.address = envelope.recipient;
  if (!is_recipient_reference(envelope.recipient)) return;

  const std::string_view id = std::string_view(envelope.recipient).substr(1);
  const auto instead = [&](Action action, const char* reason, std::string detail) {
    prepared.action = action;
    prepared.reason = reason;
    prepared.detail = std::move(detail);
  };
  Result<Resolved> resolved = ports_.store.recipients().resolve(id, envelope.channel);
  if (!resolved) {
    prepared.until = ports_.clock.now() + kReadAgain;
    return instead(Action::kDefer, "recipient-unread", {});
  }
  switch (resolved->kind) {
    case Resolved::Kind::kFound: break;
    case Resolved::Kind::kUnknown: return instead(Action::kPark, "no-endpoint", "there is no such recipient");
    case Resolved::Kind::kNoEndpoint:
      return instead(Action::kPark, "no-endpoint", "the recipient has no endpoint for channel " + envelope.channel);
    case Resolved::Kind::kDisabled: return instead(Action::kSkip, "endpoint-disabled", {});
  }
  prepared.dispatch.address = std::move(resolved->address);
  if (!resolved->locale.empty()) vars.emplace_back("locale", std::move(resolved->locale));
}

// In the transaction of the claim: what was right when the message was looked at may have changed.
Result<void> Worker::admit(Prepared& prepared, Instant now) {
  RecipientTable& recipients = ports_.store.recipients();
  const Envelope& envelope = prepared.dispatch.envelope;
  const std::string& address = prepared.dispatch.address;
  const auto instead = [&](Action action, const char* reason) {
    prepared.action = action;
    prepared.reason = reason;
    prepared.until = now;
  };
  if (is_recipient_reference(envelope.recipient)) {
    const std::string_view id = std::string_view(envelope.recipient).substr(1);
    TRY_ASSIGN(const Resolved resolved, recipients.resolve(id, envelope.channel));
    if (resolved.kind != Resolved::Kind::kFound || resolved.address != address) {
      instead(Action::kDefer, "endpoint-changed");  // the next look says what that means
      return {};
    }
  } else {
    TRY_ASSIGN(const bool dead, recipients.dead(envelope.channel, address));
    if (dead) {
      instead(Action::kSkip, "endpoint-disabled");
      return {};
    }
  }
  TRY_ASSIGN(const bool opted_out,
             recipients.opted_out(envelope.recipient, address, envelope.channel, envelope.category, envelope.kind));
  if (opted_out) instead(Action::kSkip, "opted-out");
  return {};
}

// When the recipient may be written to again; empty: now.
Result<std::optional<Instant>> Worker::over_cap(const Prepared& prepared, Instant now) {
  const ChannelConfig& channel = *lanes_[prepared.lane].config;
  const Envelope& envelope = prepared.dispatch.envelope;
  const std::optional<RecipientCap> cap = recipient_cap(channel, envelope);
  if (!cap) return std::nullopt;
  return ports_.store.recipients().full_until(channel.name, recipient_subjects(prepared.dispatch), envelope.message_id,
                                              cap->limit, cap->per, now);
}

// It waits for room; what would be worthless by then ends now, and says why.
Result<void> Worker::wait_for_room(const Prepared& prepared, Group& group, Instant room, Instant now) {
  const Envelope& envelope = prepared.dispatch.envelope;
  if (envelope.expires && *envelope.expires <= room) {
    Prepared expired = prepared;
    expired.action = Action::kExpire;
    expired.reason = "expires-over-recipient-cap";
    return skip(expired, group, now);
  }
  put_back(prepared, group, room, "recipient-cap");
  return ports_.store.history().event(envelope.message_id, "deferred", "recipient-cap", kWorkActor, now);
}

// The vendor says that the address is dead: the next message to it is not sent, in whatever way it is addressed.
Result<void> Worker::note_recipient(const Finished& finished, Instant now) {
  if (!finished.outcome.disable_endpoint) return {};
  const Dispatch& dispatch = finished.call.dispatch;
  const Outcome& outcome = finished.outcome;
  TRY_ASSIGN(const bool changed, ports_.store.recipients().disable_address(dispatch.envelope.channel, dispatch.address,
                                                                           outcome.reason, outcome.gone_since, now));
  if (!changed) return {};
  return ports_.store.history().event(finished.call.delivery.message_id, "endpoint-disabled", outcome.reason,
                                      kWorkActor, now);
}

// The call was certainly not made, so the recipient was not disturbed.
Result<void> Worker::uncount(const Finished& finished) {
  const Call& call = finished.call;
  const ChannelConfig& channel = *lanes_[call.lane].config;
  if (!recipient_cap(channel, call.dispatch.envelope)) return {};
  return ports_.store.recipients().forget_call(channel.name, recipient_subjects(call.dispatch),
                                               call.delivery.message_id, call.claimed_at);
}

}  // namespace notify

// What the worker finds out before it claims: everything that would stop a message is found here, with no call
// made and no claim left behind.

#include <algorithm>

#include "core/payload.hpp"
#include "core/text_encoding.hpp"
#include "core/work.hpp"

namespace notify {
namespace {

// Which member of the payload it is about belongs to the reason.
std::string with_field(const Error& error) {
  return error.field.empty() || error.message.find(error.field) != std::string::npos
             ? error.message
             : error.field + ": " + error.message;
}

}  // namespace

Worker::Prepared Worker::prepare(Delivery delivery, Instant lease_until) {
  Prepared prepared;
  prepared.delivery = std::move(delivery);
  prepared.lease_until = lease_until;
  const Envelope& envelope = prepared.delivery.envelope;
  const auto park = [&](std::string reason, std::string detail) {
    prepared.dispatch.envelope = envelope;
    prepared.action = Action::kPark;
    prepared.reason = std::move(reason);
    prepared.detail = std::move(detail);
    return std::move(prepared);
  };

  const auto lane =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const WorkLane& l) { return l.config->name == envelope.channel; });
  if (lane == lanes_.end()) {
    return park("unknown-channel", "no channel '" + envelope.channel + "' is configured: add [channels." +
                                       envelope.channel + "], or enqueue again for another one");
  }
  prepared.lane = static_cast<std::size_t>(lane - lanes_.begin());

  if (prepared.delivery.handle.message_id.size() > limits::kMessageId) {
    return park("message-id-too-long", "a message id has at most " + std::to_string(limits::kMessageId) + " bytes");
  }
  if (prepared.delivery.lost_leases >= config_.queue.delivery_limit) {
    return park("delivery-limit", std::to_string(prepared.delivery.lost_leases) +
                                      " workers died or lost their lease while they held this message");
  }
  Result<Payload> payload = parse_payload(envelope.payload);
  if (!payload) return park("bad-payload", with_field(payload.error()));
  if (*payload == Payload{}) return park("bad-payload", "the message says nothing: no subject, body, html or data");
  Variables of_recipient;
  prepared.dispatch.envelope = envelope;
  find_address(prepared, of_recipient);
  if (prepared.action != Action::kCall) return prepared;
  const bool templated = !payload->template_name.empty();
  Result<Payload> content =
      render(ports_.templates, *payload, envelope.channel, config_.templates.default_locale, of_recipient);
  if (!content) return park(templated ? "bad-template" : "bad-payload", with_field(content.error()));

  if (const auto& limit = lane->config->max_text_bytes) {
    if (const auto fit = check_text_limit(*content, *limit); !fit) return park(fit.error().field, fit.error().message);
  }
  prepared.dispatch.content = std::move(*content);
  if (const Result<void> fit = lane->driver->check(prepared.dispatch); !fit) {
    return park("bad-message", with_field(fit.error()));
  }
  return prepare_call(std::move(prepared), ports_.clock.now());
}

// The policies' answer for a message that could be called; asked again right before the claim.
Worker::Prepared Worker::prepare_call(Prepared prepared, Instant now) {
  const Verdict verdict =
      ports_.policies.judge(prepared.dispatch.envelope, Stage::kWork, now, prepared.dispatch.address);
  switch (verdict.kind) {
    case Verdict::Kind::kGo: prepared.action = Action::kCall; break;
    case Verdict::Kind::kDefer: prepared.action = Action::kDefer; break;
    case Verdict::Kind::kSkip: prepared.action = Action::kSkip; break;
    case Verdict::Kind::kExpire: prepared.action = Action::kExpire; break;
  }
  prepared.reason = verdict.reason;
  prepared.until = verdict.until;
  return prepared;
}

}  // namespace notify

#include "sim/broker.hpp"

#include <algorithm>

namespace notify::sim {

void Broker::connection_lost(std::int64_t holder) {
  for (Message& message : messages_) {
    if (message.holder != holder) continue;
    message.holder = 0;
    message.token = 0;
    ++message.lost_leases;
  }
}

Broker::Message* Broker::held(const DeliveryHandle& handle) {
  for (Message& message : messages_)
    if (message.token == handle.lease_token && message.envelope.message_id == handle.message_id) return &message;
  return nullptr;
}

Result<std::vector<PublishAnswer>> BrokerTransport::publish(std::span<const Envelope> batch, Instant now) {
  if (broker_.down) return fail(Code::kUnavailable, "cannot reach the broker: connection refused");
  std::vector<PublishAnswer> answers;
  for (const Envelope& envelope : batch) {
    const Broker::Fate fate = broker_.on_publish();
    if (fate != Broker::Fate::kRefused) broker_.messages_.push_back({envelope, now, 0, 0, {}, 0, 0});
    answers.push_back(fate == Broker::Fate::kOk ? PublishAnswer{PublishAnswer::Kind::kConfirmed, {}}
                      : fate == Broker::Fate::kRefused
                          ? PublishAnswer{PublishAnswer::Kind::kRefused, "nack"}
                          : PublishAnswer{PublishAnswer::Kind::kUnknown, "confirm-timeout"});
  }
  return answers;
}

Result<std::vector<Delivery>> BrokerTransport::receive(const ReceiveRequest& request) {
  std::vector<Delivery> taken;
  for (Broker::Message& message : broker_.messages_) {
    if (message.token != 0 && message.lease_until <= request.now) {
      message.token = 0;
      ++message.lost_leases;
    }
    if (message.token != 0 || message.ready > request.now) continue;
    const auto lane = std::find_if(request.lanes.begin(), request.lanes.end(),
                                   [&](const ReceiveQuota& q) { return q.channel == message.envelope.channel; });
    const auto already = std::count_if(
        taken.begin(), taken.end(), [&](const Delivery& d) { return d.envelope.channel == message.envelope.channel; });
    const int limit = lane == request.lanes.end() ? request.unlisted : lane->limit;
    if (already >= limit) continue;
    message.token = ++broker_.last_token_;
    message.holder = holder_;
    message.lease_until = request.lease_until;
    taken.push_back(
        {{message.envelope.message_id, message.token}, message.envelope, message.lost_leases, message.tries});
  }
  return taken;
}

Result<bool> BrokerTransport::ack(const DeliveryHandle& handle) {
  Broker::Message* message = broker_.held(handle);
  if (message == nullptr) return false;
  if (broker_.ack_is_lost()) return true;
  std::erase_if(broker_.messages_, [&](const Broker::Message& m) { return &m == message; });
  return true;
}

Result<bool> BrokerTransport::retry_at(const DeliveryHandle& handle, Instant ready, int tries, std::string_view) {
  Broker::Message* message = broker_.held(handle);
  if (message == nullptr) return false;
  message->token = 0;
  message->holder = 0;
  message->ready = ready;
  message->tries = tries;
  return true;
}

Result<bool> BrokerTransport::extend(const DeliveryHandle& handle, Instant lease_until) {
  Broker::Message* message = broker_.held(handle);
  if (message == nullptr) return false;
  message->lease_until = lease_until;
  return true;
}

Result<std::optional<Instant>> BrokerTransport::next_ready(std::span<const std::string>, Instant now) {
  std::optional<Instant> next;
  for (const Broker::Message& message : broker_.messages_) {
    const Instant at = message.token != 0 ? message.lease_until : std::max(message.ready, now);
    if (!next || at < *next) next = at;
  }
  return next;
}

}  // namespace notify::sim

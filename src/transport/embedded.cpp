#include "transport/embedded.hpp"

namespace notify {

EmbeddedTransport::EmbeddedTransport(QueueTable& queue, std::int64_t holder) : queue_(queue), holder_(holder) {}

Result<std::vector<PublishAnswer>> EmbeddedTransport::publish(std::span<const Envelope> batch, Instant now) {
  std::vector<PublishAnswer> answers;
  answers.reserve(batch.size());
  for (const Envelope& envelope : batch) {
    TRY_ASSIGN(const bool put, queue_.put(envelope.outbox_id, holder_, now));
    // Refused: the claim was lost in the meantime, and whoever took the row over publishes it.
    answers.push_back(put ? PublishAnswer{PublishAnswer::Kind::kConfirmed, {}}
                          : PublishAnswer{PublishAnswer::Kind::kRefused, "claim-lost"});
  }
  return answers;
}

Result<std::vector<Delivery>> EmbeddedTransport::receive(const ReceiveRequest& request) { return queue_.take(request); }

Result<bool> EmbeddedTransport::ack(const DeliveryHandle& handle) {
  return queue_.remove(handle.message_id, handle.lease_token);
}

Result<bool> EmbeddedTransport::retry_at(const DeliveryHandle& handle, Instant ready, int tries,
                                         std::string_view reason) {
  return queue_.put_back(handle.message_id, handle.lease_token, ready, tries, reason);
}

Result<bool> EmbeddedTransport::extend(const DeliveryHandle& handle, Instant lease_until) {
  return queue_.extend(handle.message_id, handle.lease_token, lease_until);
}

Result<int> EmbeddedTransport::recover_holder(std::int64_t holder, Instant now) {
  return queue_.recover_holder(holder, now);
}

Result<std::optional<Instant>> EmbeddedTransport::next_ready(std::span<const std::string> channels, Instant now) {
  return queue_.next_ready(channels, now);
}

}  // namespace notify

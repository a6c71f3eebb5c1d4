#pragma once

#include "core/ports/queue_table.hpp"
#include "core/ports/transport.hpp"

namespace notify {

// The transport of one machine: notification_queue in the same database. Publishing, acknowledging and putting
// back happen inside the caller's Store::write. `holder` is this process's run id: only what it has claimed in
// the outbox can be published; 0 for processes that only receive.
class EmbeddedTransport final : public Transport {
 public:
  EmbeddedTransport(QueueTable& queue, std::int64_t holder);

  bool in_store_transaction() const override { return true; }
  Result<std::vector<PublishAnswer>> publish(std::span<const Envelope> batch, Instant now) override;
  Result<std::vector<Delivery>> receive(const ReceiveRequest& request) override;
  Result<bool> ack(const DeliveryHandle& handle) override;
  Result<bool> retry_at(const DeliveryHandle& handle, Instant ready, int tries, std::string_view reason) override;
  Result<bool> extend(const DeliveryHandle& handle, Instant lease_until) override;
  Result<int> recover_holder(std::int64_t holder, Instant now) override;
  Result<std::optional<Instant>> next_ready(std::span<const std::string> channels, Instant now) override;

 private:
  QueueTable& queue_;
  std::int64_t holder_;
};

}  // namespace notify

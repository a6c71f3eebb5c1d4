#pragma once

// A message broker in memory that loses confirms and acks: the other kind of transport, whose operations are not part
// of the store's transaction.

#include <deque>
#include <functional>
#include <string>

#include "core/ports/clock.hpp"
#include "core/ports/transport.hpp"

namespace notify::sim {

// The broker itself; processes come and go.
class Broker {
 public:
  enum class Fate { kOk, kLostAfterwards, kRefused };
  // What becomes of a publish, and of an ack. kLostAfterwards: it happened, but nobody hears of it (publish), or the
  // peer thinks it happened and it did not (ack).
  std::function<Fate()> on_publish = [] { return Fate::kOk; };
  std::function<bool()> ack_is_lost = [] { return false; };
  bool down = false;

  void connection_lost(std::int64_t holder);
  std::size_t depth() const { return messages_.size(); }

 private:
  friend class BrokerTransport;
  struct Message {
    Envelope envelope{};
    Instant ready{};
    std::int64_t token = 0;  // 0: not delivered
    std::int64_t holder = 0;
    Instant lease_until{};
    int lost_leases = 0;
    int tries = 0;
  };
  Message* held(const DeliveryHandle& handle);

  std::deque<Message> messages_{};
  std::int64_t last_token_ = 0;
};

class BrokerTransport final : public Transport {
 public:
  BrokerTransport(Broker& broker, std::int64_t holder, Clock& clock)
      : broker_(broker), holder_(holder), clock_(clock) {}

  bool in_store_transaction() const override { return false; }
  Result<std::vector<PublishAnswer>> publish(std::span<const Envelope> batch, Instant now) override;
  Result<std::vector<Delivery>> receive(const ReceiveRequest& request) override;
  Result<bool> ack(const DeliveryHandle& handle) override;
  Result<bool> retry_at(const DeliveryHandle& handle, Instant ready, int tries, std::string_view reason) override;
  Result<bool> extend(const DeliveryHandle& handle, Instant lease_until) override;
  Result<int> recover_holder(std::int64_t, Instant) override { return 0; }
  Result<std::optional<Instant>> next_ready(std::span<const std::string> channels, Instant now) override;

 private:
  Broker& broker_;
  std::int64_t holder_;
  Clock& clock_;
};

}  // namespace notify::sim

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/message.hpp"

namespace notify {

// The answer of the next hop for one message of a batch.
struct PublishAnswer {
  enum class Kind {
    kConfirmed,  // it is durable there
    kRefused,    // it is certainly not there
    kUnknown,    // it may be there
  };
  Kind kind = Kind::kUnknown;
  std::string reason{};
};

// Names one delivery to one receiver. Worthless after the lease is lost: acting on it then changes nothing.
struct DeliveryHandle {
  std::string message_id{};
  std::int64_t lease_token = 0;
};

struct Delivery {
  DeliveryHandle handle{};
  Envelope envelope{};
  int lost_leases = 0;  // how many earlier deliveries ended by a lost lease (deferrals do not count)
  int tries = 0;        // how many calls ended as certainly not sent so far
};

// Which lane (channel) to take from, and how many at the most.
struct ReceiveQuota {
  std::string channel{};
  int limit = 0;
};

struct ReceiveRequest {
  std::span<const ReceiveQuota> lanes{};
  // How many messages of channels that `lanes` does not name may be taken besides (so that the worker can
  // park what no configured channel will ever send). Brokers deliver those anyway.
  int unlisted = 0;
  Instant now{};
  Instant lease_until{};
  std::int64_t holder = 0;  // run id of the receiving process
};

// Between relay and worker. The embedded queue and every broker implement this port; a conformance suite
// (tests/contract) runs over all of them. One instance belongs to one thread.
class Transport {
 public:
  virtual ~Transport() = default;

  // True when the transport's operations are part of the store's write transaction (embedded queue): then
  // they are called inside Store::write and become durable with it. False for brokers: then they are called
  // with no transaction open.
  virtual bool in_store_transaction() const = 0;

  // Publishes a batch and answers per message, in order. All are started before any is waited for. An error
  // means that the transport itself is down and nothing of the batch was taken.
  virtual Result<std::vector<PublishAnswer>> publish(std::span<const Envelope> batch, Instant now) = 0;

  // Takes up to the quotas' messages that are ready now, urgent before less urgent, fair between kinds.
  virtual Result<std::vector<Delivery>> receive(const ReceiveRequest& request) = 0;

  // The message is done with. False: the lease was lost in the meantime (nothing changed).
  virtual Result<bool> ack(const DeliveryHandle& handle) = 0;

  // Puts the message back until `ready`. `tries` becomes the count given back with the next delivery.
  virtual Result<bool> retry_at(const DeliveryHandle& handle, Instant ready, int tries, std::string_view reason) = 0;

  // Keeps the lease of a delivery that is still being worked on.
  virtual Result<bool> extend(const DeliveryHandle& handle, Instant lease_until) = 0;

  // Ends the leases of a dead process at once, counting them as lost. Brokers do this by themselves (0).
  virtual Result<int> recover_holder(std::int64_t holder, Instant now) = 0;

  // When the next message of these lanes becomes ready; empty when none waits.
  virtual Result<std::optional<Instant>> next_ready(std::span<const std::string> channels, Instant now) = 0;
};

}  // namespace notify

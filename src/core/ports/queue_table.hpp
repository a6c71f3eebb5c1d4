#pragma once

#include "core/ports/transport.hpp"

namespace notify {

// notification_queue: the storage behind the embedded transport. A row carries the outbox id, not a second
// copy of the payload; receiving joins them. A leased row is invisible until its lease ends (ready_at is the
// lease's end), so an expired lease is ready again by itself.
class QueueTable {
 public:
  virtual ~QueueTable() = default;

  // INSERT … SELECT from the outbox row if it is PUBLISHING and claimed by this holder (run id); false when it is
  // not, so that a relay which lost its claim puts nothing. A message that is queued already stays as it is.
  virtual Result<bool> put(std::int64_t outbox_id, std::int64_t holder, Instant now) = 0;
  virtual Result<std::vector<Delivery>> take(const ReceiveRequest& request) = 0;
  virtual Result<bool> remove(std::string_view message_id, std::int64_t lease_token) = 0;
  virtual Result<bool> put_back(std::string_view message_id, std::int64_t lease_token, Instant ready, int tries,
                                std::string_view reason) = 0;
  virtual Result<bool> extend(std::string_view message_id, std::int64_t lease_token, Instant until) = 0;
  // Ends all leases of a dead holder, each counted as lost.
  virtual Result<int> recover_holder(std::int64_t holder, Instant now) = 0;
  virtual Result<std::optional<Instant>> next_ready(std::span<const std::string> channels, Instant now) = 0;
  // Whoever holds it: for cancel, park add and for claims that ended without their worker.
  virtual Result<bool> remove_any(std::string_view message_id) = 0;
  virtual Result<bool> make_ready(std::string_view message_id, Instant ready) = 0;
};

}  // namespace notify

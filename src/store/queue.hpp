#pragma once

#include "core/ports/queue_table.hpp"
#include "store/fair_pick.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteQueue final : public QueueTable {
 public:
  explicit SqliteQueue(Session& session) : session_(session) {}

  Result<bool> put(std::int64_t outbox_id, std::int64_t holder, Instant now) override;
  Result<std::vector<Delivery>> take(const ReceiveRequest& request) override;
  Result<bool> remove(std::string_view message_id, std::int64_t lease_token) override;
  Result<bool> put_back(std::string_view message_id, std::int64_t lease_token, Instant ready, int tries,
                        std::string_view reason) override;
  Result<bool> extend(std::string_view message_id, std::int64_t lease_token, Instant until) override;
  Result<int> recover_holder(std::int64_t holder, Instant now) override;
  Result<std::optional<Instant>> next_ready(std::span<const std::string> channels, Instant now) override;
  Result<bool> remove_any(std::string_view message_id) override;
  Result<bool> make_ready(std::string_view message_id, Instant ready) override;

 private:
  Result<void> take_lane(std::string_view channel, int limit, const ReceiveRequest& request,
                         std::vector<Delivery>& deliveries);
  Result<void> take_unlisted(const ReceiveRequest& request, std::vector<Delivery>& deliveries);
  Result<void> end_leases(std::string_view channel, Instant now);

  Session& session_;
  FairPick pick_{};
};

}  // namespace notify

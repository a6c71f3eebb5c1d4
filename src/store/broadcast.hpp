#pragma once

#include "core/ports/broadcast_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteBroadcasts final : public BroadcastTable {
 public:
  explicit SqliteBroadcasts(Session& session) : session_(session) {}

  Result<BroadcastInsert> insert(const NewBroadcast& request, Instant now) override;
  Result<std::optional<Broadcast>> next_open(std::int64_t after) override;
  Result<bool> advance(std::int64_t id, std::int64_t from, std::int64_t to, Instant now) override;
  Result<void> count(std::int64_t id, const BroadcastStep& step) override;
  Result<bool> add_target(std::int64_t id, std::string_view recipient, std::string_view match_address) override;
  Result<bool> close(std::int64_t id, BroadcastState to, std::string_view reason, Instant now) override;
  Result<int> forget_targets(int limit) override;
  Result<bool> any_target_to_forget() override;
  Result<std::optional<Broadcast>> find(std::string_view key_or_id) override;
  Result<std::vector<Broadcast>> all(std::int64_t before, int limit) override;
  Result<std::vector<std::string>> lists_in_use() override;
  Result<BroadcastCounts> counts(std::int64_t id) override;
  Result<std::vector<std::string>> message_ids(std::int64_t id) override;

 private:
  Result<std::optional<Broadcast>> by_id(std::int64_t id);
  Result<void> count_published(std::int64_t outbox_id, BroadcastCounts& counts);

  Session& session_;
};

}  // namespace notify

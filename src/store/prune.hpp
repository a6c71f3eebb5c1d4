#pragma once

#include "core/ports/prune_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqlitePrune final : public PruneTable {
 public:
  explicit SqlitePrune(Session& session) : session_(session) {}

  Result<Page> finished_before(std::int64_t after, Instant cutoff, bool unscrubbed) override;
  Result<bool> remove(std::int64_t outbox_id, Instant cutoff, Instant now) override;
  Result<bool> scrub(std::int64_t outbox_id, Instant cutoff, Instant now) override;
  Result<void> begin() override;
  Result<void> end() override;
  Result<int> forget_keys(Instant cutoff) override;
  Result<int> count_keys(Instant cutoff) override;
  Result<int> forget_alerts(Instant cutoff) override;
  Result<int> forget_receipts(Instant cutoff) override;
  Result<int> scrub_broadcasts(Instant cutoff) override;
  Result<int> forget_credentials(Instant cutoff) override;

 private:
  // A finished message as its removal needs it.
  struct Finished {
    std::string message_id{};
    OutboxState outbox = OutboxState::kPublished;
    std::optional<InboxState> inbox{};
    bool scrubbed = false;
  };
  Result<std::optional<Finished>> finished(std::int64_t outbox_id, Instant cutoff);
  Result<std::optional<Finished>> still_finished(std::int64_t outbox_id, Instant cutoff);
  Result<void> keep_key(const std::string& message_id, std::int64_t outbox_id, Instant now);
  Result<void> forget_history(const std::string& message_id);

  Session& session_;
};

}  // namespace notify

#pragma once

#include "core/ports/operator_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteOperators final : public OperatorTable {
 public:
  explicit SqliteOperators(Session& session) : session_(session) {}

  Result<std::optional<Whereabouts>> whereabouts(std::string_view id_or_key) override;
  Result<bool> mend(std::int64_t outbox_id, const Mending& mending) override;
  Result<bool> restore(std::string_view message_id, Instant due, Instant now) override;
  Result<bool> take_from_queue(std::string_view message_id, std::int64_t dead_holder) override;
  Result<bool> park(std::string_view message_id, std::int64_t outbox_id, std::string_view reason, Instant now) override;

 private:
  Result<bool> read_outbox(std::int64_t id, Whereabouts& at);
  Result<bool> read_inbox(Whereabouts& at);
  Result<bool> read_parked(Whereabouts& at);
  Result<bool> read_queue(Whereabouts& at);

  Session& session_;
};

}  // namespace notify

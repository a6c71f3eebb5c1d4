#pragma once

#include "core/ports/side_tables.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteHistory final : public HistoryTable {
 public:
  explicit SqliteHistory(Session& session) : session_(session) {}

  Result<void> attempt(std::string_view message_id, int number, const Outcome& outcome, Instant now) override;
  Result<void> event(std::string_view message_id, std::string_view name, std::string_view detail,
                     std::string_view actor, Instant now) override;
  Result<std::optional<AttemptMark>> last_attempt(std::string_view message_id, Instant since) override;
  Result<bool> happened(std::string_view message_id, std::string_view name) override;

 private:
  Session& session_;
};

}  // namespace notify

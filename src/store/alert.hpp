#pragma once

#include "core/ports/side_tables.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteAlerts final : public AlertTable {
 public:
  explicit SqliteAlerts(Session& session) : session_(session) {}

  Result<void> raise(std::string_view kind, std::string_view subject, std::string_view message_id,
                     std::string_view detail, Instant now) override;
  Result<void> close(std::string_view kind, std::string_view subject, Instant now) override;
  Result<void> keep_open(std::string_view kind, std::string_view subject, std::string_view detail,
                         Instant now) override;
  Result<std::vector<Alert>> open_alerts() override;
  Result<std::vector<Alert>> due(Instant told_before, std::string_view except, int limit) override;
  Result<bool> tell(std::int64_t id, std::int64_t told, Instant now) override;

 private:
  Session& session_;
};

}  // namespace notify

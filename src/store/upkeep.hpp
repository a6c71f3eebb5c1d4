#pragma once

#include "core/ports/upkeep_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteUpkeep final : public UpkeepTable {
 public:
  explicit SqliteUpkeep(Session& session) : session_(session) {}

  Result<std::optional<std::int64_t>> recall(std::string_view name) override;
  Result<void> remember(std::string_view name, std::int64_t value) override;
  Result<void> correct_counter(std::string_view name, std::int64_t change) override;

 private:
  Session& session_;
};

}  // namespace notify

#pragma once

#include "core/ports/side_tables.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteParked final : public ParkedTable {
 public:
  explicit SqliteParked(Session& session) : session_(session) {}

  Result<bool> park(const ParkedMessage& message) override;
  Result<bool> contains(std::string_view message_id) override;
  Result<bool> remove(std::string_view message_id) override;
  Result<bool> any(std::string_view channel, std::string_view reason) override;

 private:
  Session& session_;
};

}  // namespace notify

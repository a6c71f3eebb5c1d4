#pragma once

#include "core/ports/side_tables.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteLanes final : public LaneTable {
 public:
  explicit SqliteLanes(Session& session) : session_(session) {}

  Result<std::vector<Lane>> all() override;
  Result<std::optional<Lane>> find(std::string_view channel) override;
  Result<void> save(const Lane& lane, Instant now) override;
  Result<void> pause(std::string_view channel, std::optional<Instant> until, std::string_view reason,
                     Instant now) override;
  Result<bool> resume(std::string_view channel, Instant now) override;

 private:
  Session& session_;
};

}  // namespace notify

#pragma once

#include "core/ports/receipt_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteReceipts final : public ReceiptTable {
 public:
  explicit SqliteReceipts(Session& session) : session_(session) {}

  Result<std::optional<std::int64_t>> keep(const Receipt& receipt, Instant now) override;
  Result<std::vector<Receipt>> waiting(std::int64_t after, int limit) override;
  Result<void> close(std::int64_t id, std::string_view result, Instant now) override;
  Result<std::vector<std::string>> messages_of(std::string_view reference) override;

 private:
  Session& session_;
};

}  // namespace notify

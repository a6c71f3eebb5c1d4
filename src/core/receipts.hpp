#pragma once

// What becomes of delivery receipts: row 24 of the failure table. A receipt is kept first, each once, and applied in the
// same transaction, with what it says about address and lane; one whose message is not known yet, or is being called right now, waits and is looked at again.

#include <cstdint>

#include "core/evidence.hpp"
#include "core/ports/receipt_table.hpp"

namespace notify {

enum class ReceiptFate {
  kKnown,    // it had been taken before
  kSettled,  // it decided what became of its message
  kNoted,    // it is in the history and changes nothing
  kWaits,    // its message is being called
  kUnknown,  // no message, or more than one, goes by that id; kept for a week
};

class Receipts {
 public:
  Receipts(Store& store, Evidence& evidence) : store_(store), evidence_(evidence) {}

  // Inside Store::write. Keeps and applies a new receipt.
  Result<ReceiptFate> take(Receipt receipt, Instant now);
  // Inside Store::write. Applies one that was kept.
  Result<ReceiptFate> apply(const Receipt& receipt, Instant now);

 private:
  Result<ReceiptFate> judge(const Receipt& receipt, Instant now);
  Result<std::optional<std::string>> message_of(const Receipt& receipt);
  Result<bool> concerns(const Receipt& receipt, const std::string& message_id);
  Result<ReceiptFate> refuse(const Receipt& receipt, const std::string& message_id, const std::optional<InboxRow>& row,
                             Instant now);
  Result<ReceiptFate> undelivered(const Receipt& receipt, const InboxRow& row, Instant now);

  Store& store_;
  Evidence& evidence_;
};

}  // namespace notify

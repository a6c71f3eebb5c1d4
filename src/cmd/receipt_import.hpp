#pragma once

#include <string>

#include "cmd/context.hpp"
#include "core/receipt_reader.hpp"
#include "core/reconcile.hpp"

namespace notify {

// reconcile --receipts: reads a stream of receipts and hands them to the reconciler in groups. No transaction is open
// while it waits for input. Bad lines are reported on standard error as FILE:LINE: field: reason, and counted.
struct ReceiptImport {
  std::string file{};  // "-": standard input
  ReceiptFormat format = ReceiptFormat::kJsonLines;
  std::string channel{};  // of receipts that name none
};

Result<void> import_receipts(const ReceiptImport& import, Reconciler& reconciler, Context& context);

}  // namespace notify

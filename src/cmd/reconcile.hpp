#pragma once

#include <optional>
#include <string>

#include "cmd/command.hpp"

namespace notify {

struct ReconcileOptions {
  std::optional<std::string> receipts{};  // a file; "-": standard input
  std::optional<std::string> format{};    // "jsonl" or "csv"; none: as the file's name ends
  std::optional<std::string> channel{};   // of receipts that name none
  bool verify = false;
};

Page reconcile_page();
void register_options(OptionSet& set, ReconcileOptions& options);
Result<int> run(const ReconcileOptions& options, Context& context);

}  // namespace notify

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"

namespace notify {

struct CancelOptions {
  std::vector<std::string> ids{};
  std::string key_prefix{};
  std::optional<std::string> broadcast{};
  std::string why{};
  bool dry_run = false;
};

Page cancel_page();
void register_options(OptionSet& set, CancelOptions& options);
Result<int> run(const CancelOptions& options, Context& context);

}  // namespace notify

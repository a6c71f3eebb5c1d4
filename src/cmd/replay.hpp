#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"

namespace notify {

struct ReplayCommandOptions {
  std::vector<std::string> ids{};
  bool parked = false;
  bool failed = false;
  bool expired = false;
  bool skipped = false;
  bool error = false;
  std::string channel{};
  std::string kind{};
  std::string reason{};
  std::optional<std::string> since{};
  std::optional<std::string> until{};
  std::string key_prefix{};
  std::int64_t limit = 0;
  bool dry_run = false;
  bool yes = false;
  bool accept_duplicates = false;
  bool reveal = false;
  std::string rate{};
  std::string why{};
  std::optional<std::string> expires{};
  std::vector<std::string> sets{};
  std::string patch{};
};

Page replay_page();
void register_options(OptionSet& set, ReplayCommandOptions& options);
Result<int> run(const ReplayCommandOptions& options, Context& context);

}  // namespace notify

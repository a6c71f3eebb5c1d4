#pragma once

#include <cstdint>
#include <optional>

#include "cmd/command.hpp"

namespace notify {

struct RelayCommandOptions {
  std::optional<int> batch{};
  std::optional<Duration> lease{};
  std::optional<std::int64_t> max{};
  std::optional<Duration> max_run{};  // not set: 4 minutes, without end with --watch
  bool watch = false;
  bool dry_run = false;
  bool allow_surge = false;
};

Page relay_page();
void register_options(OptionSet& set, RelayCommandOptions& options);
Result<int> run(const RelayCommandOptions& options, Context& context);

}  // namespace notify

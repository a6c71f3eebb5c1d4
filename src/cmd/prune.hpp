#pragma once

#include <optional>

#include "cmd/command.hpp"
#include "core/instant.hpp"

namespace notify {

struct PruneCommandOptions {
  std::optional<Duration> older_than{};
  std::optional<Duration> scrub_after{};
  bool dry_run = false;
};

Page prune_page();
void register_options(OptionSet& set, PruneCommandOptions& options);
Result<int> run(const PruneCommandOptions& options, Context& context);

}  // namespace notify

#pragma once

#include <optional>
#include <string>

#include "cmd/command.hpp"

namespace notify {

struct InitCommandOptions {
  std::optional<std::string> source{};
  bool wal = false;
  bool after_restore = false;
  bool yes = false;
};

Page init_page();
void register_options(OptionSet& set, InitCommandOptions& options);
Result<int> run(const InitCommandOptions& options, Context& context);

}  // namespace notify

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"

namespace notify {

struct WorkCommandOptions {
  std::vector<std::string> channels{};  // each may be a list "a,b"; empty: all configured ones
  std::optional<int> concurrency{};
  std::optional<std::string> rate{};
  bool drain = false;
  std::optional<std::int64_t> max{};
  std::optional<Duration> max_run{};
};

Page work_page();
void register_options(OptionSet& set, WorkCommandOptions& options);
Result<int> run(const WorkCommandOptions& options, Context& context);

}  // namespace notify

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cmd/command.hpp"

namespace notify {

struct ListOptions {
  std::string subject{};
  std::string channel{};
  std::string kind{};
  std::string state{};
  std::string reason{};
  std::optional<std::string> since{};
  std::optional<std::string> until{};
  std::string key_prefix{};
  std::optional<std::int64_t> limit{};
  bool oldest_first = false;
  bool reveal = false;
};

Page list_page();
void register_options(OptionSet& set, ListOptions& options);
Result<int> run(const ListOptions& options, Context& context);

}  // namespace notify

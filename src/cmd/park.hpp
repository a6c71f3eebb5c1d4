#pragma once

#include <string>
#include <vector>

#include "cmd/command.hpp"
#include "cmd/list.hpp"

namespace notify {

struct ParkOptions {
  std::string action = "list";
  std::vector<std::string> ids{};
  ListOptions list{};  // its reason and reveal are those of every action
};

Page park_page();
void register_options(OptionSet& set, ParkOptions& options);
Result<int> run(const ParkOptions& options, Context& context);

}  // namespace notify

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"

namespace notify {

struct HelpOptions {
  std::vector<std::string> words{};      // a command's name
  std::optional<std::string> man{};      // print this page's mdoc source
  std::optional<std::string> man_all{};  // write all pages into this directory
};

Page help_page();
void register_options(OptionSet& set, HelpOptions& options);
Result<int> run(const HelpOptions& options, Context& context);

}  // namespace notify

#pragma once

#include <string>

#include "cmd/command.hpp"

namespace notify {

struct ShowOptions {
  std::string id{};
  bool reveal = false;
};

Page show_page();
void register_options(OptionSet& set, ShowOptions& options);
Result<int> run(const ShowOptions& options, Context& context);

}  // namespace notify

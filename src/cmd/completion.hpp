#pragma once

#include <string>

#include "cmd/command.hpp"

namespace notify {

struct CompletionOptions {
  std::string shell{};
};

Page completion_page();
void register_options(OptionSet& set, CompletionOptions& options);
Result<int> run(const CompletionOptions& options, Context& context);

}  // namespace notify

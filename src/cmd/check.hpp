#pragma once

#include "cmd/command.hpp"

namespace notify {

struct CheckOptions {
  bool offline = false;
  bool quick = false;
};

Page check_page();
void register_options(OptionSet& set, CheckOptions& options);
Result<int> run(const CheckOptions& options, Context& context);

}  // namespace notify

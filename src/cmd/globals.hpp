#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/option_set.hpp"
#include "sys/environment.hpp"

namespace notify {

// The options that every command has, accepted before and after its name.
struct Globals {
  std::optional<std::string> config{};
  std::optional<std::string> db{};
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  std::string log_format = "text";
  std::string color = "auto";
};

inline constexpr const char* kGlobalGroup = "Global options";

void register_options(OptionSet& set, Globals& globals);

// Fills in what was not given on the command line from the variables that the options name.
Result<void> apply_environment(Globals& globals, const OptionSet& set, const Environment& environment);

}  // namespace notify

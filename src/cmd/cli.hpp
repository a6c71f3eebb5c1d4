#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"
#include "cmd/globals.hpp"
#include "core/error.hpp"

namespace notify {

// A command line, understood but not yet run.
struct Invocation {
  const Command* command = nullptr;  // nullptr: none was named
  Globals globals{};
  bool help = false;
  bool version = false;
  Runner runner{};  // empty with help
};

// `words` without the program's name. Errors are usage errors.
Result<Invocation> parse_command_line(const std::vector<std::string>& words, const Environment& environment);

// The whole program. Returns the exit status.
int run(int argc, char** argv);

}  // namespace notify

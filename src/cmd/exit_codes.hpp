#pragma once

#include <span>
#include <string_view>

namespace notify {

struct ExitCode {
  int status = 0;
  std::string_view codes{};    // the names that JSON errors give, divided by spaces; empty: no error
  std::string_view meaning{};  // one sentence without its full stop
};

// Every exit status of the program, as notifyctl(1) and docs/exit-codes.md list them. A test compares it with
// the codes of core/error.hpp.
std::span<const ExitCode> exit_codes() noexcept;

}  // namespace notify

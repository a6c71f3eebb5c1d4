#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

// The completion script for "bash", "zsh" or "fish", made from the registered commands and options.
Result<std::string> shell_completion(std::string_view shell);

}  // namespace notify

// The key=value words of modes and rules.
#pragma once

#include <string>

#include "behaviour.hpp"

namespace stub {

// Throws std::invalid_argument.
[[noreturn]] void reject(const std::string& what);

// Throws std::invalid_argument when the key is unknown or the value does not suit it.
void set_key(Rule& rule, const std::string& key, const std::string& value);

}  // namespace stub

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace notify {

// A variable of this process; unset: nothing. Nothing ever writes the environment.
std::optional<std::string> environment_variable(const char* name);

// How variables are read where a test must be able to say what is in them.
using Environment = std::function<std::optional<std::string>(const char* name)>;
inline Environment process_environment() { return environment_variable; }

}  // namespace notify

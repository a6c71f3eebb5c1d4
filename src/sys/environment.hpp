#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace notify {

// How environment variables are read: the real ones, or a test's. Unset: nothing.
using Environment = std::function<std::optional<std::string>(const char* name)>;

inline Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

}  // namespace notify

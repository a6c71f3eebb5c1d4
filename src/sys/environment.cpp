#include "sys/environment.hpp"

#include <cstdlib>

namespace notify {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing ever writes the environment
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace notify

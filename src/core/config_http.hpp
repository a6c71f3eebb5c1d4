#pragma once

// Driver "http": a vendor that is described by a recipe.

#include <map>
#include <memory>
#include <string>

#include "core/secret.hpp"

namespace notify {

struct Recipe;

struct HttpDriverConfig {
  std::string recipe_name{};                        // as written: a built-in recipe's name, or a path
  std::shared_ptr<const Recipe> recipe{};           // checked; never null
  std::map<std::string, SecretSetting> settings{};  // those that the recipe declares and the channel gives
  int batch = 1;                                    // messages in one request; more than 1 only as the recipe allows
};

}  // namespace notify

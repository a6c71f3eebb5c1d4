#pragma once

// Recipes: built-in ones by name, others by the path of their file.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/recipe.hpp"

namespace notify {

struct BuiltInRecipe {
  std::string_view name;
  std::string_view text;  // TOML
};

// Sorted by name.
std::vector<BuiltInRecipe> built_in_recipes();

// What is written as `recipe = "…"`: a path when it holds a slash or ends in .toml (a relative one counts from
// `directory`), else a built-in recipe's name. Errors (kConfig) name file, line and key; `problems`, when given, gets all
// of them.
Result<std::shared_ptr<const Recipe>> load_recipe(const std::string& written, const std::string& directory,
                                                  std::vector<Error>* problems = nullptr);

// The same for a text; `name` stands in the errors' place of a file.
Result<std::shared_ptr<const Recipe>> parse_recipe(std::string_view text, const std::string& name,
                                                   std::vector<Error>* problems = nullptr);

}  // namespace notify

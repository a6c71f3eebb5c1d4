#pragma once

#include <string>

#include "core/error.hpp"
#include "core/recipe_text.hpp"

namespace notify {

// One filter of a placeholder, applied to its value; `or`, `json` and `number` are not among them (recipe_values.cpp).
// Errors (kBadInput) say what the value is not, without the value.
Result<std::string> filtered(const RecipeFilter& filter, std::string value);

}  // namespace notify

#pragma once

#include "core/error.hpp"
#include "core/recipe.hpp"
#include "core/recipe_values.hpp"

namespace notify {

// What the recipe asks of a message before it is claimed: its checks, in order. The error's message becomes the reason for
// which the message is parked; it holds sizes and names, and no values.
Result<void> check_message(const Recipe& recipe, const RecipeInput& input);

}  // namespace notify

#pragma once

// From a recipe and a message to an HTTP request. Pure.

#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/ports/http.hpp"
#include "core/recipe.hpp"
#include "core/recipe_values.hpp"

namespace notify {

struct RecipeCall {
  HttpRequest request{};
  std::vector<std::string> secrets{};  // made for this request: signature, JWT, the credentials of basic and bearer
};

// What is in the recipe for one request, the signature included. `base` has the limits and flags. Each value is escaped
// for its place: it cannot leave its JSON string, its form field, its URL segment or its header line. Errors
// (kBadInput): what the message lacks, or what a header cannot hold. The URL is put together and not judged.
Result<RecipeCall> make_call(const RecipeRequest& request, const RecipeAuth& auth,
                             const std::optional<RecipeSignature>& signature, RecipeInput input, HttpRequest base);

// The recipe's token, signed now. Errors: kBadInput for a claim that cannot be made, kConfig for a key that cannot sign.
Result<std::string> make_jwt(const RecipeJwt& recipe, const RecipeInput& input);

// The value of a JSON body as text, without white space.
Result<std::string> json_text(const RecipeNode& node, const RecipeInput& input);

std::string signature_of(const RecipeSignature& signature, const std::string& key, const std::string& text);

}  // namespace notify

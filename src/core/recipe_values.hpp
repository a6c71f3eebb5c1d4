#pragma once

// What the placeholders of a recipe stand for, in one call. Pure.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/ports/channel.hpp"
#include "core/recipe.hpp"
#include "core/recipe_text.hpp"

namespace notify {

// A body that a vendor posted, with what came around it.
struct RecipeReceived {
  std::string body{};
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};  // names in lower case
  std::vector<std::pair<std::string, std::string>> form{};     // decoded; empty when the body is no form
};

// Settings by name: those that the channel gives, and the defaults of the others.
using RecipeSettings = std::map<std::string, std::string, std::less<>>;

// Everything a text may be made of. What a text may not mention may be missing.
struct RecipeInput {
  const Recipe& recipe;
  const RecipeSettings& settings;
  const Dispatch* message = nullptr;
  const LookUpQuestion* question = nullptr;
  const RecipeReceived* received = nullptr;
  const std::vector<std::string>* elements = nullptr;  // of a batch, each as JSON; then `message` is one of them
  Instant now{};
  std::string nonce{};
  std::string token{};
  std::string jwt{};
  std::string signature{};
  struct Request {
    std::string method{};
    std::string path{};
    std::string url{};
    std::string body{};
  } request{};
};

// What becomes of a placeholder for something that is not there (a member of data) and has no default.
enum class Missing { kIsError, kIsEmpty };

// Errors (kBadInput) name the field of the message that is missing or cannot be written as the recipe wants it. They do
// not hold values.
Result<std::string> text_of(const RecipeText& pieces, const RecipeInput& input, Missing missing = Missing::kIsError);

// The same for a URL: what the recipe writes stays, what is put in is percent-encoded (RFC 3986), so that no value can
// become another segment, parameter or host. A setting at the very beginning is the operator's and stays as it is.
Result<std::string> url_of(const RecipeText& pieces, const RecipeInput& input);

// A placeholder whose value is JSON (RecipePlaceholder::is_json()).
Result<std::string> json_of(const RecipePlaceholder& place, const RecipeInput& input,
                            Missing missing = Missing::kIsError);

Result<bool> holds(const RecipeConditions& conditions, const RecipeInput& input);

// How long a text is in that unit; an error when the encoding does not have one of its characters. `what` begins the
// message.
Result<std::size_t> length_of(std::string_view what, std::string_view text, RecipeUnit unit);

// Without a channel's setting `url`, whether the recipient is the URL.
bool recipient_is_url(const Recipe& recipe, const RecipeSettings& settings);

}  // namespace notify

#pragma once

// Several messages in one request, and what its answer means for each of them. Pure.

#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/outcome.hpp"
#include "core/ports/http.hpp"
#include "core/recipe.hpp"
#include "core/recipe_request.hpp"
#include "core/recipe_values.hpp"

namespace notify {

// What one message brings to a request of several.
struct RecipeBatchPart {
  std::vector<std::string> together{};  // equal for all messages of a request
  std::vector<std::string> key{};       // what its result is found by; different for all messages of a request
  std::string element{};                // JSON
};

// `input` has the message. Errors as of make_call(), and kBadInput when what its result is found by is empty.
Result<RecipeBatchPart> batch_part(const RecipeBatch& batch, const RecipeInput& input);

// The request for all `elements`; `input` has one of their messages. Errors as of make_call().
Result<RecipeCall> make_batch_call(const Recipe& recipe, RecipeInput input, const std::vector<std::string>& elements,
                                   HttpRequest base);

struct RecipeBatchMember {
  std::vector<std::string> key{};            // as of its part
  std::vector<std::string> private_parts{};  // of this message
};

struct RecipeBatchVerdict {
  std::vector<Outcome> outcomes{};  // one for each member, in their order
  bool accepted = false;            // the results were looked at; otherwise all outcomes are the same
  bool refresh_token = false;       // as of RecipeVerdict
};

// An answer that was accepted is judged result by result: a message without one, with two, or whose key another message
// has too, is unknown; by index all are, when the results are not as many as the messages. So is everything in a success
// that is cut off or no JSON, and a result's success in an answer that was not accepted. Any other answer, and none, is
// judged for all as for a single message, but for two things: what would be a success is unknown, and what would be refused
// for good is not sent, since it says nothing of any one of them: each is to go alone then.
// `secrets`: what must not come back in any text.
RecipeBatchVerdict judge_batch(const Recipe& recipe, const HttpEvidence& evidence, Instant now,
                               std::span<const RecipeBatchMember> members, std::span<const std::string> secrets);

}  // namespace notify

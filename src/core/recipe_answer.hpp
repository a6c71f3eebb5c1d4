#pragma once

// What a vendor's answer means by a recipe. Pure; the answer is foreign and may be hostile: every look at it takes time
// in proportion to its size (64 KiB at the most) and to the recipe's.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/instant.hpp"
#include "core/outcome.hpp"
#include "core/ports/http.hpp"
#include "core/recipe.hpp"
#include "core/recipe_values.hpp"

namespace notify {

// A body and its headers, parsed once. What is no JSON, or JSON that is too deep, has no members.
class RecipeDocument {
 public:
  RecipeDocument(std::string_view body, std::span<const std::pair<std::string, std::string>> headers);
  // A form's members, as an object of strings.
  static RecipeDocument of_form(std::span<const std::pair<std::string, std::string>> form);
  ~RecipeDocument();
  RecipeDocument(RecipeDocument&&) noexcept;
  RecipeDocument& operator=(RecipeDocument&&) noexcept;
  RecipeDocument(const RecipeDocument&) = delete;
  RecipeDocument& operator=(const RecipeDocument&) = delete;

  bool is_json() const noexcept;
  // The text of a string, number or boolean, or of a header. Nothing where there is none.
  std::optional<std::string> value(const RecipeSource& source) const;
  std::optional<std::string> first_of(const std::vector<RecipeSource>& sources) const;
  // All of them, joined by ":"; empty when one is missing.
  std::string joined(const std::vector<RecipeSource>& sources) const;
  bool matches(const RecipeMatch& match, int status) const;
  // The elements of the list (or members of the object) at the pointer; nothing when it is neither. A list that is not
  // there and one without elements are different things.
  std::optional<std::vector<RecipeDocument>> elements(const std::vector<std::string>& pointer) const;
  bool is_list(const std::vector<std::string>& pointer) const;  // whose order means something

 private:
  struct Node;
  explicit RecipeDocument(std::unique_ptr<Node> node);
  bool passes(const RecipeTest& test) const;

  std::string body_{};
  std::vector<std::pair<std::string, std::string>> headers_{};
  std::unique_ptr<Node> node_;
};

// Whether a text is one of the values: equal but for the case of ASCII letters, inside `lo..hi`, or with `*` for anything.
bool is_one_of(std::string_view text, std::span<const std::string> values);

struct RecipeVerdict {
  Outcome outcome{};
  bool refresh_token = false;  // the vendor refused the token, and a new one may help
};

// The outcome of a call. Without an answer, and for an answer that no rule names, as core/classify judges, but that a
// success which no rule names is unknown. `private_parts`: what must not come back in texts: secrets, and the personal
// parts of the message.
RecipeVerdict judge_answer(const Recipe& recipe, const HttpEvidence& evidence, Instant now,
                           std::span<const std::string> private_parts);

// The outcome of one message by its result in the answer to a batch. What no rule names is unknown.
Outcome judge_result(const RecipeBatch& batch, const HttpEvidence& evidence, const RecipeDocument& result, Instant now,
                     std::span<const std::string> private_parts);

// What the vendor says became of a message: the first rule that one of the elements which are ours fits.
LookUpAnswer judge_look_up(const RecipeLookUp& look_up, const HttpEvidence& evidence, const RecipeInput& input,
                           std::span<const std::string> private_parts);

// The first rule that no answer can reach, since an earlier one takes every answer that it would take; its index.
std::optional<std::size_t> unreachable(std::span<const RecipeMatch* const> rules);

}  // namespace notify

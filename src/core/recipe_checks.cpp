#include "core/recipe_checks.hpp"

#include <algorithm>

#include "core/ascii.hpp"
#include "core/json_text.hpp"
#include "core/mail_address.hpp"

namespace notify {
namespace {

using Form = RecipeCheck::Form;

bool all_digits(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most && std::all_of(text.begin(), text.end(), is_digit);
}

bool has_form(Form form, std::string_view text) {
  switch (form) {
    case Form::kAny: return true;
    case Form::kDigits: return all_digits(text, 1, text.size());
    case Form::kNumber: return all_digits(text.starts_with('-') ? text.substr(1) : text, 1, 18);
    case Form::kE164:
      return text.starts_with('+') && text.size() > 1 && text[1] != '0' && all_digits(text.substr(1), 7, 15);
    case Form::kPhone: return all_digits(text, 7, 15);
    case Form::kId:
      return std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
      });
    case Form::kEmail: return parse_mail_address(text).has_value();
  }
  return true;
}

const char* form_words(Form form) {
  switch (form) {
    case Form::kDigits: return "is not made of digits";
    case Form::kNumber: return "is not a whole number";
    case Form::kE164: return "is not a telephone number with its country, like +821012345678";
    case Form::kPhone: return "is not a telephone number of 7 to 15 digits";
    case Form::kEmail: return "is not one bare mail address, name@example.com";
    default: return "holds more than letters, digits, - and _";
  }
}

// "(광고)" and the like; they stand in the recipe.
Result<void> check_words(const RecipeCheck& check, std::string_view value) {
  if (!value.starts_with(check.begins))
    return fail_field(check.field, check.name + " does not begin with " + check.begins);
  const auto& words = check.contains;
  if (words.empty() || std::any_of(words.begin(), words.end(),
                                   [&](const std::string& word) { return value.find(word) != std::string_view::npos; }))
    return {};
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : " or ") + word;
  return fail_field(check.field, check.name + " does not hold " + list);
}

Result<void> check_elements(const RecipeCheck& check, const RecipeInput& input) {
  TRY_ASSIGN(const std::string list, json_of(*check.value.front().place, input, Missing::kIsEmpty));
  if (list.empty()) return {};
  std::size_t count = 0;
  JsonReader reader;
  TRY(reader.value(list, 0, [&](JsonValue& value) {
    return value.elements(check.field, [&](JsonValue&) -> Result<void> {
      ++count;
      return {};
    });
  }));
  if (count <= *check.max) return {};
  return fail_field(check.field, check.name + " has " + std::to_string(count) + " elements; the vendor takes " +
                                     std::to_string(*check.max));
}

Result<void> check_one(const RecipeCheck& check, const RecipeInput& input) {
  TRY_ASSIGN(const bool concerned, holds(check.when, input));
  if (!concerned) return {};
  if (check.elements) return check_elements(check, input);
  TRY_ASSIGN(const std::string value, text_of(check.value, input, Missing::kIsEmpty));
  if (value.empty()) {
    if (check.required) return fail_field(check.field, check.name + " is missing: the vendor needs it");
    return {};
  }
  if (!has_form(check.form, value)) return fail_field(check.field, check.name + " " + form_words(check.form));
  TRY(check_words(check, value));
  if (!check.max) return {};
  TRY_ASSIGN(const std::size_t length, length_of(check.name, value, check.unit));
  if (length <= *check.max) return {};
  const std::string unit = unit_name(check.unit);
  const std::string of =
      check.unit == RecipeUnit::kCharacters || check.unit == RecipeUnit::kUtf8 ? " " + unit : " bytes of " + unit;
  return fail_field(
      "text-too-long",
      check.name + " has " + std::to_string(length) + of + "; the vendor takes " + std::to_string(*check.max),
      "shorten it");
}

}  // namespace

Result<void> check_message(const Recipe& recipe, const RecipeInput& input) {
  for (const RecipeCheck& check : recipe.checks) TRY(check_one(check, input));
  return {};
}

}  // namespace notify

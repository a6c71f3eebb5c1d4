#include "core/recipe_checks.hpp"

#include <algorithm>

#include "core/ascii.hpp"

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
  }
  return true;
}

const char* form_words(Form form) {
  switch (form) {
    case Form::kDigits: return "is not made of digits";
    case Form::kNumber: return "is not a whole number";
    case Form::kE164: return "is not a telephone number with its country, like +821012345678";
    case Form::kPhone: return "is not a telephone number of 7 to 15 digits";
    default: return "holds more than letters, digits, - and _";
  }
}

Result<void> check_one(const RecipeCheck& check, const RecipeInput& input) {
  TRY_ASSIGN(const bool concerned, holds(check.when, input));
  if (!concerned) return {};
  TRY_ASSIGN(const std::string value, text_of(check.value, input, Missing::kIsEmpty));
  if (value.empty()) {
    if (check.required) return fail_field(check.field, check.name + " is missing: the vendor needs it");
    return {};
  }
  if (!has_form(check.form, value)) return fail_field(check.field, check.name + " " + form_words(check.form));
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

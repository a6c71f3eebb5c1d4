#include "core/recipe_token.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "core/recipe_answer.hpp"

namespace notify {
namespace {

constexpr std::size_t kLongestToken = 16 * 1024;
constexpr Duration kLongestLife = std::chrono::hours(24 * 366);

std::optional<std::int64_t> whole_number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// "20261130222609", in a zone that is `offset` ahead of UTC.
std::optional<Instant> compact_time(std::string_view text, Duration offset) {
  namespace chrono = std::chrono;
  if (text.size() != 14) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t size) { return whole_number_in(text.substr(at, size)); };
  const auto year = part(0, 4);
  const auto month = part(4, 2);
  const auto day = part(6, 2);
  const auto hour = part(8, 2);
  const auto minute = part(10, 2);
  const auto second = part(12, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const chrono::year_month_day date{chrono::year(static_cast<int>(*year)), chrono::month(static_cast<unsigned>(*month)),
                                    chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const chrono::seconds local = chrono::sys_days(date).time_since_epoch() + chrono::hours(*hour) +
                                chrono::minutes(*minute) + chrono::seconds(*second);
  return Instant{chrono::duration_cast<Duration>(local).count()} - offset;
}

std::optional<Instant> end_of(const RecipeToken& recipe, const RecipeDocument& answer, Instant now) {
  const std::optional<std::string> text = answer.value(recipe.expires);
  if (!text) return std::nullopt;
  if (recipe.expiry == RecipeToken::Expiry::kCompact) return compact_time(*text, recipe.offset);
  const std::optional<std::int64_t> number = whole_number_in(*text);
  if (!number || *number > 100'000'000'000) return std::nullopt;
  if (recipe.expiry == RecipeToken::Expiry::kEpoch) return Instant{*number * 1000};
  return now + Duration{*number * 1000};
}

}  // namespace

std::optional<Credential> granted_token(const RecipeToken& recipe, const HttpEvidence& evidence, Instant now) {
  if (evidence.status < 200 || evidence.body_truncated) return std::nullopt;
  const RecipeDocument answer(evidence.body, evidence.headers);
  if (!answer.matches(recipe.granted, evidence.status)) return std::nullopt;
  const std::optional<std::string> value = answer.value(recipe.value);
  const bool plain = value && !value->empty() && value->size() <= kLongestToken &&
                     std::all_of(value->begin(), value->end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!plain) return std::nullopt;
  Credential token{Secret(*value), now, now + recipe.lifetime};
  if (recipe.expiry != RecipeToken::Expiry::kNone)
    if (const std::optional<Instant> end = end_of(recipe, answer, now)) token.expires = *end;
  if (token.expires <= now) return std::nullopt;
  token.expires = std::min(token.expires, now + kLongestLife);
  return token;
}

}  // namespace notify

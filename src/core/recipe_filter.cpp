#include "core/recipe_filter.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/ascii.hpp"
#include "core/crypto.hpp"
#include "core/safe_text.hpp"
#include "core/text_encoding.hpp"
#include "core/url_text.hpp"

namespace notify {
namespace {

std::string digits(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), is_digit);
  return out;
}

// A telephone number with "+", or as it is written at home; anything but digits and what people put between them is an
// error. "0082…" and "00182…" are how the number is dialled in Korea.
Result<std::string> number_of(std::string_view text) {
  const bool odd = std::any_of(text.begin(), text.end(), [](char c) {
    return !is_digit(c) && std::string_view("+-. ()").find(c) == std::string_view::npos;
  });
  const bool plus = text.starts_with('+');
  std::string number = digits(text);
  if (odd || number.empty() || text.find('+', 1) != std::string_view::npos)
    return fail(Code::kBadInput, "it is not a telephone number");
  if (plus) return "+" + number;
  if (number.starts_with("00182")) return "+" + number.substr(3);
  if (number.starts_with("0082")) return "+" + number.substr(2);
  return number;
}

Result<std::string> korean(std::string_view text) {
  TRY_ASSIGN(const std::string number, number_of(text));
  if (!number.starts_with('+')) return number.starts_with("820") ? number.substr(2) : number;
  if (!number.starts_with("+82")) return fail(Code::kBadInput, "it is not a number in Korea");
  const std::string rest = number.substr(3);
  return rest.starts_with('0') ? rest : "0" + rest;
}

Result<std::string> e164(std::string_view text) {
  TRY_ASSIGN(const std::string number, number_of(text));
  if (number.starts_with("+820")) return "+82" + number.substr(4);
  if (number.starts_with('+')) return number;
  if (number.starts_with('0')) return "+82" + number.substr(1);
  return "+" + number;
}

std::string with_entities(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += quotes ? "&quot;" : "\""; break;
      default: out += c;
    }
  }
  return out;
}

std::string line_feeds(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    }
  }
  return out;
}

std::size_t character_size(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return end - at;
}

std::size_t units_of(std::string_view character, RecipeUnit unit) {
  switch (unit) {
    case RecipeUnit::kCharacters: return 1;
    case RecipeUnit::kUtf8: return character.size();
    case RecipeUnit::kUtf16: return character.size() == 4 ? 2 : 1;
    case RecipeUnit::kEucKr: return encoded_size(character, TextEncoding::kEucKr).bytes;
    case RecipeUnit::kCp949: return encoded_size(character, TextEncoding::kCp949).bytes;
    case RecipeUnit::kUcs2: return encoded_size(character, TextEncoding::kUcs2).bytes;
    case RecipeUnit::kGsm7: return encoded_size(character, TextEncoding::kGsm7).bytes;
  }
  return 1;
}

std::string fitted(std::string_view text, std::size_t limit, RecipeUnit unit) {
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    used += units_of(text.substr(at, size), unit);
    if (used > limit) return std::string(text.substr(0, at));
    at += size;
  }
  return std::string(text);
}

std::string hash(std::string_view text, std::size_t length) {
  Sha256Hasher hasher;
  hasher.update(text);
  const Sha256 digest = hasher.finish();
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()}).substr(0, length);
}

// "<source>-<generation>-<number>" without the source, which is the same for all messages of a database.
std::string short_id(const std::string& id) {
  const std::size_t number = id.rfind('-');
  if (number == std::string::npos || number == 0) return id;
  const std::size_t generation = id.rfind('-', number - 1);
  return generation == std::string::npos ? id : id.substr(generation + 1);
}

Result<std::string> sum(std::string_view text, std::int64_t more) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    return fail(Code::kBadInput, "it is not a whole number");
  std::int64_t result = 0;
  if (__builtin_add_overflow(number, more, &result)) return fail(Code::kBadInput, "it is too large a number");
  return std::to_string(result);
}

std::string mapped(std::string text, char from, char to, char base) {
  for (char& c : text)
    if (c >= from && c <= to) c = static_cast<char>(c - from + base);
  return text;
}

}  // namespace

Result<std::string> filtered(const RecipeFilter& filter, std::string value) {
  using Kind = RecipeFilter::Kind;
  switch (filter.kind) {
    case Kind::kDigits: return digits(value);
    case Kind::kKorean: return korean(value);
    case Kind::kE164: return e164(value);
    case Kind::kNoPlus: return value.starts_with('+') ? value.substr(1) : value;
    case Kind::kTrim: return std::string(trimmed(value, kWhiteSpace));
    case Kind::kLower: return mapped(std::move(value), 'A', 'Z', 'a');
    case Kind::kUpper: return mapped(std::move(value), 'a', 'z', 'A');
    case Kind::kLf: return line_feeds(value);
    case Kind::kCompose: return compose_hangul(value);
    case Kind::kFirst: return fitted(value, filter.number, RecipeUnit::kCharacters);
    case Kind::kFit: return fitted(value, filter.number, filter.unit);
    case Kind::kHash: return hash(value, filter.number);
    case Kind::kShort: return short_id(value);
    case Kind::kHtml: return with_entities(value, true);
    case Kind::kSlack: return with_entities(value, false);
    case Kind::kBase64: return to_base64(value);
    case Kind::kUrlEncode: return percent_encoded(value);
    case Kind::kMinus: return sum(value, -static_cast<std::int64_t>(filter.number));
    case Kind::kPlus: return sum(value, static_cast<std::int64_t>(filter.number));
    case Kind::kJson:
    case Kind::kNumber:
    case Kind::kOr: break;
  }
  return value;
}

}  // namespace notify

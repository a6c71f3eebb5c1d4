#pragma once

// Letters, digits and blanks of ASCII. The locale is not asked, and bytes above 0x7f are nothing of it. Pure, thread-safe.

#include <algorithm>
#include <string>
#include <string_view>

namespace notify {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_hex_digit(char c) noexcept { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }
constexpr bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }

// RFC 9110 5.6.2: what HTTP lets be the name of a header or a method.
constexpr bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

constexpr bool same_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

inline constexpr std::string_view kBlanks = " \t";
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

// The text without the `outer` characters at its beginning and end. A view of the same text.
constexpr std::string_view trimmed(std::string_view text, std::string_view outer) noexcept {
  const std::size_t first = text.find_first_not_of(outer);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(outer) - first + 1);
}

}  // namespace notify

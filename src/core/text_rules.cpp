#include "core/text_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

bool in(char c, char first, char last) noexcept { return c >= first && c <= last; }
bool is_lower_or_digit(char c) noexcept { return in(c, 'a', 'z') || in(c, '0', '9'); }

tl::unexpected<Error> refuse_control(std::string_view field, std::string_view what, const ControlCharacter& found) {
  std::string message(what);
  message += " holds a control character (" + code_point(found.character) + " at byte " +
             std::to_string(found.position + 1) + ")";
  return fail_field(std::string(field), std::move(message),
                    "remove it; it cannot be seen and often comes with copied text or a line end");
}

Result<void> check_length(std::string_view field, std::string_view what, std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return {};
  return fail_field(std::string(field),
                    std::string(what) + " has " + std::to_string(text.size()) + " bytes, more than the " +
                        std::to_string(longest) + " allowed",
                    field == "key" ? "shorten it, for example to a hash of its parts" : "shorten it");
}

// The bytes at which find_control looks closer: controls, and the first bytes of the others.
constexpr std::array<bool, 256> kSuspect = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = true;
  for (const std::size_t c : {0x7fU, 0xc2U, 0xd8U, 0xe2U, 0xefU}) table[c] = true;
  return table;
}();

// The character that begins at this suspect byte.
char32_t character_at(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x80) return byte(0);
  if (byte(0) < 0xe0) return (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
  return (byte(0) & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
}

bool ends_line(char32_t c) noexcept {
  return (c < 0x20 && c != '\t') || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
}

bool hides(char32_t c) noexcept {
  return c == '\t' || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

}  // namespace

std::string code_point(char32_t character) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "U+%04X", static_cast<unsigned>(character));
  return text.data();
}

std::optional<ControlCharacter> find_control(std::string_view text, LineUse use) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!kSuspect[static_cast<unsigned char>(text[i])]) continue;
    const char32_t character = character_at(text.substr(i));
    if (ends_line(character) || (use == LineUse::kName && hides(character))) return ControlCharacter{character, i};
  }
  return std::nullopt;
}

Result<void> check_utf8(std::string_view field, std::string_view text) {
  std::size_t position = 0;
  if (valid_utf8(text, &position)) return {};
  return fail_field(std::string(field),
                    "the " + std::string(field) + " is not valid UTF-8 at byte " + std::to_string(position + 1),
                    "convert it first, for example with iconv -t UTF-8");
}

Result<void> check_line(std::string_view field, std::string_view what, std::string_view text, std::size_t longest) {
  TRY(check_length(field, what, text, longest));
  if (const auto control = find_control(text)) return refuse_control(field, what, *control);
  return {};
}

Result<void> check_subject(std::string_view subject) {
  constexpr std::string_view kWhat = "the subject";
  TRY(check_length("subject", kWhat, subject, limits::kSubject));
  if (const auto control = find_control(subject, LineUse::kSubject)) {
    if (control->character == '\n' || control->character == '\r')
      return fail_field(
          "subject",
          "the subject has more than one line (line end at byte " + std::to_string(control->position + 1) + ")",
          "a subject is one line without a line end");
    return refuse_control("subject", kWhat, *control);
  }
  return {};
}

Result<void> check_text(std::string_view field, std::string_view text) {
  const auto nul = text.find('\0');
  if (nul == std::string_view::npos) return {};
  return fail_field(std::string(field),
                    "the " + std::string(field) + " holds a NUL character at byte " + std::to_string(nul + 1),
                    "it is no text; remove it");
}

bool is_variable_name(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return is_lower_or_digit(c) || in(c, 'A', 'Z') || c == '_' || c == '-' || c == '.';
  });
}

bool is_channel_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= limits::kChannel && is_lower_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '_' || c == '-' || c == '.'; });
}

}  // namespace notify

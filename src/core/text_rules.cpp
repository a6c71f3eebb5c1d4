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

std::string code_point(char32_t character) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "U+%04X", static_cast<unsigned>(character));
  return text.data();
}

tl::unexpected<Error> refuse_control(std::string_view field, std::string_view what, const ControlCharacter& found) {
  std::string message(what);
  message += " holds a control character (" + code_point(found.character) + " at byte " +
             std::to_string(found.position + 1) + ")";
  return fail_field(std::string(field), std::move(message));
}

Result<void> check_utf8(std::string_view field, std::string_view what, std::string_view text) {
  std::size_t position = 0;
  if (valid_utf8(text, &position)) return {};
  return fail_field(std::string(field),
                    std::string(what) + " is not valid UTF-8 at byte " + std::to_string(position + 1));
}

Result<void> check_length(std::string_view field, std::string_view what, std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return {};
  return fail_field(std::string(field), std::string(what) + " has " + std::to_string(text.size()) +
                                            " bytes, more than the " + std::to_string(longest) + " allowed");
}

}  // namespace

std::optional<ControlCharacter> find_control(std::string_view text, bool tab_allowed) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      if (byte == '\t' && tab_allowed) continue;
      return ControlCharacter{byte, i};
    }
    // U+0080-U+009F are C2 80 - C2 9F; U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
    if (byte == 0xc2 && i + 1 < text.size()) {
      const auto second = static_cast<unsigned char>(text[i + 1]);
      if (second >= 0x80 && second <= 0x9f) return ControlCharacter{second, i};
    }
    if (byte == 0xe2 && (text.substr(i, 3) == "\u2028" || text.substr(i, 3) == "\u2029"))
      return ControlCharacter{text[i + 2] == '\xa8' ? U'\u2028' : U'\u2029', i};
  }
  return std::nullopt;
}

Result<void> check_line(std::string_view field, std::string_view what, std::string_view text, std::size_t longest) {
  TRY(check_length(field, what, text, longest));
  if (const auto control = find_control(text)) return refuse_control(field, what, *control);
  return check_utf8(field, what, text);
}

Result<void> check_subject(std::string_view subject) {
  constexpr std::string_view kWhat = "the subject";
  TRY(check_length("subject", kWhat, subject, limits::kSubject));
  if (const auto control = find_control(subject, true)) {
    if (control->character == '\n' || control->character == '\r')
      return fail_field("subject", "the subject has more than one line (line end at byte " +
                                       std::to_string(control->position + 1) + ")",
                        "a subject is one line without a line end");
    return refuse_control("subject", kWhat, *control);
  }
  return check_utf8("subject", kWhat, subject);
}

Result<void> check_text(std::string_view field, std::string_view text) {
  const std::string what = "the " + std::string(field);
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return fail_field(std::string(field), what + " holds a NUL character at byte " + std::to_string(nul + 1));
  return check_utf8(field, what, text);
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

#pragma once

// Which characters and lengths the fields of a message may have. Errors name the field and the position. All
// but check_utf8 rely on valid UTF-8.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

// Where a line of text is used.
enum class LineUse {
  kName,     // addresses, keys, kinds: nothing that cannot be seen
  kSubject,  // for people: tabs, and marks that turn the direction of writing, have their place
};

// The first character that could end a line or a header somewhere on the way (C0 and C1 controls, DEL, U+2028,
// U+2029); in a name also tab and the characters by which a name can look like another one: U+061C, U+200E, U+200F,
// U+202A to U+202E, U+2066 to U+2069, U+FEFF. The channels refuse the same ones.
struct ControlCharacter {
  char32_t character;
  std::size_t position;  // in bytes, from 0
};
std::optional<ControlCharacter> find_control(std::string_view text, LineUse use = LineUse::kName) noexcept;

// "U+200E"
std::string code_point(char32_t character);

Result<void> check_utf8(std::string_view field, std::string_view text);

// A name of one line: at most `longest` bytes, no control characters. `what` begins the message: "the
// recipient".
Result<void> check_line(std::string_view field, std::string_view what, std::string_view text, std::size_t longest);

// A subject becomes a header line: no control characters but tab; at most limits::kSubject bytes.
Result<void> check_subject(std::string_view subject);

// Text of several lines: no NUL.
Result<void> check_text(std::string_view field, std::string_view text);

bool is_variable_name(std::string_view name) noexcept;  // [A-Za-z0-9_.-]+
bool is_channel_name(std::string_view name) noexcept;   // [a-z0-9][a-z0-9_.-]{0,63}

}  // namespace notify

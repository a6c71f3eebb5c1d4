#include "channel/mail_header.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "core/crypto.hpp"
#include "core/error.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"
#include "core/url_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLine = 78;         // RFC 5322 2.1.1, without the line end
constexpr std::size_t kEncodedLine = 76;  // of a line that holds encoded words (RFC 2047 2)
constexpr std::size_t kEncodedWord = 75;
constexpr std::string_view kWordStart = "=?UTF-8?B?";
constexpr std::string_view kWordEnd = "?=";
constexpr std::string_view kLineEnd = "\r\n";

bool is_printable_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_alnum(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::size_t longest_word(std::string_view text) noexcept {
  std::size_t longest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  return longest;
}

// Whether the text can stand in a header as it is, and comes back the same when its folds are taken out.
bool stands_as_it_is(std::string_view text, std::size_t room) noexcept {
  return is_printable_ascii(text) && !text.starts_with(' ') && !text.ends_with(' ') &&
         text.find("  ") == std::string_view::npos && text.find("=?") == std::string_view::npos &&
         longest_word(text) <= room;
}

// Appends `text` to `out`, whose current line has `column` characters, with a fold at a space wherever a line would
// become too long.
void append_folded(std::string& out, std::string_view text, std::size_t column) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' ', 1), text.size());  // a word with the space before it
    if (text.front() == ' ' && column + end > kLine && column > 1) {
      out += kLineEnd;
      column = 0;
    }
    out.append(text.substr(0, end));
    column += end;
    text.remove_prefix(end);
  }
}

// The bytes of text that fit into an encoded word which may be `room` characters long.
std::size_t bytes_for(std::size_t room) noexcept {
  const std::size_t frame = kWordStart.size() + kWordEnd.size();
  return room <= frame ? 0 : (room - frame) / 4 * 3;
}

void append_encoded(std::string& out, std::string_view text, std::size_t column) {
  constexpr std::size_t kOneCharacter = 4;  // bytes of the longest
  bool first = true;
  while (!text.empty()) {
    std::size_t room = bytes_for(std::min(kEncodedWord, kEncodedLine - std::min(column, kEncodedLine)));
    if (!first || room < kOneCharacter) {
      out += "\r\n ";
      room = bytes_for(std::min(kEncodedWord, kEncodedLine - 1));
    }
    const std::string_view part = cut_utf8(text, room);
    ASSERT(!part.empty());
    out.append(kWordStart).append(to_base64(part)).append(kWordEnd);
    text.remove_prefix(part.size());
    first = false;
  }
}

std::size_t column_of(std::string_view lines) noexcept {
  const std::size_t at = lines.rfind('\n');
  return at == std::string_view::npos ? lines.size() : lines.size() - at - 1;
}

// A display name (RFC 5322 3.4): atoms and spaces as they are, other ASCII in quotes, the rest encoded.
void append_phrase(std::string& out, std::string_view name) {
  const std::size_t room = kLine - std::min(out.size() + 2, kLine);
  const bool bare = std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == ' ' || c == '-'; });
  if (bare && stands_as_it_is(name, room)) return append_folded(out, name, out.size());
  if (!is_printable_ascii(name) || name.size() > room || name.find("=?") != std::string_view::npos)
    return append_encoded(out, name, out.size());
  out += '"';
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

std::string begin_field(std::string_view name, std::string_view value) {
  ASSERT(is_field_name(name) && !find_control(value, LineUse::kSubject));
  return std::string(name) + ": ";
}

// RFC 2231 7: what else may stand in an extended value without a percent sign.
constexpr std::string_view kAttributeMarks = "!#$&+^`|";

// As many characters of an encoded value as fit into `room`, no percent sequence torn apart.
std::string_view whole_sequences(std::string_view encoded, std::size_t room) noexcept {
  if (encoded.size() <= room) return encoded;
  std::size_t end = room;
  if (end >= 1 && encoded[end - 1] == '%')
    end -= 1;
  else if (end >= 2 && encoded[end - 2] == '%')
    end -= 2;
  return encoded.substr(0, end);
}

}  // namespace

std::string text_header(std::string_view name, std::string_view text) {
  std::string field = begin_field(name, text);
  if (stands_as_it_is(text, kLine - 1))
    append_folded(field, text, field.size());
  else
    append_encoded(field, text, field.size());
  return field.append(kLineEnd);
}

std::string plain_header(std::string_view name, std::string_view value) {
  std::string field = begin_field(name, value);
  append_folded(field, value, field.size());
  return field.append(kLineEnd);
}

std::string address_header(std::string_view name, const MailAddress& address) {
  std::string field = begin_field(name, address.name);
  const std::string spec = address.spec();
  ASSERT(!find_control(spec));
  if (address.name.empty()) return field.append(spec).append(kLineEnd);
  append_phrase(field, address.name);
  append_folded(field, " <" + spec + ">", column_of(field));
  return field.append(kLineEnd);
}

std::string header_parameter(std::string_view name, std::string_view value) {
  ASSERT(!find_control(value, LineUse::kSubject));
  constexpr std::string_view kStart = ";\r\n ";
  const bool simple = is_printable_ascii(value) && value.find_first_of("\"\\") == std::string_view::npos &&
                      name.size() + value.size() + 6 <= kLine;
  if (simple) return std::string(kStart).append(name).append("=\"").append(value).append("\"");
  const std::string encoded = "UTF-8''" + percent_encoded(value, kAttributeMarks);
  if (encoded.size() + name.size() + 4 <= kLine) return std::string(kStart).append(name).append("*=").append(encoded);
  std::string out;
  std::string_view rest = encoded;
  for (int section = 0; !rest.empty(); ++section) {
    const std::string label = std::string(name) + "*" + std::to_string(section) + "*=";
    const std::string_view part = whole_sequences(rest, kLine - 2 - label.size());
    out.append(kStart).append(label).append(part);
    rest.remove_prefix(part.size());
  }
  return out;
}

std::string mail_date(Instant time) {
  using std::chrono::days;
  constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_time<std::chrono::milliseconds> point{std::chrono::milliseconds(time.ms)};
  const auto day = std::chrono::floor<days>(point);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(point - day));
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d +0000",
                kDays.at(std::chrono::weekday(day).c_encoding()), static_cast<unsigned>(date.day()),
                kMonths.at(static_cast<unsigned>(date.month()) - 1), static_cast<int>(date.year()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string base64_lines(std::string_view encoded) {
  constexpr std::size_t kWidth = 76;
  std::string lines;
  lines.reserve(encoded.size() + encoded.size() / kWidth * 2 + 2);
  while (!encoded.empty()) {
    const std::size_t length = std::min(kWidth, encoded.size());
    lines.append(encoded.substr(0, length)).append(kLineEnd);
    encoded.remove_prefix(length);
  }
  return lines;
}

bool is_field_name(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~' && c != ':'; });
}

}  // namespace notify

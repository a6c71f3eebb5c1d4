// The JSON half of text.hpp. Written by hand because the log writer is on the path of every request.
#include <charconv>
#include <cstring>

#include "text.hpp"

namespace stub {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// True for the bytes that may stand in a JSON string as they are (ASCII only).
constexpr std::array<bool, 256> make_plain_table() {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) table[c] = c != '"' && c != '\\';
  return table;
}
constexpr std::array<bool, 256> plain_table = make_plain_table();

// Whether none of eight bytes is below 0x20, a quote, a backslash or above 0x7f. Bodies are mostly such
// bytes, and this looks at them eight at a time.
bool eight_plain(const char* at) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t tops = ones << 7;
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const std::uint64_t quotes = word ^ (ones * '"');
  const std::uint64_t slashes = word ^ (ones * '\\');
  const std::uint64_t suspects = word | (word - ones * 0x20) | (quotes - ones) | (slashes - ones);
  return (suspects & tops) == 0;
}

bool eight_ascii(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return (word & 0x8080808080808080) == 0;
}

// Length of the valid UTF-8 sequence at `at`, 0 if there is none (overlong, surrogate, cut, out of range).
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > bytes.size()) return 0;
  const unsigned char second = byte(at + 1);
  const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

void append_unicode_escape(std::string& out, unsigned char c) {
  out += "\\u00";
  out += hex_digits[c >> 4];
  out += hex_digits[c & 15];
}

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: append_unicode_escape(out, c);
  }
}

}  // namespace

bool valid_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    if (i + 8 <= bytes.size() && eight_ascii(bytes.data() + i)) {
      i += 8;
      continue;
    }
    const std::size_t length = sequence_length(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

void append_number(std::string& out, std::uint64_t value) {
  std::array<char, 24> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), result.ptr);
}

void append_json_string(std::string& out, std::string_view bytes) {
  out += '"';
  std::size_t start = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    if (i + 8 <= bytes.size() && eight_plain(bytes.data() + i)) {
      i += 8;
      continue;
    }
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (plain_table[c]) {
      ++i;
      continue;
    }
    const std::size_t length = c < 0x80 ? 0 : sequence_length(bytes, i);
    if (length > 1) {
      i += length;
      continue;
    }
    out.append(bytes, start, i - start);
    append_escaped(out, c);
    start = ++i;
  }
  out.append(bytes, start);
  out += '"';
}

void append_base64(std::string& out, std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += alphabet[group >> 18 & 63];
    out += alphabet[group >> 12 & 63];
    out += i + 1 < bytes.size() ? alphabet[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? alphabet[group & 63] : '=';
  }
}

void append_json_bytes(std::string& out, std::string_view name, std::string_view value) {
  const bool text = valid_utf8(value);
  out += ",\"";
  out += name;
  out += text ? "\":" : "_b64\":\"";
  if (text) {
    append_json_string(out, value);
  } else {
    append_base64(out, value);
    out += '"';
  }
}

}  // namespace stub

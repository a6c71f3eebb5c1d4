#include "json_scan.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

namespace stub {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// Returns the raw inside of the string that opens at `at` and moves `at` behind it.
std::string_view read_raw_string(std::string_view body, std::size_t& at) {
  const std::size_t start = ++at;
  for (;;) {
    const void* found = at < body.size() ? std::memchr(body.data() + at, '"', body.size() - at) : nullptr;
    if (found == nullptr) {
      at = body.size();
      return body.substr(start);
    }
    const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - body.data());
    std::size_t slashes = 0;
    while (quote - slashes > start && body[quote - slashes - 1] == '\\') ++slashes;
    at = quote + 1;
    if (slashes % 2 == 0) return body.substr(start, quote - start);
  }
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto tail = [&](std::uint32_t shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6), tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0);
  }
}

std::uint32_t read_hex4(std::string_view raw, std::size_t at) {
  std::uint32_t value = 0;
  if (at + 4 <= raw.size()) std::from_chars(raw.data() + at, raw.data() + at + 4, value, 16);
  return value;
}

std::string unescape(std::string_view raw) {
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    const char c = raw[++i];
    if (c != 'u') {
      out += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      continue;
    }
    std::uint32_t unit = read_hex4(raw, i + 1);
    i += 4;
    if (unit >= 0xd800 && unit < 0xdc00 && raw.substr(i + 1 < raw.size() ? i + 1 : raw.size(), 2) == "\\u") {
      unit = 0x10000 + ((unit & 0x3ff) << 10) + (read_hex4(raw, i + 3) & 0x3ff);
      i += 6;
    }
    append_utf8(out, unit);
  }
  return out;
}

// Reads a string or a bare scalar as text; containers give nothing and are not consumed.
std::string read_value(std::string_view body, std::size_t& at) {
  at = std::min(body.find_first_not_of(blanks, at), body.size());
  if (at == body.size() || body[at] == '{' || body[at] == '[') return {};
  if (body[at] == '"') return unescape(read_raw_string(body, at));
  const std::size_t start = at;
  at = std::min(body.find_first_of(",}] \t\r\n", at), body.size());
  return std::string(body.substr(start, at - start));
}

struct Best {
  std::string* value;
  int depth = std::numeric_limits<int>::max();

  void offer(std::string found, int at_depth) {
    if (found.empty() || at_depth >= depth) return;
    *value = std::move(found);
    depth = at_depth;
  }
};

}  // namespace

BodyFields scan_json(std::string_view body) {
  BodyFields fields;
  Best to{&fields.to}, id{&fields.message_id};
  int depth = 0;
  const std::size_t first = body.find_first_not_of(blanks);
  if (first == std::string_view::npos || (body[first] != '{' && body[first] != '[')) return fields;
  for (std::size_t at = first; at < body.size();) {
    const char c = body[at];
    if (c != '"') {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      ++at;
      continue;
    }
    const std::string_view key = read_raw_string(body, at);
    Best* wanted = key == "to" ? &to : key == "message_id" ? &id : nullptr;
    if (wanted == nullptr) continue;
    at = std::min(body.find_first_not_of(blanks, at), body.size());
    if (at == body.size() || body[at] != ':') continue;
    wanted->offer(read_value(body, ++at), depth);
  }
  return fields;
}

}  // namespace stub

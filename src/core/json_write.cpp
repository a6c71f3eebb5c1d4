#include "core/json_write.hpp"

#include <array>
#include <cstddef>

namespace notify {
namespace {

// Bytes that a string literal cannot hold as they are, with the letter of their short escape or 'u'.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = 'u';
  table['\b'] = 'b';
  table['\t'] = 't';
  table['\n'] = 'n';
  table['\f'] = 'f';
  table['\r'] = 'r';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // start of what is not yet copied
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = kEscapes[byte];
    if (escape == 0) continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    out += '\\';
    out += escape;
    if (escape == 'u') {
      constexpr std::string_view kHex = "0123456789abcdef";
      out += "00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  out.append(text, plain);
  out += '"';
}

}  // namespace notify

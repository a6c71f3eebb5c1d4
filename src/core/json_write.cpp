#include "core/json_write.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

// How many bytes at the start of `text` need no escape, at least. Eight bytes at a time: the subtractions set
// the top bit of a byte that is smaller than 0x20, or equal to a quote or backslash. A borrow reaches only
// bytes above such a byte, so the lowest bit set is exact.
std::size_t plain_prefix(std::string_view text) noexcept {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  constexpr std::uint64_t kTops = kOnes << 7U;
  const auto smaller = [](std::uint64_t word, std::uint64_t bound) { return (word - kOnes * bound) & ~word & kTops; };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t found =
        smaller(word, 0x20) | smaller(word ^ (kOnes * '"'), 1) | smaller(word ^ (kOnes * '\\'), 1);
    if (found == 0) continue;
    return std::endian::native == std::endian::little ? at + static_cast<std::size_t>(std::countr_zero(found)) / 8 : at;
  }
  return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // start of what is not yet copied
  for (std::size_t i = plain_prefix(text); i < text.size(); ++i) {
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
    i += plain_prefix(text.substr(plain));
  }
  out.append(text, plain);
  out += '"';
}

}  // namespace notify

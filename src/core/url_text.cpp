#include "core/url_text.hpp"

#include "core/ascii.hpp"

namespace notify {

std::string percent_encoded(std::string_view text, std::string_view also) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool unreserved = is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~' ||
                            also.find(c) != std::string_view::npos;
    if (unreserved) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

}  // namespace notify

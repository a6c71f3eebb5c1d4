#pragma once

// How long a text is in the encoding in which a vendor counts it. Character sets of the host are not asked.

#include <cstddef>
#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/message.hpp"

namespace notify {

// What some programs write at the beginning of a file of UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// "UTF-8", "EUC-KR", "CP949", "UCS-2", "GSM-7": as the configuration names it.
const char* encoding_name(TextEncoding encoding) noexcept;

// Text in an encoding. Bytes: EUC-KR and CP949 one or two a character, UCS-2 two for each UTF-16 unit, GSM-7 one for
// each septet (3GPP TS 23.038), where characters of the extension table take two.
struct EncodedSize {
  std::size_t bytes = 0;
  int segments = 1;          // messages that GSM-7 or UCS-2 text becomes on its way; 1 for the others
  char32_t unencodable = 0;  // the first character that the encoding does not have; 0: all are there
  std::size_t position = 0;  // of that character, in characters from 1
};
EncodedSize encoded_size(std::string_view utf8, TextEncoding encoding) noexcept;

// Hangul that is spelled in single letters (as file names of macOS are) as syllables, which is how EUC-KR and CP949 have
// it. Everything else stays as it is.
std::string compose_hangul(std::string_view utf8);

// Whether a text fits. The error's message names size and limit, or the character ("U+1F600"); its field is
// "text-too-long" or "text-not-encodable". `what` begins the message: "the body".
Result<void> check_text_limit(std::string_view what, std::string_view utf8, const TextLimit& limit);

// The texts of a rendered message that are limited: body and alternative text, each for itself. For the Korean encodings
// they are composed first, so that what is counted is what is posted.
Result<void> check_text_limit(Payload& content, const TextLimit& limit);

}  // namespace notify

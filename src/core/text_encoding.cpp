#include "core/text_encoding.hpp"

#include <algorithm>

#include "core/ks_x_1001.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

// 3GPP TS 23.038 6.2.1 without ASCII letters, digits and the punctuation that has its own place.
constexpr std::u32string_view kGsmOthers = U"@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà";
constexpr std::u32string_view kGsmExtension = U"\f^{}\\[~]|€";  // 6.2.1.1: two septets

constexpr std::size_t kGsmSingle = 160;   // septets in one message
constexpr std::size_t kGsmPart = 153;     // and in a part of a longer one
constexpr std::size_t kUcs2Single = 140;  // bytes
constexpr std::size_t kUcs2Part = 134;

// The next character of valid UTF-8; what is not valid counts byte by byte as U+FFFD.
char32_t next_character(std::string_view text, std::size_t& at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  if (more == 0 || at + more > text.size()) return 0xFFFD;
  char32_t character = first & (0x3FU >> more);
  for (std::size_t i = 0; i < more; ++i) character = (character << 6U) | (byte(at + i) & 0x3FU);
  at += more;
  return character;
}

bool in_ks_x_1001(char32_t c) noexcept {
  return c >= 0x80 && c < 0x10000 && ((kKsX1001[c / 64] >> (c % 64)) & 1U) != 0;
}

bool is_hangul_syllable(char32_t c) noexcept { return c >= 0xAC00 && c <= 0xD7A3; }

std::size_t gsm_septets(char32_t c) noexcept {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return 1;
  if (kGsmOthers.find(c) != std::u32string_view::npos) return 1;
  return kGsmExtension.find(c) != std::u32string_view::npos ? 2 : 0;
}

// Bytes of one character; 0: the encoding does not have it.
std::size_t bytes_of(char32_t c, TextEncoding encoding) noexcept {
  switch (encoding) {
    case TextEncoding::kUtf8: return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    case TextEncoding::kEucKr: return c < 0x80 ? 1 : in_ks_x_1001(c) ? 2 : 0;
    case TextEncoding::kCp949: return c < 0x80 ? 1 : in_ks_x_1001(c) || is_hangul_syllable(c) ? 2 : 0;
    case TextEncoding::kUcs2: return c < 0x10000 ? 2 : 4;
    case TextEncoding::kGsm7: return gsm_septets(c);
  }
  return 0;
}

// Messages of a text, of which no character is torn in two.
class Segments {
 public:
  Segments(std::size_t single, std::size_t part) : single_(single), part_(part) {}
  void add(std::size_t bytes) noexcept {
    total_ += bytes;
    if (filled_ + bytes > part_) {
      ++parts_;
      filled_ = 0;
    }
    filled_ += bytes;
  }
  int count() const noexcept { return total_ <= single_ ? 1 : parts_; }

 private:
  std::size_t single_;
  std::size_t part_;
  std::size_t total_ = 0;
  std::size_t filled_ = 0;
  int parts_ = 1;
};

tl::unexpected<Error> does_not_fit(const char* reason, std::string message, std::string hint) {
  return fail(Error{Code::kBadInput, std::move(message), std::move(hint), reason});
}

}  // namespace

const char* encoding_name(TextEncoding encoding) noexcept {
  switch (encoding) {
    case TextEncoding::kUtf8: return "UTF-8";
    case TextEncoding::kEucKr: return "EUC-KR";
    case TextEncoding::kCp949: return "CP949";
    case TextEncoding::kUcs2: return "UCS-2";
    case TextEncoding::kGsm7: return "GSM-7";
  }
  return "";
}

// Unicode 3.12, Hangul syllable composition.
std::string compose_hangul(std::string_view utf8) {
  constexpr char32_t kSyllable = 0xAC00;
  constexpr char32_t kLead = 0x1100;
  constexpr char32_t kVowel = 0x1161;
  constexpr char32_t kTail = 0x11A7;  // one before the first
  constexpr char32_t kVowels = 21;
  constexpr char32_t kTails = 28;
  if (utf8.find("\xE1\x85") == std::string_view::npos && utf8.find("\xE1\x86") == std::string_view::npos &&
      utf8.find("\xE1\x87") == std::string_view::npos) {
    return std::string(utf8);
  }
  std::string out;
  char32_t last = 0;
  std::size_t last_begin = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t begin = at;
    const char32_t c = next_character(utf8, at);
    char32_t composed = 0;
    if (last >= kLead && last < kLead + 19 && c >= kVowel && c < kVowel + kVowels) {
      composed = kSyllable + ((last - kLead) * kVowels + (c - kVowel)) * kTails;
    } else if (is_hangul_syllable(last) && (last - kSyllable) % kTails == 0 && c > kTail && c < kTail + kTails) {
      composed = last + (c - kTail);
    }
    if (composed != 0) {
      out.resize(last_begin);
      out += static_cast<char>(0xE0U | (composed >> 12U));
      out += static_cast<char>(0x80U | ((composed >> 6U) & 0x3FU));
      out += static_cast<char>(0x80U | (composed & 0x3FU));
      last = composed;
      continue;
    }
    last = c;
    last_begin = out.size();
    out.append(utf8.substr(begin, at - begin));
  }
  return out;
}

EncodedSize encoded_size(std::string_view utf8, TextEncoding encoding) noexcept {
  EncodedSize size;
  const bool short_message = encoding == TextEncoding::kGsm7 || encoding == TextEncoding::kUcs2;
  Segments segments(encoding == TextEncoding::kGsm7 ? kGsmSingle : kUcs2Single,
                    encoding == TextEncoding::kGsm7 ? kGsmPart : kUcs2Part);
  std::size_t number = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const char32_t character = next_character(utf8, at);
    ++number;
    const std::size_t bytes = bytes_of(character, encoding);
    if (bytes == 0) {
      size.unencodable = character;
      size.position = number;
      return size;
    }
    size.bytes += bytes;
    segments.add(bytes);
  }
  if (short_message) size.segments = segments.count();
  return size;
}

Result<void> check_text_limit(std::string_view what, std::string_view utf8, const TextLimit& limit) {
  const std::string name = encoding_name(limit.encoding);
  const EncodedSize size = encoded_size(utf8, limit.encoding);
  if (size.unencodable != 0) {
    return does_not_fit("text-not-encodable",
                        std::string(what) + " has a character that " + name + " does not have: " +
                            code_point(size.unencodable) + ", the " + std::to_string(size.position) + ". character",
                        "write it without that character");
  }
  if (size.bytes <= limit.limit) return {};
  const std::string segments = size.segments > 1 ? ", " + std::to_string(size.segments) + " segments" : "";
  return does_not_fit("text-too-long",
                      std::string(what) + " has " + std::to_string(size.bytes) + " bytes as " + name + segments +
                          "; the channel takes " + std::to_string(limit.limit),
                      "shorten it, or raise the channel's max_text_bytes if the vendor takes more");
}

Result<void> check_text_limit(Payload& content, const TextLimit& limit) {
  if (limit.encoding == TextEncoding::kEucKr || limit.encoding == TextEncoding::kCp949) {
    content.body = compose_hangul(content.body);
    content.alt = compose_hangul(content.alt);
  }
  TRY(check_text_limit("the body", content.body, limit));
  return check_text_limit("the alternative text", content.alt, limit);
}

}  // namespace notify

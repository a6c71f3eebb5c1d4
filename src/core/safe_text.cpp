#include "core/safe_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace notify {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026
constexpr std::size_t kShortestSecret = 4;                 // shorter ones would mangle every text and are no secrets

struct Sequence {
  std::size_t length = 0;  // bytes that belong together: the character, or the maximal broken part
  char32_t character = 0;
  bool ok = false;
};

bool continuation(unsigned char byte, unsigned char low = 0x80, unsigned char high = 0xbf) noexcept {
  return byte >= low && byte <= high;
}

// One character or one broken part at the start of `text`, after Unicode's table 3-7 of well-formed sequences.
Sequence first_sequence(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, 0, false};
  const std::size_t need = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead == 0xe0) low = 0xa0;   // overlong
  if (lead == 0xed) high = 0x9f;  // surrogates
  if (lead == 0xf0) low = 0x90;   // overlong
  if (lead == 0xf4) high = 0x8f;  // above U+10FFFF
  char32_t character = lead & (0x7fU >> need);
  for (std::size_t i = 1; i < need; ++i) {
    if (i >= text.size() || !continuation(byte(i), low, high)) return {i, 0, false};
    character = character << 6U | (byte(i) & 0x3fU);
    low = 0x80;
    high = 0xbf;
  }
  return {need, character, true};
}

bool turns_or_breaks_lines(char32_t c) noexcept {
  return c == 0x2028 || c == 0x2029 || c == 0x200e || c == 0x200f || c == 0x061c || c == 0xfeff ||
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool control(char32_t c) noexcept { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

std::string escape(char32_t c) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) text += kDigits[c >> shift & 15U];
  return text;
}

// How the sequence is shown. `raw` is its bytes.
std::string shown(const Sequence& sequence, std::string_view raw) {
  if (!sequence.ok) return std::string(kReplacement);
  const char32_t c = sequence.character;
  if (c == '\t' || c == '\n' || c == '\r') return " ";
  if (control(c) || turns_or_breaks_lines(c)) return escape(c);
  return std::string(raw);
}

bool plain_ascii(std::string_view bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// The first or last `count` characters of well-formed text, in bytes.
std::string_view first_characters(std::string_view text, std::size_t count) noexcept {
  std::size_t at = 0;
  while (count-- > 0 && at < text.size()) at += first_sequence(text.substr(at)).length;
  return text.substr(0, at);
}

std::string_view last_characters(std::string_view text, std::size_t count) noexcept {
  std::size_t at = text.size();
  while (count > 0 && at > 0) {
    --at;
    if ((static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80) --count;
  }
  return text.substr(at);
}

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

std::string mask_url(std::string_view text, std::size_t scheme_end) {
  std::string_view rest = text.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  return std::string(text.substr(0, scheme_end)) + "://" + std::string(rest) + "/***";
}

std::string mask_middle(std::string_view text) {
  const std::size_t length = count_characters(text);
  const bool number = text.starts_with('+');
  const std::size_t head = number ? 5 : 3;
  const std::size_t tail = 4;
  // At least four characters stay hidden, or nothing is shown at all.
  if (length < head + tail + (number ? 3U : 4U)) return "***";
  return std::string(first_characters(text, head)) + "****" + std::string(last_characters(text, tail));
}

// `text` with each occurrence of `secret` masked. The last one may be cut off by the end of the text.
std::string without(std::string_view text, std::string_view secret) {
  const std::string_view beginning = secret.substr(0, kShortestSecret);
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = text.find(beginning); at != std::string_view::npos; at = text.find(beginning, at)) {
    const std::string_view here = text.substr(at, secret.size());
    if (!secret.starts_with(here)) {
      ++at;
      continue;
    }
    kept.append(text.substr(from, at - from)).append("***");
    from = at += here.size();
  }
  return kept.append(text.substr(from));
}

}  // namespace

bool valid_utf8(std::string_view text, std::size_t* position) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Sequence sequence = first_sequence(text.substr(at));
    if (!sequence.ok) {
      if (position != nullptr) *position = at;
      return false;
    }
    at += sequence.length;
  }
  return true;
}

std::string_view cut_utf8(std::string_view text, std::size_t max) noexcept {
  if (text.size() <= max) return text;
  std::size_t end = max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return text.substr(0, end);
}

std::string safe_text(std::string_view bytes, std::size_t max) {
  if (bytes.size() <= max && plain_ascii(bytes)) return std::string(bytes);
  std::string safe;
  std::size_t fits_with_ellipsis = 0;  // length of the longest prefix after which "…" still has room
  while (!bytes.empty()) {
    const Sequence sequence = first_sequence(bytes);
    safe += shown(sequence, bytes.substr(0, sequence.length));
    if (safe.size() > max) {
      safe.resize(fits_with_ellipsis);
      if (max >= kEllipsis.size()) safe += kEllipsis;
      return safe;
    }
    if (safe.size() + kEllipsis.size() <= max) fits_with_ellipsis = safe.size();
    bytes.remove_prefix(sequence.length);
  }
  return safe;
}

std::string mask_address(std::string_view address) {
  const std::string safe = safe_text(address, 4096);
  const std::string_view text(safe);
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) return mask_url(text, scheme);
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos && at > 0)
    return std::string(first_characters(text, 1)) + "***" + std::string(text.substr(at));
  return mask_middle(text);
}

std::string safe_text_without(std::string_view bytes, std::span<const std::string> secrets, std::size_t max) {
  std::vector<std::string_view> longest_first(secrets.begin(), secrets.end());
  // One that is part of another must not break up the longer one and leave its rest behind.
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  std::string text(bytes);
  for (const std::string_view secret : longest_first)
    if (secret.size() >= kShortestSecret) text = without(text, secret);
  return safe_text(text, max);
}

}  // namespace notify

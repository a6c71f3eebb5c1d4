#include "core/mail_address.hpp"

#include <algorithm>

#include "core/ascii.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxLocal = 64;     // RFC 5321 4.5.3.1.1
constexpr std::size_t kMaxDomain = 255;   // 4.5.3.1.2
constexpr std::size_t kMaxAddress = 254;  // 4.5.3.1.3, without the angle brackets
constexpr std::size_t kMaxLabel = 63;     // RFC 1035 2.3.4

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_alnum(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_high(char c) noexcept { return static_cast<unsigned char>(c) >= 0x80; }

// RFC 5322 3.2.3, and UTF-8 (RFC 6532).
bool is_atom_char(char c) noexcept {
  return is_alnum(c) || is_high(c) || std::string_view("!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
}

bool is_dot_atom(std::string_view text) noexcept {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  return text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == '.' || is_atom_char(c); });
}

bool is_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](char c) { return is_alnum(c) || c == '-' || is_high(c); });
}

bool is_domain(std::string_view text) noexcept {
  if (text.empty() || text.size() > kMaxDomain) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// "\"N. \\\"M\\\"\"" → N. "M"; other texts as they are.
std::string unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  std::string name;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) ++i;
    name += text[i];
  }
  return name;
}

}  // namespace

bool MailAddress::is_ascii() const noexcept { return notify::is_ascii(local) && notify::is_ascii(domain); }

bool is_domain_name(std::string_view text) noexcept { return is_ascii(text) && is_domain(text); }

Result<MailAddress> parse_mail_address(std::string_view text) {
  if (!valid_utf8(text)) return fail_field("to", "mail address: not UTF-8");
  if (find_control(text)) return fail_field("to", "mail address: holds a control character");
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size())
    return fail_field("to", "mail address: is not of the form name@domain");
  MailAddress address{{}, std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
  if (text.size() > kMaxAddress || address.local.size() > kMaxLocal)
    return fail_field("to", "mail address: longer than a server must accept (64 bytes before the @, 254 in all)");
  if (!is_dot_atom(address.local))
    return fail_field("to", "mail address: holds a character that cannot stand before the @ without quotes",
                      "give the bare address: name@domain");
  if (!is_domain(address.domain)) return fail_field("to", "mail address: what follows the @ is no domain");
  if (!is_ascii(address.domain) && is_ascii(address.local))
    return fail_field("to", "mail address: its domain is not ASCII",
                      "write the domain in its xn-- form (punycode), as the registry shows it");
  return address;
}

Result<MailAddress> parse_mailbox(std::string_view text) {
  text = trimmed(text, " ");
  const std::size_t open = text.rfind('<');
  if (open == std::string_view::npos || !text.ends_with('>')) return parse_mail_address(text);
  TRY_ASSIGN(MailAddress address, parse_mail_address(text.substr(open + 1, text.size() - open - 2)));
  address.name = unquoted(trimmed(text.substr(0, open), " "));
  if (!valid_utf8(address.name) || find_control(address.name, LineUse::kSubject))
    return fail_field("to", "mail address: the name before it holds a control character or is not UTF-8");
  return address;
}

}  // namespace notify

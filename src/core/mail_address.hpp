#pragma once

// Addresses of mail, as they go into an envelope and into header fields. Pure.

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

struct MailAddress {
  std::string name{};    // for people, may be empty
  std::string local{};   // before the '@'
  std::string domain{};  // after it

  std::string spec() const { return local + '@' + domain; }
  bool is_ascii() const noexcept;
};

// local@domain as in RFC 5321 4.1.2 and RFC 6531: a local part of atoms parted by dots, at most 64 bytes, of ASCII or
// UTF-8; a domain of labels, at most 255 bytes, all in all at most 254. Refused are quoted local parts, address literals
// and comments, which nobody has and which parsers read in different ways; and a domain outside ASCII behind a local part
// in ASCII, because only punycode reaches every server (there is no IDNA table in this program).
// Nothing that passes holds a space, an angle bracket or a line end. Errors do not repeat the address.
Result<MailAddress> parse_mail_address(std::string_view text);

// The same, or "Name <local@domain>", or "\"Name, with anything\" <local@domain>". For configured senders.
Result<MailAddress> parse_mailbox(std::string_view text);

// Whether a text is an ASCII domain name: labels of letters, digits and hyphens, parted by dots.
bool is_domain_name(std::string_view text) noexcept;

}  // namespace notify

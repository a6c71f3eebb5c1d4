#pragma once

// Header fields of mail (RFC 5322, RFC 2047, RFC 2231): each function returns whole lines, ended by CR LF, of at most 78
// characters where the text has places to fold at. Pure. What is given must be UTF-8 without control characters; a line
// end in it is a programmer's error (ASSERT), never a second header.

#include <string>
#include <string_view>

#include "core/instant.hpp"
#include "core/mail_address.hpp"

namespace notify {

// Text for people (Subject): as it stands when it is ASCII that can be folded, else as encoded words of at most 75
// characters, each of which ends between two characters.
std::string text_header(std::string_view name, std::string_view text);

// A value with a syntax of its own: folded at its spaces, nothing encoded.
std::string plain_header(std::string_view name, std::string_view value);

// "From: Name <a@b>". Names are quoted or encoded as they need.
std::string address_header(std::string_view name, const MailAddress& address);

// "; name=value" to go behind a value that plain_header() does not know of: quoted, or as RFC 2231 has it (encoded, and
// continued when it is long), with a fold before it.
std::string header_parameter(std::string_view name, std::string_view value);

// "Tue, 14 Nov 2023 22:13:20 +0000" (RFC 5322 3.3)
std::string mail_date(Instant time);

// Base64 in lines of 76 characters, each ended by CR LF (RFC 2045 6.8). `encoded`: base64 already, without line ends.
std::string base64_lines(std::string_view encoded);

// Whether the name can be a header field's (RFC 5322 3.6.8: visible ASCII but the colon).
bool is_field_name(std::string_view name) noexcept;

}  // namespace notify

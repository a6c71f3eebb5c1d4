#pragma once

// Foreign bytes made fit to be stored, printed and put into JSON; addresses made fit for logs.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace notify {

// True when the text is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF).
// Otherwise *position (may be null) is the offset of the first byte of the first sequence that is not.
bool valid_utf8(std::string_view text, std::size_t* position = nullptr) noexcept;

// The longest prefix of well-formed text of at most `max` bytes that ends between two characters.
std::string_view cut_utf8(std::string_view text, std::size_t max) noexcept;

// Well-formed UTF-8 of at most `max` bytes on one line: what is not UTF-8 becomes U+FFFD (one for each maximal broken
// part, as Unicode 3.9 recommends), tab, line feed and carriage return become spaces, other control characters and
// the characters that turn or break lines (U+2028, U+2029, bidirectional controls) become visible escapes ("\u001b").
// Text that had to be cut ends in "…" (inside `max`).
std::string safe_text(std::string_view bytes, std::size_t max);

// For logs: "+8210****1234", "j***@example.com", "https://host/***"; other addresses keep their first and last
// characters, short ones nothing.
std::string mask_address(std::string_view address);

// safe_text() with every occurrence of one of `secrets` (of four bytes or more, longest first) replaced by "***" first:
// for what a vendor answered, which may echo what we sent. One that the end of `bytes` cuts off is found, too.
std::string safe_text_without(std::string_view bytes, std::span<const std::string> secrets, std::size_t max);

}  // namespace notify

#pragma once

// The payload column: one JSON object, read from the database (where any SQL client may have put it) and
// written by enqueue.

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/json_write.hpp"
#include "core/message.hpp"

namespace notify {

// Reads a stored payload strictly: a JSON object whose members are subject, body, html, alt, template
// (strings), data (any JSON) and vars (an object of strings, numbers and booleans; a number keeps its text).
// Unknown and duplicate members, null, NUL in a text part, depth over limits::kJsonDepth, more than
// limits::kPayload bytes and invalid UTF-8 are errors with code kBadInput; those about one member name it in
// Error.field.
//
// data becomes canonical: members sorted by the bytes of their names, no white space, strings with the fewest
// escapes, numbers exactly as written. (RFC 8785 would turn numbers into doubles, which loses digits of long
// ids, so 1.0 and 1 are different data here.)
Result<Payload> parse_payload(std::string_view json);

// The one text of a payload: members in the order subject, body, html, alt, data, template, vars, empty ones
// left out, no white space. The strings must be valid UTF-8 and data canonical, as parse_payload and
// make_message leave them. parse_payload(to_json(p)) == p.
std::string to_json(const Payload& payload);
void append_json(std::string& out, const Payload& payload);

// Any JSON text in the canonical form of data (see parse_payload), for options such as --data.
Result<std::string> canonical_json(std::string_view json);

}  // namespace notify

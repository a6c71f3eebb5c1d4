#pragma once

#include <string>

#include "core/ports/channel.hpp"

namespace notify {

// The document that the drivers file, exec and webhook hand over: one JSON object in one line, without a line
// end. Members, in this order: message_id, to, kind, category, subject, body, html, alt, data, correlation,
// enqueued_at (RFC 3339, UTC). html, alt and correlation are left out when the message has none; data is null
// then, the other strings are empty. Always valid UTF-8: what is not becomes U+FFFD. data is copied as it
// stands (canonical JSON). `to` is the address that the message goes to now, not the one written as @ID.
std::string message_json(const Dispatch& dispatch);

}  // namespace notify

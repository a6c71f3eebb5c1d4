#pragma once

#include <string>
#include <string_view>

namespace notify {

// A JSON string literal with the fewest escapes: only what RFC 8259 demands. `text` must be valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace notify

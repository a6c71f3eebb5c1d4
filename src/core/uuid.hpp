#pragma once

#include <string>
#include <string_view>

namespace notify {

// The UUID of a name (RFC 9562 5.8, from its SHA-256): all tries of a message have the same, and no other message has it.
std::string uuid_of(std::string_view name);

}  // namespace notify

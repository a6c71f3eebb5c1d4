#pragma once

#include <string>
#include <vector>

#include "core/ports/channel.hpp"

namespace notify {

// What of a message must not come back in the text of an outcome, when a vendor or a program echoes what it
// was given: its address and its texts, as they are and as JSON writes them. For safe_text_without().
std::vector<std::string> personal_parts(const Dispatch& dispatch);

}  // namespace notify

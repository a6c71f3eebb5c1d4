#pragma once

#include <string>
#include <string_view>

namespace notify {

// What `init --config` writes: a configuration that loads as it is, with the choices explained beside it.
// `zone`: IANA name to put in; empty: left as a comment.
std::string starter_config(std::string_view zone);

}  // namespace notify

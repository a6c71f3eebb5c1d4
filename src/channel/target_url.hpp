#pragma once

// URLs that webhooks are sent to. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace notify {

// Is this an absolute http or https URL that every parser understands in the same way? Refused: other
// schemes, user information, an empty host or one that is not ASCII, a port outside 1…65535, and any byte
// that is not a visible ASCII character. Where the host leads to is judged later, on the connected address.
// The error's message does not repeat the URL, which may be a secret.
Result<void> check_target_url(std::string_view url);

// The host of a URL that passed the check: what of it may be shown.
std::string target_host(std::string_view url);

// The parts of a URL by which a secret in it could be recognised elsewhere: the URL, what follows the host,
// each longer path segment and query value.
std::vector<std::string> telling_parts(std::string_view url);

}  // namespace notify

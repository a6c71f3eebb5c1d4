#pragma once

// Signatures of the Standard Webhooks specification 1.0.0 (standardwebhooks.com), symmetric kind "v1".

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

// The HMAC key of a configured secret: "whsec_" and base64 stands for the decoded bytes, anything else for
// itself. A line end at the end of the secret belongs to the file it came from, not to the key. The error's
// message does not hold the secret.
Result<std::string> signing_key(std::string_view secret);

// The value of webhook-signature: "v1,<base64>" for each key, separated by spaces, in the order of the keys
// (during a rotation the receiver may know either). Signs "<id>.<timestamp>.<body>", so `body` must be the
// very bytes that are sent, and `timestamp` (seconds since 1970) that of this attempt.
std::string webhook_signature(std::span<const std::string> keys, std::string_view id, std::int64_t timestamp,
                              std::string_view body);

}  // namespace notify

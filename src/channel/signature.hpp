#pragma once

// Signatures of the Standard Webhooks specification 1.0.0 (standardwebhooks.com): "v1" by HMAC-SHA256 with a shared secret,
// "v1a" by Ed25519 with a private key.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/error.hpp"
#include "core/keys.hpp"

namespace notify {

// An HMAC key, or an Ed25519 key.
using SigningKey = std::variant<std::string, PrivateKey>;

// The key of a configured secret: "whsec_" and base64 stands for the decoded bytes (24 to 64), "whsk_" and base64 for a
// private Ed25519 key, anything else for itself. A line end at the end of the secret belongs to the file it came from, not
// to the key. The error's message does not hold the secret.
Result<SigningKey> signing_key(std::string_view secret);

// The value of webhook-signature: "v1,<base64>" or "v1a,<base64>" for each key, separated by spaces, in the order of the keys
// (during a rotation the receiver may know either). Signs "<id>.<timestamp>.<body>", so `body` must be the
// very bytes that are sent, and `timestamp` (seconds since 1970) that of this attempt.
std::string webhook_signature(std::span<const SigningKey> keys, std::string_view id, std::int64_t timestamp,
                              std::string_view body);

}  // namespace notify

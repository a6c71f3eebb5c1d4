#pragma once

// JSON Web Tokens (RFC 7515 compact form, RFC 7519).

#include <string>
#include <string_view>

#include "core/keys.hpp"

namespace notify {

// Both parts are JSON texts; "alg" in the header must be the key's: ES256 for P-256, RS256 for RSA.
std::string signed_jwt(std::string_view header, std::string_view claims, const PrivateKey& key);

// With a secret that both sides know (RFC 7518 3.2); "alg" must be HS256. `secret`: 32 bytes or more.
std::string signed_jwt_hs256(std::string_view header, std::string_view claims, std::string_view secret);

}  // namespace notify

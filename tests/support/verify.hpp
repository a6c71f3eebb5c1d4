#pragma once

// The other side of our signatures and encryption, as a vendor has it.

#include <optional>
#include <string>
#include <string_view>

namespace notify::test {

// ES256 with an uncompressed point of P-256.
bool verify_es256(std::string_view point, std::string_view message, std::string_view signature);
// RS256 with the public half of this private key in PEM.
bool verify_rs256(std::string_view private_pem, std::string_view message, std::string_view signature);

// What a browser makes of a push: the text, if body, key and secret fit (RFC 8291). `scalar`: its private key, 32 bytes.
std::optional<std::string> open_push(std::string_view body, std::string_view scalar, std::string_view auth);

}  // namespace notify::test

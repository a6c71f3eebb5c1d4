#pragma once

// Digests and signatures that core and the drivers need. Declared here, implemented in sys/crypto.cpp with
// OpenSSL. Pure functions, thread-safe.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace notify {

using Sha256 = std::array<std::uint8_t, 32>;

// A view of the digest's 32 bytes.
inline std::string_view bytes_of(const Sha256& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

class Sha256Hasher {
 public:
  Sha256Hasher();
  void update(std::string_view bytes);
  Sha256 finish();  // once

 private:
  alignas(8) std::array<std::byte, 128> state_;  // big enough for OpenSSL's SHA256_CTX
};

Sha256 hmac_sha256(std::string_view key, std::string_view message);
// The same as 32 raw bytes, to be the key of the next one.
inline std::string hmac_sha256_text(std::string_view key, std::string_view message) {
  return std::string(bytes_of(hmac_sha256(key, message)));
}
// 20 raw bytes; for vendors whose protocol has nothing better.
std::string hmac_sha1(std::string_view key, std::string_view message);
// Whether two texts are the same, in a time that depends on their lengths only.
bool same_secret(std::string_view a, std::string_view b) noexcept;
std::string to_base64(std::string_view bytes);                // RFC 4648 4, with padding
bool from_base64(std::string_view text, std::string& bytes);  // false: not base64
std::string to_hex(std::string_view bytes);

}  // namespace notify

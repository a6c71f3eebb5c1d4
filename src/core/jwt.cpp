#include "core/jwt.hpp"

#include "core/crypto.hpp"

namespace notify {
namespace {

std::string signing_input(std::string_view header, std::string_view claims) {
  return to_base64url(header) + "." + to_base64url(claims);
}

}  // namespace

std::string signed_jwt(std::string_view header, std::string_view claims, const PrivateKey& key) {
  std::string token = signing_input(header, claims);
  const std::string signature = key.sign(token);
  return token.append(".").append(to_base64url(signature));
}

std::string signed_jwt_hs256(std::string_view header, std::string_view claims, std::string_view secret) {
  std::string token = signing_input(header, claims);
  const std::string signature = hmac_sha256_text(secret, token);
  return token.append(".").append(to_base64url(signature));
}

}  // namespace notify

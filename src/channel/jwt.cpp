#include "channel/jwt.hpp"

namespace notify {

std::string signed_jwt(std::string_view header, std::string_view claims, const PrivateKey& key) {
  std::string token = to_base64url(header) + "." + to_base64url(claims);
  const std::string signature = key.sign(token);
  return token.append(".").append(to_base64url(signature));
}

}  // namespace notify

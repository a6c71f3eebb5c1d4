// JSON Web Tokens from the side that is shown them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace stub {

struct Token {
  nlohmann::json header;
  nlohmann::json claims;
};

class JwtCheck {
 public:
  // The key pair's private half in PEM: P-256 checks ES256, RSA checks RS256. Throws std::invalid_argument.
  explicit JwtCheck(const std::string& pem_file);
  // ES256 by a public key that came along: an uncompressed point of P-256. One that is none checks nothing successfully.
  static JwtCheck of_point(std::string_view point);
  // The token, if its form, its algorithm and its signature are right.
  std::optional<Token> read(std::string_view token) const;

 private:
  JwtCheck() = default;

  std::shared_ptr<evp_pkey_st> key_;
  bool elliptic_ = false;
};

std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace stub

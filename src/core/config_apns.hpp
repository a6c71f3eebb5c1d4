#pragma once

#include <optional>
#include <string>

#include "core/instant.hpp"
#include "core/secret.hpp"

namespace notify {

// Driver "apns": Apple's push service.
struct ApnsDriverConfig {
  SecretSetting key{};    // the signing key of Apple's .p8 file: PKCS#8 in PEM, P-256
  std::string key_id{};   // 10 letters and digits
  std::string team_id{};  // 10 letters and digits
  std::string topic{};    // bundle id, with its suffix where the push type has one
  std::string url{};      // origin without a path, https
  std::string push_type = "alert";
  int priority = 10;              // 10, 5 or 1
  std::optional<Duration> ttl{};  // how long Apple keeps trying, when the message itself has no expiry
  std::string sound{};            // empty: none
};

}  // namespace notify

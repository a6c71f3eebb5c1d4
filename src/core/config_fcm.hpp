#pragma once

#include <optional>
#include <string>

#include "core/instant.hpp"
#include "core/secret.hpp"

namespace notify {

// Driver "fcm": Firebase Cloud Messaging, HTTP v1.
struct FcmDriverConfig {
  SecretSetting service_account{};                 // the JSON key of a service account
  std::string project{};                           // empty: the key's project_id
  std::string url = "https://fcm.googleapis.com";  // origin without a path, https
  std::string target = "token";                    // what the recipients are: token, fid, topic or condition
  std::string priority{};                          // of Android messages: "high" or "normal"; empty: Google's default
  std::optional<Duration> ttl{};  // how long Google keeps trying, when the message itself has no expiry; ≤ 28 days
  bool validate_only = false;     // Google checks everything and delivers nothing
};

}  // namespace notify

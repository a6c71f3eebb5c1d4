#pragma once

#include <string>
#include <vector>

#include "core/instant.hpp"
#include "core/secret.hpp"

namespace notify {

// Driver "webpush": RFC 8030, 8291, 8292. The recipient is the subscription, as a browser gives it (JSON).
struct WebPushDriverConfig {
  SecretSetting key{};                     // VAPID: P-256 in PEM, or the 32 bytes of the private key in base64url
  std::string subject{};                   // "mailto:…" or "https://…": whom the push service can write to
  Duration ttl = 24h;                      // how long the push service keeps a message that has no expiry itself
  std::string urgency = "normal";          // very-low, low, normal or high
  std::vector<std::string> allow_hosts{};  // patterns with '*'; empty: every public host
  bool allow_private = false;              // may endpoints be loopback, private or link-local addresses?
};

}  // namespace notify

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "channel/signature.hpp"
#include "core/classify.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/http.hpp"

namespace notify {

// Everything about a webhook channel that does not change; shared with the calls that are out.
struct WebhookSettings {
  std::string url{};                                           // empty: the recipient is the URL
  std::vector<std::pair<std::string, std::string>> headers{};  // the same for every message
  std::vector<SigningKey> keys{};                              // empty: no signature
  std::vector<std::string> secrets{};                          // never in the text of an outcome
  WebhookDriverConfig::KeyStyle key_style = WebhookDriverConfig::KeyStyle::kPlain;
  StatusRules rules{};
  HttpRequest request{};  // limits and flags, without a message
};

// Checked: whatever is in the settings can be put into a request. Errors (kConfig) name the key, never a
// secret.
Result<std::shared_ptr<const WebhookSettings>> make_webhook_settings(const ChannelConfig& config,
                                                                     const std::string& user_agent);

}  // namespace notify

#pragma once

#include <string>
#include <vector>

#include "core/secret.hpp"

namespace notify {

// Driver "ses": Amazon SES, API v2.
struct SesDriverConfig {
  std::string region{};  // "ap-northeast-2"
  std::string access_key_id{};
  SecretSetting secret_access_key{};
  SecretSetting session_token{};  // of temporary credentials; may be unset
  std::string from{};             // "Shop <shop@example.com>" or an address
  std::vector<std::string> reply_to{};
  std::string configuration_set{};
  std::string sns_topic{};        // whose posts are believed, as ARN; empty: all that come
  std::string sns_certificate{};  // a path: the certificate that SNS signs with; set when sns_topic is
  std::string url{};              // origin without a path; the region's unless another is given
};

}  // namespace notify

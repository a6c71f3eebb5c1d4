#pragma once

// AWS Signature Version 4, for requests without a query.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/instant.hpp"

namespace notify {

struct AwsKey {
  std::string id{};
  std::string secret{};
  std::string region{};
  std::string service{};
};

// "20150830T123600Z", the value of x-amz-date.
std::string amz_date(Instant now);

// The value of Authorization. `headers` are those that are signed, all of which must be sent as they are: names in lower
// case, each once, host and x-amz-date among them. `path` is the canonical one, without a query.
std::string sigv4_authorization(const AwsKey& key, std::string_view method, std::string_view path,
                                std::vector<std::pair<std::string, std::string>> headers, std::string_view body,
                                Instant now);

}  // namespace notify

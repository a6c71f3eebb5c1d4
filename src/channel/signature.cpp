#include "channel/signature.hpp"

#include "core/crypto.hpp"

namespace notify {
namespace {

constexpr std::string_view kPrefix = "whsec_";

std::string_view without_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<std::string> signing_key(std::string_view secret) {
  secret = without_line_end(secret);
  std::string key;
  if (!secret.starts_with(kPrefix)) {
    key = secret;
  } else if (!from_base64(secret.substr(kPrefix.size()), key)) {
    return fail(Code::kConfig, "signing secret: what follows whsec_ is not base64",
                "copy the secret again, in one line, as the receiver shows it");
  }
  if (key.empty()) return fail(Code::kConfig, "signing secret: it is empty");
  return key;
}

std::string webhook_signature(std::span<const std::string> keys, std::string_view id, std::int64_t timestamp,
                              std::string_view body) {
  const std::string seconds = std::to_string(timestamp);
  std::string content;
  content.reserve(id.size() + seconds.size() + body.size() + 2);
  content.append(id).append(1, '.').append(seconds).append(1, '.').append(body);

  std::string value;
  for (const std::string& key : keys) {
    if (!value.empty()) value += ' ';
    value.append("v1,").append(to_base64(bytes_of(hmac_sha256(key, content))));
  }
  return value;
}

}  // namespace notify

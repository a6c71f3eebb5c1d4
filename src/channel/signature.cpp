#include "channel/signature.hpp"

#include "core/crypto.hpp"

namespace notify {
namespace {

constexpr std::string_view kSharedPrefix = "whsec_";
constexpr std::string_view kPrivatePrefix = "whsk_";
constexpr std::string_view kPublicPrefix = "whpk_";
constexpr std::size_t kShortestShared = 24;  // bytes; the specification's
constexpr std::size_t kLongestShared = 64;

std::string_view without_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

Result<std::string> decoded(std::string_view secret, std::string_view prefix) {
  std::string bytes;
  if (from_base64(secret.substr(prefix.size()), bytes)) return bytes;
  return fail(Code::kConfig, "signing secret: what follows " + std::string(prefix) + " is not base64",
              "copy the secret again, in one line, as the receiver shows it");
}

Result<SigningKey> shared_key(std::string_view secret) {
  TRY_ASSIGN(std::string key, decoded(secret, kSharedPrefix));
  if (key.size() >= kShortestShared && key.size() <= kLongestShared) return key;
  return fail(
      Code::kConfig,
      "signing secret: whsec_ and " + std::to_string(key.size()) + " bytes in base64; Standard Webhooks wants 24 to 64",
      "make one by: echo whsec_$(openssl rand -base64 32)");
}

Result<SigningKey> private_key(std::string_view secret) {
  TRY_ASSIGN(const std::string bytes, decoded(secret, kPrivatePrefix));
  Result<PrivateKey> key = PrivateKey::from_ed25519(bytes);
  if (!key) return fail(with_context(std::move(key).error(), "signing secret"));
  return std::move(*key);
}

}  // namespace

Result<SigningKey> signing_key(std::string_view secret) {
  secret = without_line_end(secret);
  if (secret.starts_with(kSharedPrefix)) return shared_key(secret);
  if (secret.starts_with(kPrivatePrefix)) return private_key(secret);
  if (secret.starts_with(kPublicPrefix))
    return fail(Code::kConfig, "signing secret: this is a public key, which cannot sign",
                "the private one begins with whsk_; the public one is for the receiver");
  if (secret.empty()) return fail(Code::kConfig, "signing secret: it is empty");
  return std::string(secret);
}

std::string webhook_signature(std::span<const SigningKey> keys, std::string_view id, std::int64_t timestamp,
                              std::string_view body) {
  const std::string seconds = std::to_string(timestamp);
  std::string content;
  content.reserve(id.size() + seconds.size() + body.size() + 2);
  content.append(id).append(1, '.').append(seconds).append(1, '.').append(body);

  std::string value;
  for (const SigningKey& key : keys) {
    if (!value.empty()) value += ' ';
    if (const auto* shared = std::get_if<std::string>(&key))
      value.append("v1,").append(to_base64(bytes_of(hmac_sha256(*shared, content))));
    else
      value.append("v1a,").append(to_base64(std::get<PrivateKey>(key).sign(content)));
  }
  return value;
}

}  // namespace notify

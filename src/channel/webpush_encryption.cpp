#include "channel/webpush_encryption.hpp"

#include <nlohmann/json.hpp>

#include "channel/target_url.hpp"
#include "channel/vendor_common.hpp"
#include "core/crypto.hpp"

namespace notify {
namespace {

constexpr std::size_t kAuth = 16;
constexpr std::string_view kHint = "take what pushSubscription.toJSON() gives in the browser";

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(number >> shift & 0xffU);
  return bytes;
}

// HKDF-Expand (RFC 5869) for outputs of at most one hash: the info ends in the counter 1.
std::string expand(std::string_view key, std::string info, std::size_t size) {
  info += '\x01';
  return hmac_sha256_text(key, info).substr(0, size);
}

}  // namespace

Result<Subscription> read_subscription(std::string_view text) {
  const std::string hint(kHint);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail_field("to", "recipient: no push subscription, which is a JSON object", hint);
  Subscription subscription;
  subscription.endpoint = text_member(json, "endpoint");
  if (!subscription.endpoint.starts_with("https://"))
    return fail_field("to", "recipient: the subscription's endpoint is no https URL", hint);
  TRY(check_target_url(subscription.endpoint));
  const nlohmann::json keys = json.contains("keys") ? json["keys"] : nlohmann::json();
  if (!from_base64url(text_member(keys, "p256dh"), subscription.public_key) || !is_p256_point(subscription.public_key))
    return fail_field("to", "recipient: the subscription's key p256dh is no public key on P-256 in base64url", hint);
  if (!from_base64url(text_member(keys, "auth"), subscription.auth) || subscription.auth.size() != kAuth)
    return fail_field("to", "recipient: the subscription's key auth is not 16 bytes in base64url", hint);
  return subscription;
}

Result<std::string> encrypt_push(std::string_view plaintext, const Subscription& subscription, const PrivateKey& ours,
                                 std::string_view salt) {
  ASSERT(plaintext.size() <= kLongestPush && salt.size() == 16);
  const std::string point = ours.public_point();
  TRY_ASSIGN(const std::string shared, ours.agree(subscription.public_key));
  // RFC 8291 3.3 and 3.4
  const std::string key_info = std::string("WebPush: info\0", 14) + subscription.public_key + point;
  const std::string input = expand(hmac_sha256_text(subscription.auth, shared), key_info, 32);
  // RFC 8188 2.2 and 2.3
  const std::string pseudorandom = hmac_sha256_text(salt, input);
  const std::string key = expand(pseudorandom, std::string("Content-Encoding: aes128gcm\0", 28), 16);
  const std::string nonce = expand(pseudorandom, std::string("Content-Encoding: nonce\0", 24), 12);

  std::string record(plaintext);
  record += '\x02';  // the last record
  std::string body(salt);
  body += big_endian(4096);
  body += static_cast<char>(point.size());
  return body + point + aes128_gcm_seal(key, nonce, record);
}

}  // namespace notify

#pragma once

// Message encryption for Web Push (RFC 8291) with the content coding aes128gcm (RFC 8188).

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/keys.hpp"

namespace notify {

// What a browser's push subscription says.
struct Subscription {
  std::string endpoint{};
  std::string public_key{};  // p256dh: 65 bytes
  std::string auth{};        // 16 bytes
};

// {"endpoint":"https://…","keys":{"p256dh":"…","auth":"…"}}, as PushSubscription.toJSON() writes it; other members are
// left alone. Everything in it is checked but where the endpoint leads to. Errors: kBadInput, field "to".
Result<Subscription> read_subscription(std::string_view text);

// Longest text that fits into one record of 4096 bytes.
inline constexpr std::size_t kLongestPush = 3993;

// The request's body. `ours` and `salt` (16 bytes) are for this message only.
Result<std::string> encrypt_push(std::string_view plaintext, const Subscription& subscription, const PrivateKey& ours,
                                 std::string_view salt);

}  // namespace notify

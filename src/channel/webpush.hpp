#pragma once

#include <memory>
#include <string>

#include "channel/registry.hpp"

namespace notify {

// Driver "webpush": RFC 8030, with RFC 8291 (encryption) and RFC 8292 (VAPID). The recipient is the subscription that a
// browser gave to the application, as JSON; its endpoint comes from users, so it is checked like a webhook's.
Result<std::unique_ptr<Channel>> make_webpush_channel(const ChannelConfig& config, const ChannelPorts& ports);

// What the service worker gets: {"message_id","title","body","data"}, members without a value left out.
std::string webpush_payload(const Dispatch& dispatch);

// "https://host:port" of a URL that passed check_target_url(), as in the claim `aud`.
std::string origin_of(std::string_view url);

// What the push service's answer says. Everything is about this subscription; `key_refused`: our VAPID key (or only this
// subscription, made for another key) was refused.
struct WebPushVerdict {
  Outcome outcome{};
  bool key_refused = false;
};
WebPushVerdict judge_webpush(const HttpEvidence& evidence, std::string_view host, Instant now);

}  // namespace notify

#pragma once

#include <memory>
#include <string>

#include "channel/registry.hpp"
#include "core/outcome.hpp"

namespace notify {

// Driver "fcm": Firebase Cloud Messaging by its HTTP v1 API. The recipient is a registration token (or what `target`
// says). All processes share one access token, got with a service account's signature. On Android a repetition replaces
// the first one by its tag, in browsers and on Apple devices by its topic and collapse id.
Result<std::unique_ptr<Channel>> make_fcm_channel(const ChannelConfig& config, const ChannelPorts& ports);

// The request's JSON. The member "fcm" of the message's data is put over the message (RFC 7396), the other members are
// its data. Error (kBadInput): the data holds what Google refuses.
Result<std::string> fcm_body(const Dispatch& dispatch, const FcmDriverConfig& driver, Instant now);

// What Google's answer says about the message. `renew`: the access token is to be replaced, and whether that helps
// decides if the lane halts. `foreign`: the token is another project's.
struct FcmVerdict {
  Outcome outcome{};
  bool renew = false;
  bool foreign = false;
};
FcmVerdict judge_fcm(const HttpEvidence& evidence, Instant now);

}  // namespace notify

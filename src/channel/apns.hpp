#pragma once

#include <memory>
#include <string>

#include "channel/registry.hpp"
#include "core/outcome.hpp"

namespace notify {

// Driver "apns": Apple's push service by its HTTP/2 provider API. The recipient is a device token. All processes share
// one provider token, renewed when it is 45 minutes old. Every message has a collapse id of its own, so that a
// repetition replaces the first one on the device.
Result<std::unique_ptr<Channel>> make_apns_channel(const ChannelConfig& config, const ChannelPorts& ports);

// The notification's JSON: what subject, body and sound say under "aps", then the members of the message's data; "aps" in
// the data goes over ours, member by member.
std::string apns_payload(const Dispatch& dispatch, const ApnsDriverConfig& driver);

// What Apple's answer says about the message. `renew`: the provider token is to be replaced, and whether that helps
// decides if the lane halts. `reconnect`: Apple wants a new connection. `foreign`: the device is not of this
// environment or topic.
struct ApnsVerdict {
  Outcome outcome{};
  bool renew = false;
  bool reconnect = false;
  bool foreign = false;
};
ApnsVerdict judge_apns(const HttpEvidence& evidence, Instant now);

}  // namespace notify

#pragma once

#include <memory>
#include <string>

#include "channel/registry.hpp"

namespace notify {

// Driver "ses": Amazon SES, API v2. The recipient is a mail address. The message id goes along as an e-mail tag and as a
// header, so that SES's events name it.
Result<std::unique_ptr<Channel>> make_ses_channel(const ChannelConfig& config, const ChannelPorts& ports);

// The request's JSON.
std::string ses_body(const Dispatch& dispatch, const SesDriverConfig& driver);

// What Amazon's answer says about the message.
Outcome judge_ses(const HttpEvidence& evidence, Instant now);

}  // namespace notify

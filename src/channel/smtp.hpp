#pragma once

#include <memory>

#include "channel/registry.hpp"

namespace notify {

// Driver "smtp": hands every message to a mail server as one transaction with one recipient, over connections that are
// kept and logged in to once. At most once by nature: SMTP has no idempotency key. The Message-ID is made of the message
// id and stays the same through every try.
Result<std::unique_ptr<Channel>> make_smtp_channel(const ChannelConfig& config, const ChannelPorts& ports);

}  // namespace notify

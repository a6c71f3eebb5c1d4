#pragma once

#include <memory>

#include "channel/registry.hpp"

namespace notify {

// Driver "webhook": POSTs message_json() to the configured URL, or to the recipient when none is configured,
// with Idempotency-Key and the Standard Webhooks headers. Every attempt has a timestamp and signatures of its
// own over the bytes it sends; the message id stays the same.
Result<std::unique_ptr<Channel>> make_webhook_channel(const ChannelConfig& config, const ChannelPorts& ports);

}  // namespace notify

#pragma once

#include <memory>

#include "channel/registry.hpp"

namespace notify {

// Driver "http": one request a message, as the channel's recipe says, judged by the recipe's rules. Asks the vendor about
// a message where the recipe has a look-up.
Result<std::unique_ptr<Channel>> make_http_channel(const ChannelConfig& config, const ChannelPorts& ports);

}  // namespace notify

#pragma once

#include <memory>

#include "channel/registry.hpp"

namespace notify {

// Driver "file": appends message_json() as one line to the configured file. All messages that are handed over
// in one round of the loop share one write and one fdatasync; each is SENT when that has returned.
Result<std::unique_ptr<Channel>> make_file_channel(const ChannelConfig& config, const ChannelPorts& ports);

}  // namespace notify

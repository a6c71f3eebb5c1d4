#pragma once

#include <memory>
#include <span>
#include <string>

#include "channel/registry.hpp"
#include "core/outcome.hpp"

namespace notify {

// Driver "exec": runs the configured command once a message, with message_json() on its standard input and
// NOTIFYCTL_MESSAGE_ID in its environment. Nothing of the message is in argv, where `ps` would show it.
Result<std::unique_ptr<Channel>> make_exec_channel(const ChannelConfig& config, const ChannelPorts& ports);

// What the end of the program says about the message: exit status 0 sent; 75 certainly not sent; 77, 78 and
// "did not start" the same, and the lane halts; 64–74 and 76 refused for good; everything else, a signal and
// the time limit unknown. The detail is the first line of the program's output without the parts in
// `personal`.
Outcome classify_exit(const ProcessResult& result, std::span<const std::string> personal);

}  // namespace notify

#pragma once

#include <optional>
#include <string>

#include "cmd/command.hpp"
#include "core/config.hpp"

namespace notify {

struct ChannelOptions {
  std::string action = "list";
  std::string name{};
  // pause
  std::optional<std::string> until{};
  std::optional<std::string> reason{};
  // test
  std::optional<std::string> to{};
  std::optional<std::string> subject{};
  std::string body = "This is a test message of notifyctl";
  std::optional<std::string> data{};  // JSON
  bool dry_run = false;
};

Page channel_page();
void register_options(OptionSet& set, ChannelOptions& options);
Result<int> run(const ChannelOptions& options, Context& context);

// `channel test`, in channel_test.cpp: one message through the driver, beside outbox and inbox.
Result<int> test_channel(const ChannelOptions& options, const ChannelConfig& channel, Context& context);

// channel recipes: lists the built-in recipes, or shows one, or examines a file of one's own.
Result<int> show_recipes(const ChannelOptions& options, Context& context);

}  // namespace notify

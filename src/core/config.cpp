#include "core/config.hpp"

namespace notify {
namespace {

struct DriverName {
  std::string_view operator()(const FileDriverConfig&) const noexcept { return "file"; }
  std::string_view operator()(const ExecDriverConfig&) const noexcept { return "exec"; }
  std::string_view operator()(const WebhookDriverConfig&) const noexcept { return "webhook"; }
  std::string_view operator()(const SmtpDriverConfig&) const noexcept { return "smtp"; }
};

}  // namespace

std::string_view driver_name(const DriverConfig& driver) noexcept { return std::visit(DriverName{}, driver); }

const ChannelConfig* Config::channel(std::string_view name) const noexcept {
  for (const ChannelConfig& channel : channels)
    if (channel.name == name) return &channel;
  return nullptr;
}

}  // namespace notify

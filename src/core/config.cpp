#include "core/config.hpp"

namespace notify {
namespace {

struct DriverName {
  std::string_view operator()(const FileDriverConfig&) const noexcept { return "file"; }
  std::string_view operator()(const ExecDriverConfig&) const noexcept { return "exec"; }
  std::string_view operator()(const WebhookDriverConfig&) const noexcept { return "webhook"; }
  std::string_view operator()(const ApnsDriverConfig&) const noexcept { return "apns"; }
  std::string_view operator()(const FcmDriverConfig&) const noexcept { return "fcm"; }
  std::string_view operator()(const WebPushDriverConfig&) const noexcept { return "webpush"; }
  std::string_view operator()(const SesDriverConfig&) const noexcept { return "ses"; }
  std::string_view operator()(const HttpDriverConfig&) const noexcept { return "http"; }
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

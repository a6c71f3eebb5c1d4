#include "channel/registry.hpp"

#include <array>

#include "channel/apns.hpp"
#include "channel/exec.hpp"
#include "channel/fcm.hpp"
#include "channel/file.hpp"
#include "channel/http.hpp"
#include "channel/ses.hpp"
#include "channel/smtp.hpp"
#include "channel/webhook.hpp"
#include "channel/webpush.hpp"

namespace notify {
namespace {

constexpr std::array kDrivers{
    Driver{"apns", "sends to Apple devices by Apple's push service", make_apns_channel},
    Driver{"exec", "runs a program with the message as JSON on its standard input", make_exec_channel},
    Driver{"fcm", "sends to devices by Firebase Cloud Messaging", make_fcm_channel},
    Driver{"file", "appends the message as one JSON line to a file", make_file_channel},
    Driver{"http", "calls a vendor's HTTP API as a recipe describes it", make_http_channel, true},
    Driver{"ses", "sends mail by Amazon SES", make_ses_channel},
    Driver{"smtp", "hands the message to a mail server (SMTP submission)", make_smtp_channel},
    Driver{"webhook", "posts the message as JSON to an http or https URL, signed", make_webhook_channel},
    Driver{"webpush", "sends to browsers by their push services, encrypted", make_webpush_channel},
};

}  // namespace

std::span<const Driver> drivers() noexcept { return kDrivers; }

bool looks_up(const ChannelConfig& config) noexcept {
  for (const Driver& driver : kDrivers)
    if (driver.name == driver_name(config.driver)) return driver.looks_up;
  return false;
}

Result<std::unique_ptr<Channel>> make_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const std::string_view name = driver_name(config.driver);
  for (const Driver& driver : kDrivers) {
    if (driver.name != name) continue;
    auto channel = driver.make(config, ports);
    if (!channel) return fail(with_context(std::move(channel).error(), "channel " + config.name));
    return channel;
  }
  return fail(Code::kConfig, "channel " + config.name + ": no driver named " + std::string(name));
}

}  // namespace notify

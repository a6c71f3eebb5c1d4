#include "cmd/drivers.hpp"

#include <algorithm>

#include "channel/registry.hpp"
#include "cmd/engine.hpp"
#include "cmd/version.hpp"
#include "sys/ca_bundle.hpp"
#include "sys/secrets.hpp"

namespace notify {
namespace {

// Whether a channel can need certificates: an https URL, or URLs that only the recipients know.
bool needs_certificates(const ChannelConfig& channel) {
  const auto* webhook = std::get_if<WebhookDriverConfig>(&channel.driver);
  return webhook != nullptr && (!webhook->url.is_set() || !webhook->url.value.reveal().starts_with("http:"));
}

}  // namespace

Drivers::Drivers(Engine& engine, std::vector<ChannelConfig> channels)
    : channels_(std::move(channels)), processes_(engine.loop()) {}

Drivers::~Drivers() = default;

Result<std::unique_ptr<Drivers>> Drivers::make(Engine& engine, std::vector<ChannelConfig> channels, int concurrency) {
  std::unique_ptr<Drivers> made(new Drivers(engine, std::move(channels)));
  const ChannelPorts ports{engine.loop(), made->processes_, engine.context().clock(),
                           [drivers = made.get(), &engine, concurrency] { return drivers->http(engine, concurrency); },
                           user_agent()};
  // All of them first: whether certificates are needed depends on every URL.
  for (ChannelConfig& channel : made->channels_) TRY(load_secrets(channel, engine.context().environment()));
  for (ChannelConfig& channel : made->channels_) {
    TRY_ASSIGN(std::unique_ptr<Channel> driver, make_channel(channel, ports));
    made->lanes_.push_back({&channel, driver.get()});
    made->drivers_.push_back(std::move(driver));
  }
  return made;
}

// Made when the first channel asks for it. A missing CA bundle is a configuration error, not a failure of every
// message; but who only sends to plain http needs none.
Result<HttpClient*> Drivers::http(Engine& engine, int concurrency) {
  if (http_ == nullptr) {
    HttpSettings settings;
    settings.max_connections = concurrency;
    settings.user_agent = user_agent();
    Result<std::string> ca_file =
        find_ca_bundle(engine.config().ca_bundle, engine.context().environment()("SSL_CERT_FILE"));
    if (ca_file) {
      settings.ca_file = std::move(*ca_file);
    } else if (std::any_of(channels_.begin(), channels_.end(), needs_certificates)) {
      return fail(std::move(ca_file).error());
    }
    TRY_ASSIGN(http_, CurlHttp::create(engine.loop(), settings));
  }
  return http_.get();
}

}  // namespace notify

#include "cmd/drivers.hpp"

#include "channel/http_settings.hpp"
#include "channel/registry.hpp"
#include "cmd/engine.hpp"
#include "cmd/version.hpp"
#include "sys/ca_bundle.hpp"
#include "sys/secrets.hpp"

namespace notify {
namespace {

Result<std::string> ca_bundle(Engine& engine) {
  return find_ca_bundle(engine.config().ca_bundle, engine.context().environment()("SSL_CERT_FILE"));
}

Result<Secret> read_again(Engine& engine, SecretSetting setting) {
  TRY(load_secret(setting, engine.context().environment()));
  return std::move(setting.value);
}

}  // namespace

bool needs_certificates(const ChannelConfig& channel) {
  if (const auto* webhook = std::get_if<WebhookDriverConfig>(&channel.driver))
    return !webhook->url.is_set() || !webhook->url.value.reveal().starts_with("http:");
  if (const auto* smtp = std::get_if<SmtpDriverConfig>(&channel.driver)) return smtp->tls != MailTls::kNone;
  if (const auto* http = std::get_if<HttpDriverConfig>(&channel.driver)) {
    const Result<std::string> url = recipe_url(*http);
    return !url || !url->starts_with("http:");
  }
  return !std::holds_alternative<FileDriverConfig>(channel.driver) &&
         !std::holds_alternative<ExecDriverConfig>(channel.driver);
}

Drivers::Drivers(Engine& engine, std::vector<ChannelConfig> channels, int concurrency)
    : channels_(std::move(channels)), processes_(engine.loop()), credentials_(engine.store().path(), engine.run()) {
  const ChannelPorts ports{engine.loop(),
                           processes_,
                           engine.context().clock(),
                           credentials_,
                           [this, &engine, concurrency] { return http(engine, concurrency); },
                           user_agent(),
                           [this, &engine, concurrency] { return mail(engine, concurrency); },
                           [&engine](const SecretSetting& setting) { return read_again(engine, setting); }};
  for (ChannelConfig& channel : channels_) {
    Result<std::unique_ptr<Channel>> made = driver(engine, channel, ports);
    if (!made) {
      lanes_.push_back({&channel, nullptr, std::move(made).error()});
      continue;
    }
    lanes_.push_back({&channel, made->get(), {}});
    drivers_.push_back(std::move(*made));
  }
}

Drivers::~Drivers() = default;

// A missing CA bundle is trouble of the channels that need one, and no failure of every message.
Result<std::unique_ptr<Channel>> Drivers::driver(Engine& engine, ChannelConfig& channel, const ChannelPorts& ports) {
  TRY(load_secrets(channel, engine.context().environment()));
  if (needs_certificates(channel)) {
    if (Result<std::string> found = ca_bundle(engine); !found)
      return fail(with_context(std::move(found).error(), "channel " + channel.name));
  }
  return make_channel(channel, ports);
}

// Made when the first channel asks for it. Who only sends to plain http needs no certificates.
Result<HttpClient*> Drivers::http(Engine& engine, int concurrency) {
  if (http_ == nullptr) {
    HttpSettings settings;
    settings.max_connections = concurrency;
    settings.user_agent = user_agent();
    if (Result<std::string> found = ca_bundle(engine)) settings.ca_file = std::move(*found);
    TRY_ASSIGN(http_, CurlHttp::create(engine.loop(), settings));
  }
  return http_.get();
}

Result<MailClient*> Drivers::mail(Engine& engine, int concurrency) {
  if (mail_ == nullptr) {
    MailSettings settings;
    settings.max_connections = concurrency;
    if (Result<std::string> found = ca_bundle(engine)) settings.ca_file = std::move(*found);
    TRY_ASSIGN(mail_, CurlMail::create(engine.loop(), settings));
  }
  return mail_.get();
}

}  // namespace notify

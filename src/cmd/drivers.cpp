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
    : engine_(engine),
      concurrency_(concurrency),
      channels_(std::move(channels)),
      processes_(engine.loop()),
      credentials_(engine.store().path(), engine.run()) {
  for (ChannelConfig& channel : channels_) {
    lanes_.push_back({&channel, nullptr, {}});
    (void)open(lanes_.back(), channel);
  }
}

ChannelPorts Drivers::ports() {
  return {engine_.loop(),
          processes_,
          engine_.context().clock(),
          credentials_,
          [this] { return http(); },
          user_agent(),
          [this] { return mail(); },
          [this](const SecretSetting& setting) { return read_again(engine_, setting); }};
}

bool Drivers::open(WorkLane& lane, ChannelConfig& channel) {
  Result<std::unique_ptr<Channel>> made = driver(channel);
  if (!made) {
    lane.trouble = std::move(made).error();
    return false;
  }
  lane.driver = made->get();
  lane.trouble = {};
  drivers_.push_back(std::move(*made));
  return true;
}

std::vector<std::size_t> Drivers::try_closed() {
  std::vector<std::size_t> opened;
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].driver == nullptr && open(lanes_[i], channels_[i])) opened.push_back(i);
  return opened;
}

Drivers::~Drivers() = default;

// A missing CA bundle is trouble of the channels that need one, and no failure of every message.
Result<std::unique_ptr<Channel>> Drivers::driver(ChannelConfig& channel) {
  TRY(load_secrets(channel, engine_.context().environment()));
  if (needs_certificates(channel)) {
    if (Result<std::string> found = ca_bundle(engine_); !found)
      return fail(with_context(std::move(found).error(), "channel " + channel.name));
  }
  return make_channel(channel, ports());
}

// Made when the first channel asks for it. Who only sends to plain http needs no certificates.
Result<HttpClient*> Drivers::http() {
  if (http_ == nullptr) {
    HttpSettings settings;
    settings.max_connections = concurrency_;
    settings.user_agent = user_agent();
    if (Result<std::string> found = ca_bundle(engine_)) settings.ca_file = std::move(*found);
    TRY_ASSIGN(http_, CurlHttp::create(engine_.loop(), settings));
  }
  return http_.get();
}

Result<MailClient*> Drivers::mail() {
  if (mail_ == nullptr) {
    MailSettings settings;
    settings.max_connections = concurrency_;
    if (Result<std::string> found = ca_bundle(engine_)) settings.ca_file = std::move(*found);
    TRY_ASSIGN(mail_, CurlMail::create(engine_.loop(), settings));
  }
  return mail_.get();
}

}  // namespace notify

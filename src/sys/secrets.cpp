#include "sys/secrets.hpp"

#include "sys/files.hpp"

namespace notify {
namespace {

// A secret that is not there is a mistake in the configuration, not a message or file that somebody asked for.
Error secret_error(Error error) {
  if (error.code == Code::kNotFound) {
    error.code = Code::kConfig;
    error.hint = "create it with mode 600, or name another file in the configuration";
  } else if (error.code == Code::kPermission && error.hint.empty()) {
    error.hint = "run notifyctl as the user who owns it";
  }
  return error;
}

}  // namespace

Result<void> load_secret(SecretSetting& setting, const Environment& environment) {
  if (setting.source == SecretSetting::Source::kFile) {
    Result<std::string> text = read_secret_file(setting.from);
    if (!text) return fail(secret_error(std::move(text).error()));
    setting.value = Secret(std::move(*text));
  } else if (setting.source == SecretSetting::Source::kEnvironment) {
    auto text = environment(setting.from.c_str());
    if (!text || text->empty())
      return fail(Code::kConfig, "the environment variable " + setting.from + " is not set",
                  "set it where notifyctl is started (Environment= of a unit, the crontab)");
    setting.value = Secret(std::move(*text));
  }
  return {};
}

Result<void> load_secrets(ChannelConfig& channel, const Environment& environment) {
  const auto load = [&](SecretSetting& setting, const std::string& key) -> Result<void> {
    if (auto loaded = load_secret(setting, environment); !loaded)
      return fail(with_context(std::move(loaded).error(), "channels." + channel.name + "." + key));
    return {};
  };
  if (auto* smtp = std::get_if<SmtpDriverConfig>(&channel.driver)) {
    TRY(load(smtp->password, "password"));
    return load(smtp->token, "token");
  }
  auto* webhook = std::get_if<WebhookDriverConfig>(&channel.driver);
  if (webhook == nullptr) return {};
  TRY(load(webhook->url, "url"));
  for (Header& header : webhook->headers) {
    TRY(load(header.value, "headers." + header.name));
    for (const char c : header.value.value.reveal())
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t')
        return fail(Code::kConfig, "channels." + channel.name + ".headers." + header.name +
                                       ": the value contains a line end or control character");
  }
  for (SecretSetting& secret : webhook->secrets) TRY(load(secret, "secret"));
  return {};
}

}  // namespace notify

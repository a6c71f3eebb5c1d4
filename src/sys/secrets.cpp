#include "sys/secrets.hpp"

#include "core/safe_text.hpp"
#include "sys/epoll_loop.hpp"
#include "sys/files.hpp"
#include "sys/process_runner.hpp"

namespace notify {
namespace {

constexpr Duration kCommandTimeout = 10s;
constexpr std::size_t kLargestSecret = 64 * 1024;

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

// What the program prints, without the line end. Its standard error is ours, so that it can say what is wrong.
Result<std::string> secret_of_command(const std::vector<std::string>& command) {
  EpollLoop loop;
  SystemProcessRunner processes(loop);
  ProcessRequest request;
  request.argv = command;
  request.timeout = kCommandTimeout;
  request.max_output = kLargestSecret + 1;
  request.errors = ProcessRequest::Errors::kOurs;
  ProcessResult result;
  processes.run(std::move(request), [&](ProcessResult ended) {
    result = std::move(ended);
    loop.stop();
  });
  loop.run();
  const std::string what = "the secret's command " + safe_text(command.front(), 200);
  if (!result.started) return fail(Code::kConfig, what + " does not start: " + result.error);
  if (result.timed_out) return fail(Code::kConfig, what + " took longer than 10 seconds");
  if (result.signal != 0) return fail(Code::kConfig, what + " was ended by signal " + std::to_string(result.signal));
  if (result.exit_code != 0) return fail(Code::kConfig, what + " ended with " + std::to_string(result.exit_code));
  std::string text = std::move(result.output);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return fail(Code::kConfig, what + " printed nothing");
  if (text.size() > kLargestSecret) return fail(Code::kConfig, what + " printed more than 64 KiB");
  return text;
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
  } else if (setting.source == SecretSetting::Source::kCommand) {
    TRY_ASSIGN(std::string text, secret_of_command(setting.command));
    setting.value = Secret(std::move(text));
  }
  return {};
}

Result<void> load_secrets(ChannelConfig& channel, const Environment& environment) {
  const auto load = [&](SecretSetting& setting, const std::string& key) -> Result<void> {
    if (auto loaded = load_secret(setting, environment); !loaded)
      return fail(with_context(std::move(loaded).error(), "channels." + channel.name + "." + key));
    return {};
  };
  if (auto* webhook = std::get_if<WebhookDriverConfig>(&channel.driver)) {
    TRY(load(webhook->url, "url"));
    for (Header& header : webhook->headers) {
      TRY(load(header.value, "headers." + header.name));
      for (const char c : header.value.value.reveal())
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t')
          return fail(Code::kConfig, "channels." + channel.name + ".headers." + header.name +
                                         ": the value contains a line end or control character");
    }
    for (SecretSetting& secret : webhook->secrets) TRY(load(secret, "secret"));
  } else if (auto* apns = std::get_if<ApnsDriverConfig>(&channel.driver)) {
    TRY(load(apns->key, "key"));
  } else if (auto* fcm = std::get_if<FcmDriverConfig>(&channel.driver)) {
    TRY(load(fcm->service_account, "service_account"));
  } else if (auto* webpush = std::get_if<WebPushDriverConfig>(&channel.driver)) {
    TRY(load(webpush->key, "key"));
  } else if (auto* ses = std::get_if<SesDriverConfig>(&channel.driver)) {
    TRY(load(ses->secret_access_key, "secret_access_key"));
    TRY(load(ses->session_token, "session_token"));
  } else if (auto* smtp = std::get_if<SmtpDriverConfig>(&channel.driver)) {
    TRY(load(smtp->password, "password"));
    TRY(load(smtp->token, "token"));
  } else if (auto* http = std::get_if<HttpDriverConfig>(&channel.driver)) {
    for (auto& [name, setting] : http->settings) TRY(load(setting, name));
  }
  return {};
}

}  // namespace notify

#include "channel/webhook_settings.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <variant>

#include "channel/signature.hpp"
#include "channel/target_url.hpp"
#include "channel/vendor_common.hpp"
#include "core/ascii.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::string_view kCredentialWords[] = {"auth",     "token",  "key",       "secret",
                                                 "password", "cookie", "signature", "credential"};

bool same_letter(char a, char b) { return lower(a) == lower(b); }

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return same_ignoring_case(name, n); });
}

// What the driver or the HTTP client writes itself: a second one would contradict it.
bool is_reserved_header(std::string_view name) {
  return is_one_of(name, {"content-type", "idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature",
                          "x-correlation-id", "host", "content-length", "transfer-encoding", "connection", "expect",
                          "te", "trailer", "upgrade"});
}

// RFC 9110 5.5: no line end and no other control character but the tab.
bool is_field_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
  });
}

// Kept in a file or the environment, or named like one.
bool is_credential(const Header& header) {
  if (header.value.source != SecretSetting::Source::kPlain) return true;
  return std::any_of(std::begin(kCredentialWords), std::end(kCredentialWords), [&](std::string_view word) {
    return std::search(header.name.begin(), header.name.end(), word.begin(), word.end(), same_letter) !=
           header.name.end();
  });
}

// A credential must not go wherever a recipient points.
Result<void> check_header(const Header& header, bool goes_to_recipients) {
  const std::string& value = header.value.value.reveal();
  const std::string where = "header " + safe_text(header.name, 64);
  if (is_reserved_header(header.name)) return fail(Code::kConfig, where + ": notifyctl writes it itself");
  if (value.empty()) return fail(Code::kConfig, where + ": its value is empty or was not loaded");
  if (!is_field_value(value))
    return fail(Code::kConfig, where + ": its value holds a line end or another control character");
  if (goes_to_recipients && is_credential(header))
    return fail(Code::kConfig, where + ": a credential would go to every URL that a recipient names",
                "set url, so that it is known where it goes");
  return {};
}

Result<void> add_headers(const WebhookDriverConfig& driver, const std::string& user_agent, WebhookSettings& settings) {
  for (const Header& header : driver.headers) {
    TRY(check_header(header, !driver.url.is_set()));
    const std::string& value = header.value.value.reveal();
    settings.headers.emplace_back(header.name, value);
    settings.secrets.push_back(value);
    if (const std::size_t space = value.find(' '); space != std::string::npos)  // "Bearer TOKEN"
      settings.secrets.push_back(value.substr(space + 1));
  }
  settings.headers.emplace_back("Content-Type", "application/json");
  const bool has_user_agent = std::any_of(settings.headers.begin(), settings.headers.end(), [](const auto& header) {
    return same_ignoring_case(header.first, "User-Agent");
  });
  if (!has_user_agent) settings.headers.emplace_back("User-Agent", user_agent);
  return {};
}

Result<void> add_keys(const WebhookDriverConfig& driver, WebhookSettings& settings) {
  for (const SecretSetting& secret : driver.secrets) {
    TRY_ASSIGN(SigningKey key, signing_key(secret.value.reveal()));
    settings.secrets.push_back(secret.value.reveal());
    if (const auto* shared = std::get_if<std::string>(&key)) settings.secrets.push_back(*shared);
    settings.keys.push_back(std::move(key));
  }
  return {};
}

Result<void> add_target(const WebhookDriverConfig& driver, WebhookSettings& settings) {
  settings.request.allow_private = driver.allow_private || driver.url.is_set();
  if (!driver.url.is_set()) return {};
  settings.url = driver.url.value.reveal();
  if (const Result<void> valid = check_target_url(settings.url); !valid)
    return fail(Code::kConfig, valid.error().message, valid.error().hint);
  for (std::string& part : telling_parts(settings.url)) settings.secrets.push_back(std::move(part));
  return {};
}

}  // namespace

Result<std::shared_ptr<const WebhookSettings>> make_webhook_settings(const ChannelConfig& config,
                                                                     const std::string& user_agent) {
  const auto* driver = std::get_if<WebhookDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  auto settings = std::make_shared<WebhookSettings>();
  TRY(add_target(*driver, *settings));
  TRY(add_headers(*driver, user_agent, *settings));
  TRY(add_keys(*driver, *settings));
  settings->key_style = driver->idempotency_key;
  settings->rules.not_sent = driver->not_sent;
  settings->rules.unknown = {409};  // with an idempotency key: the first request is still being worked on
  const bool private_too = settings->request.allow_private;
  settings->request = vendor_request(
      config, driver->http_version == HttpVersion::k2 ? HttpRequest::Version::k2 : HttpRequest::Version::k1_1);
  settings->request.allow_private = private_too;
  return settings;
}

}  // namespace notify

#include "channel/smtp_settings.hpp"

#include <algorithm>
#include <variant>

#include "channel/mail_header.hpp"
#include "channel/url_template.hpp"
#include "core/crypto.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

constexpr std::string_view kId = "{id}";
constexpr std::size_t kMaxUrl = 900;  // a header line that cannot be folded has 998 bytes

tl::unexpected<Error> in_key(const std::string& key, Error error) {
  error.code = Code::kConfig;
  error.field.clear();
  return fail(with_context(std::move(error), key));
}

Result<MailAddress> address_in(const std::string& key, const std::string& text) {
  Result<MailAddress> address = parse_mailbox(text);
  if (!address) return in_key(key, std::move(address).error());
  return address;
}

Result<void> add_headers(const SmtpDriverConfig& driver, MailStyle& style) {
  for (const auto& [name, value] : driver.headers) {
    const std::string where = "headers." + safe_text(name, 64);
    if (!is_field_name(name)) return fail(Code::kConfig, where + ": is not a header's name");
    if (is_reserved_mail_header(name)) return fail(Code::kConfig, where + ": notifyctl writes it itself");
    if (!valid_utf8(value) || find_control(value, LineUse::kSubject))
      return fail(Code::kConfig, where + ": its value holds a line end or another control character, or is not UTF-8");
    style.headers.emplace_back(name, value);
  }
  return {};
}

Result<void> add_style(const SmtpDriverConfig& driver, MailStyle& style) {
  TRY_ASSIGN(style.from, address_in("from", driver.from));
  if (!driver.reply_to.empty()) {
    TRY_ASSIGN(style.reply_to, address_in("reply_to", driver.reply_to));
  }
  style.message_id_domain = driver.message_id_domain.empty() ? style.from.domain : driver.message_id_domain;
  if (!is_domain_name(style.message_id_domain))
    return fail(Code::kConfig, "message_id_domain: is not an ASCII domain name",
                "write it in its xn-- form (punycode) when it has other letters");
  return add_headers(driver, style);
}

Result<void> add_return_path(const SmtpDriverConfig& driver, SmtpSettings& settings) {
  settings.return_path = driver.return_path.empty() ? settings.style.from.spec() : driver.return_path;
  const Result<MailAddress> sample = parse_mail_address(return_path_of(settings, "x-0123abcd-1"));
  if (!sample) return in_key("return_path", sample.error());
  return {};
}

Result<void> add_unsubscribe(const SmtpDriverConfig& driver, SmtpSettings& settings) {
  const std::string& url = driver.list_unsubscribe;
  if (url.empty()) return {};
  const bool visible = std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!url.starts_with("https://") || !visible || url.size() > kMaxUrl ||
      url.find_first_of("<>\"") != std::string::npos)
    return fail(Code::kConfig, "list_unsubscribe: is not an https URL (RFC 8058 wants https)");
  if (Result<void> known = check_url_template(url); !known) return in_key("list_unsubscribe", known.error());
  settings.list_unsubscribe = url;
  return {};
}

std::vector<std::string> mechanisms_of(const SmtpDriverConfig& driver) {
  if (driver.username.empty()) return {};
  if (driver.auth == "plain") return {"PLAIN"};
  if (driver.auth == "login") return {"LOGIN"};
  if (driver.auth == "xoauth2") return {"XOAUTH2"};
  if (driver.auth == "oauthbearer") return {"OAUTHBEARER"};
  if (driver.token.is_set()) return {"OAUTHBEARER", "XOAUTH2"};
  return {"PLAIN", "LOGIN"};
}

void add_login(const SmtpDriverConfig& driver, SmtpSettings& settings) {
  MailRequest& request = settings.request;
  request.user = driver.username;
  request.password = driver.password.value.reveal();
  request.mechanisms = mechanisms_of(driver);
  for (const SecretSetting* secret : {&driver.password, &driver.token}) {
    if (secret->value.empty()) continue;
    settings.secrets.push_back(secret->value.reveal());
    settings.secrets.push_back(to_base64(secret->value.reveal()));
  }
}

}  // namespace

Result<std::shared_ptr<const SmtpSettings>> make_smtp_settings(const ChannelConfig& config) {
  const auto* driver = std::get_if<SmtpDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  auto settings = std::make_shared<SmtpSettings>();
  TRY(add_style(*driver, settings->style));
  TRY(add_return_path(*driver, *settings));
  TRY(add_unsubscribe(*driver, *settings));
  add_login(*driver, *settings);
  settings->max_message_bytes = driver->max_message_bytes;
  MailRequest& request = settings->request;
  request.host = driver->host;
  request.port = driver->port;
  request.tls = driver->tls;
  request.helo = driver->helo;
  request.connect_timeout = config.connect_timeout;
  request.timeout = config.timeout;
  return settings;
}

std::string return_path_of(const SmtpSettings& settings, const std::string& message_id) {
  std::string path = settings.return_path;
  if (const std::size_t at = path.find(kId); at != std::string::npos) path.replace(at, kId.size(), message_id);
  return path;
}

}  // namespace notify

// The keys of [channels.NAME] with driver = "smtp".

#include <algorithm>
#include <array>

#include "core/mail_address.hpp"
#include "core/text_rules.hpp"
#include "sys/config_reader.hpp"

namespace notify::config_file {
namespace {

bool is_host(std::string_view text) {
  const bool v6 = text.find(':') != std::string_view::npos &&
                  text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  return v6 || is_domain_name(text);
}

void read_server(Section& channel, SmtpDriverConfig& driver) {
  channel.require("host");
  if (channel.text("host", driver.host) && !is_host(driver.host))
    channel.problem("host", "is not a host name or address", "give the port as port = 587, and no scheme");
  if (const auto tls = channel.choice("tls", {"starttls", "implicit", "none"}))
    driver.tls = std::array{MailTls::kStartTls, MailTls::kImplicit, MailTls::kNone}.at(*tls);
  driver.port = default_mail_port(driver.tls);
  channel.integer("port", driver.port, 1, 65535);
  bool allow_cleartext = false;
  channel.boolean("allow_cleartext", allow_cleartext);
  if (driver.tls == MailTls::kNone && !allow_cleartext && !is_loopback_name(driver.host))
    channel.problem("tls", "\"none\" would send messages and passwords in the clear over a network",
                    "use \"starttls\" or \"implicit\"; if it must be, add allow_cleartext = true");
  if (channel.text("helo", driver.helo) && !is_domain_name(driver.helo)) channel.problem("helo", "is not a host name");
}

// Which of the mechanisms want a token.
constexpr std::array<std::string_view, 4> kMechanisms{"plain", "login", "xoauth2", "oauthbearer"};
bool wants_token(std::string_view mechanism) { return mechanism.find("oauth") != std::string_view::npos; }

void read_login(Section& channel, SmtpDriverConfig& driver) {
  channel.text("username", driver.username);
  channel.secret("password", driver.password, true);
  channel.secret("token", driver.token, true);
  if (const auto auth = channel.choice("auth", {"plain", "login", "xoauth2", "oauthbearer"}))
    driver.auth = kMechanisms.at(*auth);
  const bool has_secret = driver.password.is_set() || driver.token.is_set();
  if (driver.username.empty()) {
    if (has_secret || !driver.auth.empty()) channel.problem("username", "is missing");
    return;
  }
  if (find_control(driver.username)) channel.problem("username", "must not contain line ends or control characters");
  if (driver.password.is_set() && driver.token.is_set())
    channel.problem("token", "and password are two ways to log in: give one of them");
  else if (!has_secret)
    channel.problem("username", "needs a password or a token", "password = { file = \"/etc/notifyctl/mail.secret\" }");
  else if (!driver.auth.empty() && wants_token(driver.auth) != driver.token.is_set())
    channel.problem("auth", "\"" + driver.auth + "\" needs " + (wants_token(driver.auth) ? "a token" : "a password"));
}

void read_mailbox(Section& channel, std::string_view key, std::string& target) {
  if (!channel.text(key, target)) return;
  if (const auto address = parse_mailbox(target); !address)
    channel.problem(key, address.error().message, address.error().hint);
}

void read_message_headers(Section& channel, SmtpDriverConfig& driver) {
  const toml::table* table = channel.table("headers");
  if (table == nullptr) return;
  for (const auto& [key, node] : *table) {
    const auto value = node.value_exact<std::string>();
    if (!value)
      channel.source().problem(node, channel.full("headers") + "." + std::string(key.str()), "must be a string");
    else
      driver.headers.emplace_back(key.str(), *value);
  }
}

}  // namespace

SmtpDriverConfig read_smtp(Section& channel) {
  SmtpDriverConfig driver;
  read_server(channel, driver);
  read_login(channel, driver);
  channel.require("from");
  read_mailbox(channel, "from", driver.from);
  read_mailbox(channel, "reply_to", driver.reply_to);
  channel.text("return_path", driver.return_path);
  if (channel.text("message_id_domain", driver.message_id_domain) && !is_domain_name(driver.message_id_domain))
    channel.problem("message_id_domain", "is not a domain name in ASCII");
  read_message_headers(channel, driver);
  channel.text("list_unsubscribe", driver.list_unsubscribe);
  constexpr int kLargest = 50 * 1024 * 1024;
  int bytes = static_cast<int>(driver.max_message_bytes);
  if (channel.integer("max_message_bytes", bytes, 1024, kLargest))
    driver.max_message_bytes = static_cast<std::size_t>(bytes);
  return driver;
}

}  // namespace notify::config_file

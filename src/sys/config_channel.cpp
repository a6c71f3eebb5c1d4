// [channels.NAME] of the configuration.

#include <algorithm>
#include <array>

#include "core/ascii.hpp"
#include "core/duration.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "core/rate_text.hpp"
#include "core/text_rules.hpp"
#include "sys/config_http.hpp"
#include "sys/config_reader.hpp"

namespace notify::config_file {
namespace {

constexpr std::array kDrivers{"apns", "exec", "fcm", "file", "http", "ses", "smtp", "webhook", "webpush"};

bool sounds_like_credential(std::string_view header) {
  const std::string name = lowered(header);
  constexpr std::array kWords{"auth", "token", "key", "secret", "password", "cookie", "signature", "credential"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* word) { return name.find(word) != std::string::npos; });
}

// Headers that the driver or HTTP itself sets: a second one would contradict it.
bool is_ours(std::string_view header) {
  constexpr std::array kOurs{
      "host",       "content-length",    "transfer-encoding", "connection", "expect", "content-type", "idempotency-key",
      "webhook-id", "webhook-timestamp", "webhook-signature", "upgrade",    "te",     "trailer"};
  return std::find(kOurs.begin(), kOurs.end(), lowered(header)) != kOurs.end();
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; });
}

void read_headers(Section& channel, std::vector<Header>& headers) {
  const toml::table* table = channel.table("headers");
  if (table == nullptr) return;
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    const std::string full = channel.full("headers") + "." + name;
    if (!is_token(name)) {
      channel.source().problem(node, full, "is not a header's name");
    } else if (is_ours(name)) {
      channel.source().problem(node, full, "is set by notifyctl itself");
    } else {
      Header header{name, {}};
      if (!read_secret(channel.source(), node, full, header.value, sounds_like_credential(name))) continue;
      if (has_control(header.value.value.reveal()))
        channel.source().problem(node, full, "must not contain line ends or control characters");
      else
        headers.push_back(std::move(header));
    }
  }
}

void read_signing_keys(Section& channel, std::vector<SecretSetting>& secrets) {
  const toml::node* node = channel.find("secret");
  if (node == nullptr) return;
  const std::string name = channel.full("secret");
  const auto read = [&](const toml::node& item) {
    SecretSetting secret;
    if (read_secret(channel.source(), item, name, secret, true)) secrets.push_back(std::move(secret));
  };
  const toml::array* list = node->as_array();
  if (list == nullptr) return read(*node);
  if (list->empty()) channel.problem("secret", "must not be an empty list");
  for (const toml::node& item : *list) read(item);
}

void read_not_sent(Section& channel, std::vector<int>& statuses) {
  const toml::array* list = channel.array("not_sent");
  if (list == nullptr) return;
  for (const toml::node& item : *list) {
    const auto status = item.value_exact<std::int64_t>();
    if (!status || *status < 400 || *status > 599)
      channel.source().problem(item, channel.full("not_sent"), "must be a list of statuses from 400 to 599");
    else
      statuses.push_back(static_cast<int>(*status));
  }
}

void read_url(Section& channel, SecretSetting& url) {
  SecretSetting setting;
  if (!channel.secret("url", setting, false)) return;
  if (setting.source == SecretSetting::Source::kPlain) {
    const std::string& text = setting.value.reveal();
    const std::string scheme = lowered(text.substr(0, text.find("://")));
    const std::size_t host = scheme.size() + 3;
    // The reason never repeats the text: the URL may be the secret.
    if ((scheme != "http" && scheme != "https") || text.size() <= host || text[host] == '/')
      return channel.problem("url", "is not an http or https URL", "write it with its scheme: https://host/path");
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7F; }))
      return channel.problem("url", "must not contain spaces, control characters or letters outside ASCII",
                             "write them percent-encoded");
    const std::string authority = text.substr(host, text.find_first_of("/?#", host) - host);
    if (authority.find('@') != std::string::npos)
      return channel.problem("url", "must not contain a user name or password",
                             "give them as header Authorization = { file = \"…\" }");
  }
  url = std::move(setting);
}

WebhookDriverConfig read_webhook(Section& channel) {
  WebhookDriverConfig driver;
  read_url(channel, driver.url);
  read_headers(channel, driver.headers);
  read_signing_keys(channel, driver.secrets);
  if (const auto version = channel.choice("http_version", {"1.1", "2"}))
    driver.http_version = *version == 0 ? HttpVersion::k1_1 : HttpVersion::k2;
  read_not_sent(channel, driver.not_sent);
  channel.boolean("allow_private", driver.allow_private);
  using Style = WebhookDriverConfig::KeyStyle;
  constexpr std::array kStyles{Style::kPlain, Style::kQuoted, Style::kNone};
  if (const auto style = channel.choice("idempotency_key", {"plain", "quoted", "none"}))
    driver.idempotency_key = kStyles.at(*style);
  return driver;
}

ExecDriverConfig read_exec(Section& channel) {
  ExecDriverConfig driver;
  channel.require("command");
  if (channel.texts("command", driver.command)) {
    if (driver.command.empty()) {
      channel.problem("command", "must not be empty", "write the program and its arguments: [\"/usr/local/bin/send\"]");
    } else if (driver.command[0].find('/') != std::string::npos && driver.command[0][0] != '/') {
      driver.command[0] = channel.source().directory + "/" + driver.command[0];
    }
  }
  return driver;
}

FileDriverConfig read_file_driver(Section& channel) {
  FileDriverConfig driver;
  channel.require("path");
  channel.path("path", driver.path);
  return driver;
}

void read_rate(Section& channel, std::optional<Rate>& rate) {
  std::string text;
  if (!channel.text("rate", text)) return;
  if (const auto parsed = parse_rate(text))
    rate = *parsed;
  else
    channel.problem("rate", parsed.error().message, parsed.error().hint);
}

void read_cap(Section& channel, std::optional<RecipientCap>& cap) {
  const toml::table* table = channel.table("per_recipient");
  if (table == nullptr) return;
  Section section(channel.source(), *table, channel.full("per_recipient"), {});
  section.check_keys({"limit", "per", "category"});
  section.require("limit");
  section.require("per");
  RecipientCap value;
  section.integer("limit", value.limit, 1, 1'000'000);
  section.duration("per", value.per, 1s);
  if (const auto category = section.choice("category", {kTransactional, kAdvertising}))
    value.category = *category == 0 ? kTransactional : kAdvertising;
  cap = value;
}

void read_text_limit(Section& channel, std::optional<TextLimit>& limit) {
  const toml::table* table = channel.table("max_text_bytes");
  if (table == nullptr) return;
  Section section(channel.source(), *table, channel.full("max_text_bytes"), {});
  section.check_keys({"encoding", "limit"});
  section.require("encoding");
  section.require("limit");
  TextLimit value;
  constexpr std::array kEncodings{TextEncoding::kUtf8, TextEncoding::kEucKr, TextEncoding::kCp949, TextEncoding::kUcs2,
                                  TextEncoding::kGsm7};
  if (const auto encoding = section.choice("encoding", {"UTF-8", "EUC-KR", "CP949", "UCS-2", "GSM-7"}))
    value.encoding = kEncodings.at(*encoding);
  int bytes = 0;
  if (section.integer("limit", bytes, 1, static_cast<int>(limits::kPayload)))
    value.limit = static_cast<std::size_t>(bytes);
  limit = value;
}

void read_common(Section& section, ChannelConfig& channel) {
  if (const auto semantics = section.choice("semantics", {"at-most-once", "at-least-once"}))
    channel.semantics = *semantics == 0 ? Semantics::kAtMostOnce : Semantics::kAtLeastOnce;
  section.duration("timeout", channel.timeout, 10ms, 1h);
  const bool connect_given = section.duration("connect_timeout", channel.connect_timeout, 10ms, 1h);
  if (!connect_given && channel.connect_timeout >= channel.timeout) channel.connect_timeout = channel.timeout / 2;
  section.duration("stale_after", channel.stale_after, 1s);
  section.integer("concurrency", channel.concurrency, 1, 1024);
  read_rate(section, channel.rate);
  section.durations("retry", channel.retry);
  read_cap(section, channel.per_recipient);
  if (section.duration("idempotency_window", channel.idempotency_window, 1s) &&
      channel.semantics != Semantics::kAtLeastOnce)
    section.problem("idempotency_window", "means something only with semantics = \"at-least-once\"",
                    "leave it out, or set semantics if the vendor honours an idempotency key");
  read_text_limit(section, channel.max_text_bytes);
}

// A false result means that the driver is not known.
bool read_driver(Section& section, DriverConfig& config, std::string& name) {
  if (section.find("driver") == nullptr)
    return section.problem("driver", "is missing", "one of: exec, file, http, smtp, webhook, apns, fcm, webpush, ses"),
           false;
  if (!section.text("driver", name)) return false;
  if (name == "file") return config = read_file_driver(section), true;
  if (name == "exec") return config = read_exec(section), true;
  if (name == "smtp") return config = read_smtp(section), true;
  if (name == "webhook") return config = read_webhook(section), true;
  if (name == "http") return config = read_http(section), true;
  if (name == "apns") return config = read_apns(section), true;
  if (name == "fcm") return config = read_fcm(section), true;
  if (name == "webpush") return config = read_webpush(section), true;
  if (name == "ses") return config = read_ses(section), true;
  section.problem("driver", "\"" + name + "\" is not known", did_you_mean(name, kDrivers));
  return false;
}

// A mail server may take its time with the final dot, and what it then does nobody knows; and it wants few connections.
// The time is cut to what the limits around it leave.
void set_mail_defaults(ChannelConfig& channel, const Config& config) {
  channel.timeout = std::min({Duration(50s), config.queue.lease * 5 / 6, config.work.shutdown_grace * 5 / 6});
  channel.concurrency = 4;
}

void check_mail_semantics(Section& section, const ChannelConfig& channel) {
  if (channel.semantics == Semantics::kAtLeastOnce && std::holds_alternative<SmtpDriverConfig>(channel.driver))
    section.problem("semantics", "\"at-least-once\" is not for mail: servers do not recognise a second copy",
                    "leave semantics out");
}

// connect < call timeout < queue lease < stale_after; call timeout < shutdown_grace.
void check_nesting(Section& section, const ChannelConfig& channel, const Config& config) {
  section.must_be_shorter("connect_timeout", channel.connect_timeout, "timeout", channel.timeout);
  section.must_be_shorter("timeout", channel.timeout, "queue.lease", config.queue.lease);
  section.must_be_shorter("timeout", channel.timeout, "work.shutdown_grace", config.work.shutdown_grace);
  if (channel.stale_after <= config.queue.lease)
    section.problem("stale_after",
                    format_duration(channel.stale_after) + " must be longer than queue.lease (" +
                        format_duration(config.queue.lease) + ")",
                    "lengthen it, or shorten queue.lease");
}

}  // namespace

void read_channel(Source& source, const toml::table& table, std::string_view name, Config& config) {
  Section section(source, table, "channels." + std::string(name), "channels.*");
  if (!is_channel_name(name)) {
    source.problem(table, "channels." + std::string(name),
                   "a channel's name is made of a-z, 0-9, _, - and ., at most 64 of them");
    return;
  }
  ChannelConfig channel;
  channel.name = name;
  std::string driver;
  if (table["driver"].value<std::string>() == "smtp") set_mail_defaults(channel, config);
  read_common(section, channel);
  if (!read_driver(section, channel.driver, driver)) return;
  if (driver == "http")
    check_recipe(section, channel);
  else
    section.check_keys(driver);
  check_mail_semantics(section, channel);
  check_nesting(section, channel, config);
  config.channels.push_back(std::move(channel));
}

}  // namespace notify::config_file

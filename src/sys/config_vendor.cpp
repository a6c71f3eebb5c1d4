// [channels.NAME] of the drivers apns, fcm, webpush and ses.

#include <algorithm>
#include <cctype>

#include "sys/config_reader.hpp"

namespace notify::config_file {
namespace {

constexpr std::string_view kApple = "https://api.push.apple.com";
constexpr std::string_view kAppleSandbox = "https://api.sandbox.push.apple.com";

bool all_of(std::string_view text, bool (*fits)(unsigned char)) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [&](char c) { return fits(static_cast<unsigned char>(c)); });
}

// What goes into a header or a path: visible ASCII without blanks.
bool is_plain(unsigned char c) { return c > ' ' && c < 0x7F; }

bool word(Section& section, std::string_view key, std::string& target) {
  if (!section.text(key, target)) return false;
  if (!all_of(target, is_plain)) return section.problem(key, "must be ASCII without blanks"), false;
  return true;
}

// "https://host" or "https://host:port"; a request's path is put behind it.
void read_origin(Section& section, std::string_view key, std::string& target) {
  std::string value;
  if (!word(section, key, value)) return;
  if (!value.starts_with("https://") || value.size() <= 8 || value.find_first_of("/?#@", 8) != std::string::npos)
    return section.problem(key, "must be https://HOST or https://HOST:PORT");
  target = std::move(value);
}

void one_of(Section& section, std::string_view key, std::string& target,
            std::initializer_list<std::string_view> words) {
  if (const auto index = section.choice(key, words)) target = words.begin()[*index];
}

void read_secret_key(Section& section, std::string_view key, SecretSetting& target) {
  section.require(key);
  section.secret(key, target, true);
}

// Apple's ids of keys and teams.
void read_apple_id(Section& section, std::string_view key, std::string& target) {
  section.require(key);
  if (!section.text(key, target)) return;
  const auto fits = [](unsigned char c) { return std::isupper(c) != 0 || std::isdigit(c) != 0; };
  if (target.size() != 10 || !all_of(target, fits)) section.problem(key, "must be 10 capital letters and digits");
}

void read_apns_priority(Section& section, ApnsDriverConfig& driver) {
  const bool background = driver.push_type == "background";
  if (background) driver.priority = 5;
  if (!section.integer("priority", driver.priority, 1, 10)) return;
  if (background && driver.priority != 5) return section.problem("priority", "must be 5 for a background push");
  if (driver.priority != 1 && driver.priority != 5 && driver.priority != 10)
    section.problem("priority", "must be 10, 5 or 1");
}

}  // namespace

ApnsDriverConfig read_apns(Section& section) {
  ApnsDriverConfig driver;
  read_secret_key(section, "key", driver.key);
  read_apple_id(section, "key_id", driver.key_id);
  read_apple_id(section, "team_id", driver.team_id);
  section.require("topic");
  word(section, "topic", driver.topic);
  const auto environment = section.choice("environment", {"production", "sandbox"});
  driver.url = environment && *environment == 1 ? kAppleSandbox : kApple;
  read_origin(section, "url", driver.url);
  one_of(section, "push_type", driver.push_type,
         {"alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
          "pushtotalk", "widgets", "controls"});
  read_apns_priority(section, driver);
  Duration ttl{0};
  if (section.duration("ttl", ttl, Duration{0}, 30 * 24h)) driver.ttl = ttl;
  section.text("sound", driver.sound);
  return driver;
}

FcmDriverConfig read_fcm(Section& section) {
  FcmDriverConfig driver;
  read_secret_key(section, "service_account", driver.service_account);
  if (word(section, "project", driver.project) && driver.project.find_first_of("/?#%") != std::string::npos)
    section.problem("project", "is no project id");
  read_origin(section, "url", driver.url);
  one_of(section, "target", driver.target, {"token", "fid", "topic", "condition"});
  one_of(section, "priority", driver.priority, {"normal", "high"});
  Duration ttl{0};
  if (section.duration("ttl", ttl, Duration{0}, 28 * 24h)) driver.ttl = ttl;
  section.boolean("validate_only", driver.validate_only);
  return driver;
}

WebPushDriverConfig read_webpush(Section& section) {
  WebPushDriverConfig driver;
  read_secret_key(section, "key", driver.key);
  section.require("subject");
  if (word(section, "subject", driver.subject) && !driver.subject.starts_with("mailto:") &&
      !driver.subject.starts_with("https://"))
    section.problem("subject", "must begin with mailto: or https://");
  section.duration("ttl", driver.ttl, Duration{0}, 28 * 24h);
  one_of(section, "urgency", driver.urgency, {"very-low", "low", "normal", "high"});
  section.texts("allow_hosts", driver.allow_hosts);
  section.boolean("allow_private", driver.allow_private);
  return driver;
}

SesDriverConfig read_ses(Section& section) {
  SesDriverConfig driver;
  section.require("region");
  const auto fits = [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-'; };
  if (section.text("region", driver.region) && !all_of(driver.region, fits))
    section.problem("region", "is no name of a region", "as ap-northeast-2");
  section.require("access_key_id");
  word(section, "access_key_id", driver.access_key_id);
  read_secret_key(section, "secret_access_key", driver.secret_access_key);
  section.secret("session_token", driver.session_token, true);
  section.require("from");
  if (section.text("from", driver.from) && driver.from.find('@') == std::string::npos)
    section.problem("from", "is no mail address");
  section.texts("reply_to", driver.reply_to);
  word(section, "configuration_set", driver.configuration_set);
  word(section, "sns_topic", driver.sns_topic);
  section.path("sns_certificate", driver.sns_certificate);
  if (driver.sns_topic.empty() != driver.sns_certificate.empty())
    section.problem(
        driver.sns_topic.empty() ? "sns_topic" : "sns_certificate",
        "is missing: an event is believed by its signature and its topic, since everybody's topics have the "
        "same signer");
  driver.url = "https://email." + driver.region + ".amazonaws.com";
  read_origin(section, "url", driver.url);
  return driver;
}

}  // namespace notify::config_file

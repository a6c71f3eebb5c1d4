#include "sys/config_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/duration.hpp"
#include "core/message.hpp"
#include "core/time_text.hpp"
#include "sys/config_reader.hpp"
#include "sys/files.hpp"
#include "sys/toml_text.hpp"
#include "sys/zone.hpp"

namespace notify {
namespace {

using config_file::Section;
using config_file::Source;

constexpr std::size_t kLargestConfig = 1024 * 1024;
constexpr const char* kMachineConfig = "/etc/notifyctl/config.toml";

void read_top(Section& top, Config& config) {
  top.check_keys();
  const toml::node* database = top.find("database");
  if (database != nullptr && database->value_or(std::string()).find("://") != std::string::npos)
    top.problem("database", "only a file can be the database in this version");
  else
    top.path("database", config.database);
  top.text("environment", config.environment);
  top.path("ca_bundle", config.ca_bundle);
  if (top.text("timezone", config.timezone))
    if (const auto zone = load_zone(config.timezone); !zone)
      top.problem("timezone", zone.error().message, zone.error().hint);
}

void read_relay(Section& section, RelayConfig& relay) {
  section.check_keys();
  section.integer("batch", relay.batch, 1, 1000);
  section.duration("lease", relay.lease, 1s);
  section.duration("confirm_timeout", relay.confirm_timeout, 10ms);
  section.duration("batch_deadline", relay.batch_deadline, 10ms);
  section.durations("backoff", relay.backoff);
  section.integer("alert_after", relay.alert_after, 1, 1000);
  section.duration("give_up_after", relay.give_up_after, 1s);
  if (relay.backoff.empty()) section.problem("backoff", "must not be empty", "write at least one wait: [\"1m\"]");
  section.must_be_shorter("confirm_timeout", relay.confirm_timeout, "relay.batch_deadline", relay.batch_deadline);
  section.must_be_shorter("batch_deadline", relay.batch_deadline, "relay.lease", relay.lease);
}

void read_surge(Section& section, SurgeConfig& surge) {
  section.check_keys();
  int messages = 0;
  if (section.integer("per_run_max", messages, 1, INT32_MAX)) surge.per_run_max = messages;
  section.integer("hourly_factor", surge.hourly_factor, 2, 1000);
  if (section.integer("hourly_min", messages, 1, INT32_MAX)) surge.hourly_min = messages;
}

void read_keep_keys(Section& section, RetentionConfig& retention) {
  section.check_keys();
  std::string text;
  const toml::node* node = section.find("keep_keys");
  if (node == nullptr || node->value_or(std::string()) == "forever") return;
  Duration keep{};
  if (section.duration("keep_keys", keep, 24h)) retention.keep_keys = keep;
}

std::optional<DailyWindow> read_window(Section& parent, std::string_view key) {
  const toml::table* table = parent.table(key);
  if (table == nullptr) return std::nullopt;
  Section section(parent.source(), *table, parent.full(key), {});
  section.check_keys({"from", "until"});
  const auto minute = [&](std::string_view name, int& target) {
    std::string text;
    section.require(name);
    if (!section.text(name, text)) return false;
    const auto parsed = parse_time_of_day(text);
    if (!parsed) return section.problem(name, parsed.error().message, parsed.error().hint), false;
    target = *parsed;
    return true;
  };
  DailyWindow window;
  const bool from = minute("from", window.from);
  const bool until = minute("until", window.until);
  if (!from || !until) return std::nullopt;
  if (window.from == window.until) return section.problem("until", "must differ from \"from\""), std::nullopt;
  return window;
}

void read_quiet_hours(Section& top, Config& config) {
  const toml::table* categories = top.table("quiet_hours");
  if (categories == nullptr) return;
  for (const auto& [key, node] : *categories) {
    const std::string name(key.str());
    const std::string full = "quiet_hours." + name;
    if (name != kAdvertising && name != kTransactional) {
      top.source().problem(node, full, "is not a category", "the categories are advertising and transactional");
    } else if (!node.is_table()) {
      top.source().problem(node, full, "must be a table");
    } else {
      Section section(top.source(), *node.as_table(), full, "quiet_hours.*");
      section.check_keys();
      config.quiet_hours[name] = QuietHours{read_window(section, "relay"), read_window(section, "worker")};
    }
  }
  if (config.timezone.empty())
    top.problem("quiet_hours", "quiet hours need a time zone", "set timezone = \"Area/City\" at the top");
}

void read_channels(Section& top, Config& config) {
  const toml::table* channels = top.table("channels");
  if (channels == nullptr) return;
  for (const auto& [key, node] : *channels) {
    if (const toml::table* table = node.as_table())
      read_channel(top.source(), *table, key.str(), config);
    else
      top.source().problem(node, "channels." + std::string(key.str()), "must be a table");
  }
  std::sort(config.channels.begin(), config.channels.end(),
            [](const ChannelConfig& a, const ChannelConfig& b) { return a.name < b.name; });
  if (!channels->empty() && config.environment.empty())
    top.problem("channels", "with a channel, environment must be set",
                "environment = \"production\" at the top, or another word to switch the recipient guard on");
}

void read_alerts(Section& section, const toml::table* channels, AlertsConfig& alerts) {
  section.check_keys();
  section.texts("exec", alerts.exec);
  if (section.text("channel", alerts.channel)) {
    if (channels == nullptr || !channels->contains(alerts.channel))
      section.problem("channel", "there is no [channels." + alerts.channel + "]",
                      "name a channel that is there, or add its table");
    section.require("to");
  }
  section.text("to", alerts.to);
  section.duration("timeout", alerts.timeout, 1s, 10min);
  section.duration("repeat_after", alerts.repeat_after, 1min);
  section.integer("parked_growth", alerts.parked_growth, 0, 1'000'000'000);
  section.duration("backlog_age", alerts.backlog_age, 1min);
  section.duration("run_missing", alerts.run_missing, 1min);
}

void read_all(Source& source, const toml::table& root, Config& config) {
  Section top(source, root, {}, {});
  read_top(top, config);
  const auto part = [&](std::string_view name, auto&& read) {
    if (const toml::table* table = top.table(name)) {
      Section section(source, *table, std::string(name), std::string(name));
      read(section);
    }
  };
  part("guard", [&](Section& section) {
    section.check_keys();
    section.texts("allow", config.guard.allow);
  });
  part("relay", [&](Section& section) { read_relay(section, config.relay); });
  part("surge", [&](Section& section) { read_surge(section, config.relay.surge); });
  part("queue", [&](Section& section) {
    section.check_keys();
    section.duration("lease", config.queue.lease, 1s);
    section.integer("delivery_limit", config.queue.delivery_limit, 1, 1000);
    section.duration("unaccounted_after", config.queue.unaccounted_after, 1min);
  });
  part("work", [&](Section& section) {
    section.check_keys();
    section.integer("concurrency", config.work.concurrency, 1, 1024);
    section.duration("shutdown_grace", config.work.shutdown_grace, 10ms);
  });
  part("retention", [&](Section& section) { read_keep_keys(section, config.retention); });
  part("templates", [&](Section& section) {
    section.check_keys();
    section.path("directory", config.templates.directory);
    section.text("default_locale", config.templates.default_locale);
  });
  read_quiet_hours(top, config);
  read_channels(top, config);  // after queue and work, whose limits it compares with
  part("alerts", [&](Section& section) { read_alerts(section, root["channels"].as_table(), config.alerts); });
}

// "FILE:12:3: …" in the order of the file, whatever the order of the checks.
void sort_by_place(std::vector<Error>& problems, std::size_t prefix) {
  const auto place = [prefix](const Error& error) {
    const char* text = error.message.c_str() + prefix;
    char* next = nullptr;
    const long line = std::strtol(text, &next, 10);
    const long column = *next == ':' ? std::strtol(next + 1, nullptr, 10) : 0;
    return std::pair(line, column);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const Error& a, const Error& b) { return place(a) < place(b); });
}

Error first_problem(const std::vector<Error>& problems) {
  Error error = problems.front();
  if (problems.size() == 2) error.message += " (and one more problem)";
  if (problems.size() > 2) error.message += " (and " + std::to_string(problems.size() - 1) + " more problems)";
  if (problems.size() > 1) error.hint += "; notifyctl check lists them all";
  return error;
}

std::optional<std::string> variable_path(const Environment& environment, const char* name) {
  auto value = environment(name);
  // The XDG base directory specification: relative paths are invalid and to be ignored.
  if (!value || !value->starts_with('/')) return std::nullopt;
  return value;
}

}  // namespace

std::string absolute_path(std::string_view path, std::string_view base) {
  if (path.starts_with('/') || base.empty()) return std::string(path);
  return (std::filesystem::path(base) / std::filesystem::path(path)).lexically_normal().string();
}

std::optional<std::string> default_config_file(const Environment& environment, bool is_root) {
  if (is_root) return kMachineConfig;
  if (const auto home = variable_path(environment, "XDG_CONFIG_HOME")) return *home + "/notifyctl/config.toml";
  if (const auto home = variable_path(environment, "HOME")) return *home + "/.config/notifyctl/config.toml";
  return std::nullopt;
}

Result<std::optional<std::string>> find_config_file(const std::optional<std::string>& named,
                                                    const Environment& environment) {
  if (named) {
    if (struct stat info{}; stat(named->c_str(), &info) != 0)
      return fail(Code::kConfig, file_error("cannot read the configuration " + *named, errno).message,
                  "name one that is there, or make it: notifyctl init --config=" + *named);
    return named;
  }
  std::vector<std::string> places;
  if (auto own = default_config_file(environment, false)) places.push_back(std::move(*own));
  places.emplace_back(kMachineConfig);
  for (std::string& place : places) {
    if (struct stat info{}; stat(place.c_str(), &info) == 0) return std::move(place);
    // Going on without it could use another database, which nobody delivers from.
    if (errno == EACCES)
      return fail(Code::kPermission, file_error("cannot look for the configuration " + place, errno).message,
                  "let every user who may enqueue read it, and keep secrets in files of their own");
  }
  return std::nullopt;
}

Result<Config> parse_config(std::string_view text, const std::string& path, bool is_private,
                            std::vector<Error>* problems) {
  Config config;
  config.file = path;
  Source source;
  source.path = path;
  source.is_private = is_private;
  source.directory = std::filesystem::path(path).parent_path().string();
  if (const auto root = parse_toml(text, path, "the file is written in TOML, see notifyctl.toml(5)"))
    read_all(source, *root, config);
  else
    source.problems.push_back(root.error());
  if (source.problems.empty()) return config;
  sort_by_place(source.problems, path.size() + 1);
  Error error = first_problem(source.problems);
  if (problems != nullptr) *problems = std::move(source.problems);
  return fail(std::move(error));
}

Result<Config> load_config(const std::string& path, std::vector<Error>* problems) {
  const auto failed = [&](Error error) {
    error = with_context(std::move(error), "cannot read the configuration");
    if (error.code != Code::kPermission) error.code = Code::kConfig;
    if (problems != nullptr) problems->push_back(error);
    return fail(std::move(error));
  };
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return failed(file_error(path, errno));
  if (S_ISDIR(info.st_mode))
    return failed(Error{Code::kConfig, path + ": is a directory",
                        "name the file in it: " + (std::filesystem::path(path) / "config.toml").string()});
  auto text = read_file(path, kLargestConfig);
  if (!text) {
    if (text.error().hint.empty() && text.error().code == Code::kPermission)
      text.error().hint = "let every user who may enqueue read it, and keep secrets in files of their own";
    return failed(std::move(text).error());
  }
  std::error_code ignored;
  const std::string whole = std::filesystem::absolute(path, ignored).lexically_normal().string();
  return parse_config(*text, whole, (info.st_mode & 077U) == 0, problems);
}

Result<std::string> default_database(const Environment& environment, bool is_root) {
  if (is_root) return std::string("/var/lib/notifyctl/notify.db");
  if (const auto state = variable_path(environment, "XDG_STATE_HOME")) return *state + "/notifyctl/notify.db";
  if (const auto home = variable_path(environment, "HOME")) return *home + "/.local/state/notifyctl/notify.db";
  return fail(Code::kConfig, "no database is named, and neither XDG_STATE_HOME nor HOME says where it would be",
              "give --db PATH, set NOTIFYCTL_DB, or set database in the configuration");
}

}  // namespace notify

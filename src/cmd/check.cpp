#include "cmd/check.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "channel/http_settings.hpp"
#include "channel/smtp_settings.hpp"
#include "channel/target_url.hpp"
#include "cmd/context.hpp"
#include "cmd/drivers.hpp"
#include "cmd/render.hpp"
#include "core/policy.hpp"
#include "core/recipient.hpp"
#include "core/report.hpp"
#include "store/open.hpp"
#include "sys/ca_bundle.hpp"
#include "sys/config_file.hpp"
#include "sys/files.hpp"
#include "sys/reachability.hpp"
#include "sys/secrets.hpp"
#include "sys/template_files.hpp"
#include "sys/zone.hpp"
#include "sys/zone_data.hpp"

namespace notify {
namespace {

constexpr std::int64_t kLeastFree = 100 * 1024 * 1024;

// Prints one line for each thing examined and remembers the first that is wrong.
class Findings {
 public:
  explicit Findings(Context& context) : context_(context) {}

  void good(const std::string& what, const std::string& text) { print(what, "ok", text, {}); }
  void warning(const std::string& what, const std::string& text, const std::string& hint = {}) {
    print(what, "warning", text, hint);
  }
  void wrong(const std::string& what, const Error& error) {
    if (status_ == 0) status_ = exit_status(error.code);
    print(what, "wrong", error.message, error.hint);
  }
  template <class T>
  void judge(const std::string& what, const Result<T>& result, const std::string& text) {
    if (result)
      good(what, text);
    else
      wrong(what, result.error());
  }
  int status() const noexcept { return status_; }

 private:
  void print(const std::string& what, std::string_view verdict, const std::string& text, const std::string& hint) {
    Output& out = context_.out();
    if (context_.json()) {
      out.line(to_text({{"check", what}, {"result", verdict}, {"message", text}, {"hint", hint}}));
      return;
    }
    std::string line = verdict == "ok" ? "ok       " : verdict == "warning" ? "WARNING  " : "WRONG    ";
    line += what + ": " + printable(text);
    if (!hint.empty()) line += " (" + printable(hint) + ")";
    out.line(line);
  }

  Context& context_;
  int status_ = 0;
};

std::optional<Config> check_config(Findings& findings, Context& context) {
  const auto& named = context.globals().config;
  const auto file = find_config_file(named, context.environment());
  if (!file) return findings.wrong("configuration", file.error()), std::nullopt;
  if (!*file) {
    findings.good("configuration", "none, all defaults; messages are accepted, no channel delivers them");
    return Config{};
  }
  std::vector<Error> problems;
  auto config = load_config(**file, &problems);
  for (const Error& problem : problems) findings.wrong("configuration", problem);
  if (!config) return std::nullopt;
  findings.good("configuration", **file);
  struct stat info {};
  if (stat((*file)->c_str(), &info) == 0 && (info.st_mode & 022U) != 0)
    findings.warning("configuration", **file + " can be changed by others than its owner", "chmod go-w " + **file);
  if (config->guarded())
    findings.good("guard",
                  "environment \"" + config->environment + "\": only recipients in guard.allow are written to");
  return std::move(*config);
}

void check_zone(Findings& findings, const Config& config) {
  if (config.timezone.empty())
    findings.good("time zone", "none configured; times need a zone of their own");
  else
    findings.judge("time zone", load_zone(config.timezone), config.timezone + ", data " + zone_data_version());
}

void check_disk(Findings& findings, const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  struct statvfs info {};
  if (statvfs(directory.c_str(), &info) != 0) return findings.wrong("disk", file_error(directory, errno));
  const auto free = static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
  const std::string text = show_bytes(free) + " free at " + directory;
  if (free < kLeastFree)
    findings.wrong("disk", Error{Code::kDiskFull, text, "make room: a full disk stops everything", {}});
  else
    findings.good("disk", text);
}

void check_clock(Findings& findings, const StatusReport& report) {
  constexpr Instant kReleased{1'764'374'400'000};  // 2025-11-29: no machine that runs this lives earlier
  if (report.now < kReleased)
    return findings.wrong(
        "clock",
        Error{
            Code::kConfig, "the clock stands before this program was made", "set the clock, and keep it with NTP", {}});
  if (report.clock_behind && *report.clock_behind > 1min)
    return findings.wrong(
        "clock", Error{Code::kConfig,
                       "the clock is behind what is stored by " + show_age(report.clock_behind->count() / 1000),
                       "set the clock, and keep it with NTP",
                       {}});
  findings.good("clock", "not behind anything that is stored");
}

void check_contents(Findings& findings, SqliteStore& store, const CheckOptions& options) {
  const auto damage = store.check_integrity(options.quick);
  if (!damage) {
    findings.wrong("integrity", damage.error());
  } else if (!damage->empty()) {
    for (const std::string& line : *damage)
      findings.wrong("integrity", Error{Code::kIo, line, "restore a backup, see notifyctl-init(1)", {}});
  } else {
    findings.good("integrity", options.quick ? "no damage found (quick)" : "no damage found");
  }
  const auto drift = store.verify_counters();
  if (!drift) return findings.wrong("counters", drift.error());
  for (const CounterDrift& counter : *drift)
    findings.wrong("counters", Error{Code::kInternal,
                                     counter.name + " says " + std::to_string(counter.counted) + ", the tables " +
                                         std::to_string(counter.found),
                                     {},
                                     {}});
  if (drift->empty()) findings.good("counters", "agree with the tables");
}

void check_database(Findings& findings, const CheckOptions& options, Context& context) {
  const auto path = context.database();
  if (!path) return findings.wrong("database", path.error());
  OpenOptions open;
  open.path = *path;
  open.read_only = true;
  const auto store = open_store(open);
  if (!store) return findings.wrong("database", store.error());
  const auto report = (*store)->status(context.clock().now());
  if (!report) return findings.wrong("database", report.error());
  findings.good("database",
                *path + " (" + show_bytes(report->database.size) + ", " + report->database.filesystem + ")");
  if (const Result<void> fence = (*store)->check_fence(); !fence) findings.wrong("fence", fence.error());
  if (report->database.journal_mode != "wal")
    findings.wrong("journal mode", Error{Code::kConfig,
                                         "it is " + report->database.journal_mode + ", and every write is refused",
                                         "notifyctl init --wal",
                                         {}});
  if (access(path->c_str(), W_OK) != 0)
    findings.wrong("database", Error{Code::kPermission, file_error("this user cannot write it", errno).message,
                                     "run this and the delivery as its owner"});
  check_disk(findings, *path);
  check_clock(findings, *report);
  check_contents(findings, **store, options);
  if (!report->identity.holds)
    findings.wrong("accounting", Error{Code::kInternal,
                                       std::to_string(report->unaccounted) + " messages are unaccounted for",
                                       "notifyctl status shows the numbers",
                                       {}});
  else
    findings.good("accounting", std::to_string(report->identity.enqueued) + " enqueued, all accounted for");
}

// What the driver `file` would meet, found without making or opening anything.
Result<void> check_appendable(const std::string& path) {
  struct stat info {};
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (lstat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return fail(Code::kConfig, path + " is a directory", "name a file in it: path = \"" + path + "/messages.jsonl\"");
    if (S_ISLNK(info.st_mode))
      return fail(Code::kConfig, path + " is a symbolic link", "configure the path that it leads to");
    if (!S_ISREG(info.st_mode)) return fail(Code::kConfig, path + " is not a regular file", "name another path");
    if (access(path.c_str(), R_OK | W_OK) == 0) return {};
    return fail(system_code(errno, Code::kIo), file_error(path + " cannot be written", errno).message,
                "let this user read and write it");
  }
  if (errno != ENOENT)
    return fail(system_code(errno, Code::kConfig), file_error(path + " cannot be looked at", errno).message,
                "is the path right?");
  if (stat(directory.c_str(), &info) != 0)
    return fail(system_code(errno, Code::kConfig),
                file_error(path + " cannot be written: its directory", errno).message, "mkdir -p " + directory);
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return fail(system_code(errno, Code::kIo), file_error(path + " cannot be made", errno).message,
                "let this user write the directory " + directory);
  return {};
}

bool is_program(const std::string& path) {
  struct stat info {};
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Where a program is that a configuration names.
Result<std::string> find_program(const std::string& program, const Environment& environment) {
  if (program.find('/') != std::string::npos) {
    if (is_program(program)) return program;
    const bool runs = access(program.c_str(), X_OK) == 0;  // a directory "can be run"
    return fail(Code::kConfig,
                runs ? program + " is not a program" : file_error(program + " cannot be run", errno).message,
                "is the path right, and is the file executable (chmod +x)?");
  }
  const std::string path = environment("PATH").value_or("");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string file = std::string(rest.substr(0, end)) + "/" + program;
    if (is_program(file)) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fail(Code::kConfig, program + " is not found in PATH", "write the whole path; cron's PATH is short");
}

// A program is executable, a file's directory can be written to, a server can be talked to.
struct DriverCheck {
  const ChannelConfig& channel;
  const CheckOptions& options;
  const std::string& ca_bundle;
  const Environment& environment;

  Result<std::string> operator()(const FileDriverConfig& file) const {
    TRY(check_appendable(file.path));
    return file.path;
  }
  Result<std::string> operator()(const ExecDriverConfig& exec) const {
    return find_program(exec.command.front(), environment);
  }
  Result<std::string> operator()(const WebhookDriverConfig& webhook) const {
    return webhook.url.is_set() ? reach(webhook.url.value.reveal()) : "the recipient is the URL";
  }
  Result<std::string> operator()(const WebPushDriverConfig&) const { return "the recipient names the push service"; }
  Result<std::string> operator()(const ApnsDriverConfig& apns) const { return reach(apns.url); }
  Result<std::string> operator()(const FcmDriverConfig& fcm) const { return reach(fcm.url); }
  Result<std::string> operator()(const SesDriverConfig& ses) const { return reach(ses.url); }
  Result<std::string> operator()(const HttpDriverConfig& http) const {
    TRY(make_http_settings(channel, {}));
    TRY_ASSIGN(const std::string url, recipe_url(http));
    if (url.empty()) return http.recipe_name + ", the recipient is the URL";
    TRY_ASSIGN(const std::string reached, reach(url));
    return http.recipe_name + ", " + reached;
  }

  Result<std::string> reach(const std::string& url) const {
    TRY(check_target_url(url));
    if (options.offline) return target_host(url) + " (not tried)";
    if (auto reached = check_reachable(url, ca_bundle, channel.timeout); !reached) {
      Error error = with_context(std::move(reached).error(), target_host(url));
      if (error.hint.empty()) error.hint = "is the url right, and does a firewall let this machine out?";
      return fail(std::move(error));
    }
    return target_host(url) + " can be reached";
  }
  Result<std::string> operator()(const SmtpDriverConfig& smtp) const {
    TRY(make_smtp_settings(channel));
    const std::string server = smtp.host + " port " + std::to_string(smtp.port);
    if (options.offline) return server + " (not tried)";
    if (auto reached = check_mail_server(smtp, ca_bundle, channel.timeout); !reached) {
      Error error = with_context(std::move(reached).error(), server);
      if (error.hint.empty()) error.hint = "are host, port and tls right, and does a firewall let this machine out?";
      return fail(std::move(error));
    }
    return server + " can be reached" + (smtp.tls == MailTls::kNone ? ", without TLS" : ", TLS verified");
  }
};

void check_channel(Findings& findings, ChannelConfig channel, const CheckOptions& options, const std::string& ca_bundle,
                   const Environment& environment) {
  const std::string what = "channel " + channel.name;
  if (auto loaded = load_secrets(channel, environment); !loaded) return findings.wrong(what, loaded.error());
  const Result<std::string> result = std::visit(DriverCheck{channel, options, ca_bundle, environment}, channel.driver);
  findings.judge(what, result, std::string(driver_name(channel.driver)) + ", " + result.value_or(""));
}

void check_templates(Findings& findings, const std::string& directory) {
  const Result<TemplateSet> set = load_templates(directory);
  if (!set) return findings.wrong("templates", set.error());
  for (const auto& [name, error] : set->broken) findings.wrong("template " + name, error);
  if (set->broken.empty()) findings.good("templates", directory);
}

void check_channels(Findings& findings, const Config& config, const CheckOptions& options, Context& context) {
  const auto bundle = find_ca_bundle(config.ca_bundle, context.environment()("SSL_CERT_FILE"));
  bool needed = false;
  for (const ChannelConfig& channel : config.channels) needed = needed || needs_certificates(channel);
  if (bundle)
    findings.good("CA bundle", *bundle);
  else if (needed)
    findings.wrong("CA bundle", bundle.error());
  else
    findings.warning("CA bundle", bundle.error().message, "needed by no channel so far");
  for (const ChannelConfig& channel : config.channels)
    check_channel(findings, channel, options, bundle.value_or(""), context.environment());
  if (!config.templates.directory.empty()) check_templates(findings, config.templates.directory);
}

// Who is called when something is wrong has to be there before that.
void check_alerts(Findings& findings, const Config& config, const Environment& environment) {
  const AlertsConfig& alerts = config.alerts;
  if (alerts.exec.empty() && alerts.channel.empty() && config.channels.empty()) return;
  if (alerts.exec.empty() && alerts.channel.empty())
    return findings.warning("alerts", "nobody is told of them, notifyctl status shows them",
                            "set exec, or channel and to, in [alerts]");
  if (!alerts.exec.empty())
    findings.judge("alerts", find_program(alerts.exec.front(), environment), alerts.exec.front());
  if (alerts.channel.empty()) return;
  // Without production the guard holds for them, too.
  if (!is_recipient_reference(alerts.to) && !guard_allows(config, alerts.to))
    return findings.warning("alerts", "the guard forbids the recipient of alerts on channel " + alerts.channel,
                            "add alerts.to to [guard] allow");
  findings.good("alerts", "told on channel " + alerts.channel);
}

}  // namespace

Page check_page() {
  Page page;
  page.synopsis = {"[--offline] [--quick]"};
  page.description =
      "Examines what delivery depends on and prints one line for each: the configuration with everything "
      "that is wrong in "
      "it, the time zone, the database and whether it is damaged, the disk, the clock, the counters, the "
      "certificate "
      "authorities, the modes of files with secrets, the templates, whether each channel's program, file "
      "or server is "
      "there, and who is told of alerts. What is wrong comes with its repair.\n\n"
      "Run it as the user that delivers: what matters is what that user may read and write. Nothing is "
      "changed and no "
      "message is sent; servers are connected to, but asked nothing: of a mail server greeting, EHLO and TLS are "
      "looked at, "
      "without a login.";
  page.examples = {{"Before the first delivery", "notifyctl check"},
                   {"Without connecting to anything, on a large database", "notifyctl check --offline --quick"}};
  page.exits = {{0, "nothing is wrong"},
                {69, "a server cannot be reached"},
                {70, "the accounting does not add up"},
                {74, "the database is damaged or the disk is full"},
                {77, "a file cannot be read or written, or a secret is readable by others"},
                {78, "the configuration or the set-up is wrong"}};
  page.see_also = {"notifyctl-init(1)", "notifyctl-status(1)", "notifyctl.toml(5)"};
  return page;
}

void register_options(OptionSet& set, CheckOptions& options) {
  set.flag("--offline", options.offline, "connect to no server");
  set.flag("--quick", options.quick, "examine the database less thoroughly");
}

Result<int> run(const CheckOptions& options, Context& context) {
  Findings findings(context);
  const std::optional<Config> config = check_config(findings, context);
  if (config) check_zone(findings, *config);
  // Without a configuration that loads, the database can still be looked at when it is named.
  if (config || context.globals().db) check_database(findings, options, context);
  if (config) check_channels(findings, *config, options, context);
  if (config) check_alerts(findings, *config, context.environment());
  return findings.status();
}

}  // namespace notify

#include "cmd/init.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/render.hpp"
#include "cmd/starter_config.hpp"
#include "store/open.hpp"
#include "store/restore.hpp"
#include "sys/config_file.hpp"
#include "sys/files.hpp"
#include "sys/process_locks.hpp"
#include "sys/zone.hpp"

namespace notify {
namespace {

std::string config_target(const Context& context) {
  std::string named = context.globals().config.value_or("");
  if (!named.empty()) return named;
  return default_config_file(context.environment(), geteuid() == 0).value_or("");
}

// The machine's zone, from the link that says which file it is; empty when that cannot be told.
std::string machine_zone() {
  std::error_code error;
  const std::string target = std::filesystem::read_symlink("/etc/localtime", error).string();
  constexpr std::string_view kMark = "zoneinfo/";
  const std::size_t at = target.find(kMark);
  if (error || at == std::string::npos) return {};
  std::string name = target.substr(at + kMark.size());
  return load_zone(name) ? name : std::string();
}

// Writes a configuration to start from. One that is there already stays as it is.
Result<std::string> write_config(Context& context) {
  const std::string path = config_target(context);
  if (path.empty())
    return fail(Code::kConfig, "cannot tell where the configuration belongs: HOME is not set",
                "say it: init --config=FILE");
  if (struct stat info{}; stat(path.c_str(), &info) == 0) {
    context.note("the configuration " + path + " exists and stays as it is");
    return path;
  }
  std::error_code error;
  const auto directory = std::filesystem::path(path).parent_path();
  const bool named = !context.globals().config.value_or("").empty();
  if (named && !directory.empty() && !std::filesystem::exists(directory, error))
    return fail(Code::kCannotCreate, "cannot create " + path + ": there is no directory " + directory.string(),
                "make it first, if that is the place: mkdir -p " + directory.string());
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error)
    return fail(Code::kCannotCreate, "cannot create " + directory.string() + ": " + error.message(),
                "name another place: init --config=FILE");
  // The machine's configuration is for every user who may enqueue; secrets stay in files of their own.
  const mode_t mode = path.starts_with("/etc/") ? 0644 : 0600;
  if (auto written = write_file_atomically(path, starter_config(machine_zone()), mode); !written) {
    Error failure = std::move(written).error();
    if (failure.code == Code::kNotFound) failure.code = Code::kCannotCreate;
    return fail(std::move(failure));
  }
  context.note("wrote " + path);
  return path;
}

Result<RestoreReport> take_over(const std::string& path, bool undetected_too, Context& context) {
  if (ProcessLocks(path).anyone()) {
    return fail(Code::kBusy, "cannot take over " + path + ": relay, work or reconcile is using it",
                "stop the services and the cron jobs, then run it again");
  }
  TRY_ASSIGN(RestoreReport report, take_over_restored({path, undetected_too, context.clock().now()}));
  if (report.generation.empty()) {
    return fail(Code::kUsage,
                "nothing says that " + path + " was restored from a backup: it is as new as its fence file",
                "if the whole machine was rolled back, the fence file with it: init --after-restore --yes");
  }
  if (report.backup_at.ms == 0) {
    context.warn(path + " holds no message; what was accepted after the backup was made is not in it",
                 "notifyctl status shows what is there");
    return report;
  }
  context.warn(std::to_string(report.in_doubt) +
                   " messages that were not sent when the backup was made are now ERROR "
                   "(restored); what was accepted after " +
                   context.show_time(report.backup_at) + " is not in this database",
               "notifyctl list inbox --state ERROR; send again what you know was not sent: notifyctl replay "
               "--accept-duplicates ID…");
  return report;
}

void print_json(Context& context, const std::string& path, const std::string& config, const InitReport& report,
                const RestoreReport* restored) {
  nlohmann::ordered_json json{{"database", path},
                              {"created_file", report.created_file},
                              {"created_schema", report.created_schema},
                              {"migrated_from", report.migrated_from},
                              {"schema", report.schema},
                              {"source", report.source},
                              {"generation", report.generation},
                              {"journal_mode", report.journal_mode}};
  json["config"] = config.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(config);
  if (restored != nullptr) {
    json["restored"] = {
        {"in_doubt", restored->in_doubt},
        {"unknown_since", restored->backup_at.ms == 0 ? nlohmann::ordered_json()
                                                      : nlohmann::ordered_json(context.show_time(restored->backup_at))},
        {"generation", restored->generation}};
    json["generation"] = restored->generation;
  }
  context.out().line(to_text(json));
}

}  // namespace

Page init_page() {
  Page page;
  page.synopsis = {"[--source NAME] [--wal] [--config[=FILE]]", "--after-restore [--yes]"};
  page.description =
      "Makes the database with everything that delivery needs, mode 0600 and in WAL mode. What is there "
      "already "
      "stays: it can be run again at any time, and brings the tables of an older version up to date. A "
      "database of "
      "a newer version and one on a network file system are refused.\n\n"
      "With the `--db` of an application's own SQLite file it adds its tables there and changes nothing "
      "else, neither "
      "the file's mode nor, without `--wal`, its journal mode. The application then accepts messages by an "
      "INSERT in "
      "its own transactions, see notifyctl-sql(5).\n\n"
      "With `--config` it also writes a commented configuration to start from, at FILE or where it is looked "
      "for by "
      "default. One that exists is not touched; the directory of a FILE must exist.\n\n"
      "`notifyctl enqueue` makes the default database by itself; init is for doing it beforehand, with a "
      "source of its "
      "own, or in somebody else's file.";
  page.examples = {{"A database and a configuration at their usual places", "notifyctl init --config"},
                   {"Tables in an application's database", "notifyctl --db /srv/shop/app.db init --source shop"}};
  page.exits = {
      {0, "done, or nothing was to be done"},        {4, "the database has another source"},
      {73, "a file or directory cannot be created"}, {75, "with --after-restore: a service is still running"},
      {77, "the file belongs to somebody else"},     {78, "newer version, network file system, or not a database"}};
  page.see_also = {"notifyctl-enqueue(1)", "notifyctl-check(1)", "notifyctl.toml(5)", "notifyctl-sql(5)"};
  return page;
}

void register_options(OptionSet& set, InitCommandOptions& options) {
  set.add("--source", &options.source, "NAME", "the first part of every message id; fixed once it is set")
      .more(
          "Made of a-z, 0-9 and `-`, at most 60 of them. Give every database that reaches the same vendors a "
          "source "
          "of its own. Default: `notification-outbox`.");
  set.flag("--wal", options.wal, "put an existing file into WAL mode");
  set.flag("--after-restore", options.after_restore, "take over a database that was restored from a backup")
      .more(
          "Until then everything else refuses it. What the backup calls unsent may have been sent since it was made, "
          "so "
          "every message that is not SENT becomes ERROR (restored): settle it by evidence, or send it again by name. "
          "New "
          "messages get ids of a new generation. Stop all services first.");
  set.flag("--yes", options.yes, "with --after-restore: even if nothing says that a backup was restored");
}

Result<int> run(const InitCommandOptions& options, Context& context) {
  if (options.yes && !options.after_restore)
    return fail(Code::kUsage, "--yes goes with --after-restore only", "init asks nothing");
  std::string config;
  if (context.globals().config) {
    TRY_ASSIGN(config, write_config(context));
  }
  InitOptions init;
  TRY_ASSIGN(init.path, context.database());
  init.create_parent = context.database_is_default();
  init.wal = options.wal || options.after_restore;  // the copies that VACUUM INTO makes are in another mode
  init.after_restore = options.after_restore;
  init.source = options.source;
  TRY_ASSIGN(const InitReport report, init_database(init));

  if (report.journal_mode != "wal")
    context.warn(init.path + " is in the journal mode \"" + report.journal_mode +
                     "\": enqueue, relay and work refuse it until it is in WAL mode",
                 "notifyctl --db " + init.path + " init --wal");
  if (report.created_file) context.note("made " + init.path);
  if (report.created_schema && !report.created_file) context.note("added the tables to " + init.path);
  if (report.migrated_from != 0)
    context.note("brought the tables from version " + std::to_string(report.migrated_from) + " to " +
                 std::to_string(report.schema));
  RestoreReport restored;
  if (options.after_restore) {
    TRY_ASSIGN(restored, take_over(report.path, options.yes || report.was_copy, context));
  }
  if (context.json()) print_json(context, init.path, config, report, options.after_restore ? &restored : nullptr);
  return 0;
}

}  // namespace notify

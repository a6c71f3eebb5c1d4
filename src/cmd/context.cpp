#include "cmd/context.hpp"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cmd/errors.hpp"
#include "cmd/render.hpp"
#include "sys/config_file.hpp"
#include "sys/crash_points.hpp"
#include "sys/system_clock.hpp"
#include "sys/system_random.hpp"
#include "sys/template_files.hpp"
#include "sys/terminal.hpp"
#include "sys/zone.hpp"

namespace notify {
namespace {

std::string working_directory() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace

Context::Context(Parts parts)
    : globals_(std::move(parts.globals)),
      environment_(std::move(parts.environment)),
      input_(parts.input),
      out_(parts.output),
      err_(parts.errors),
      clock_(std::make_unique<SystemClock>()),
      random_(std::make_unique<SystemRandom>()) {}

Context::~Context() = default;

bool Context::colour_out() const {
  return globals_.color == "always" || (globals_.color == "auto" && wants_colour(out_.fd()));
}

CrashPoints& Context::crash_points() noexcept { return system_crash_points(); }

void Context::warn(std::string_view message, std::string_view hint) {
  if (globals_.quiet) return;
  if (globals_.json) {
    err_.line(to_text({{"warning", {{"message", message}, {"hint", hint}}}}));
  } else {
    err_.line("notifyctl: warning: " + printable(message));
    if (!hint.empty()) err_.line("hint: " + printable(hint));
  }
  (void)err_.flush();
}

void Context::note(std::string_view message) {
  if (globals_.verbose == 0 || globals_.quiet) return;
  err_.line("notifyctl: " + printable(message));
  (void)err_.flush();
}

Result<const Config*> Context::config() {
  if (!config_) {
    const bool named = globals_.config && !globals_.config->empty();
    TRY_ASSIGN(const std::optional<std::string> file,
               find_config_file(named ? globals_.config : std::nullopt, environment_));
    Config config;
    if (file) {
      TRY_ASSIGN(config, load_config(*file));
    }
    config_ = std::move(config);
  }
  return &*config_;
}

Result<std::string> Context::database() {
  if (globals_.db) {
    // A configuration that was named and is not there is a mistake, even where nothing else of it is needed.
    if (globals_.config && !globals_.config->empty()) TRY(find_config_file(globals_.config, environment_));
    if (globals_.db->empty()) return fail(Code::kUsage, "--db: the path is empty");
    if (globals_.db->find("://") != std::string::npos)
      return fail(Code::kUsage, "--db: only a file can be the database in this version");
    std::string path = absolute_path(*globals_.db, working_directory());
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      return fail(Code::kConfig, "--db: " + path + " is a directory",
                  "name a file in it, as " + (std::filesystem::path(path) / "notify.db").string());
    return path;
  }
  TRY_ASSIGN(const Config* const config, this->config());
  if (!config->database.empty()) return config->database;
  database_is_default_ = true;
  return default_database(environment_, geteuid() == 0);
}

Result<const Zone*> Context::zone() {
  if (zone_) return zone_.get();
  TRY_ASSIGN(const Config* const config, this->config());
  if (config->timezone.empty()) return nullptr;
  TRY_ASSIGN(zone_, load_zone(config->timezone));
  return zone_.get();
}

Result<TimeContext> Context::time_context(bool looks_back) {
  TRY_ASSIGN(const Zone* const zone, this->zone());
  return TimeContext{clock_->now(), zone, looks_back};
}

Result<Instant> Context::time_option(std::string_view option, const std::string& text, bool looks_back) {
  TRY_ASSIGN(const TimeContext times, time_context(looks_back));
  auto time = parse_time(text, times);
  if (!time) return refuse_option(option, std::move(time).error());
  return time;
}

std::string Context::show_time(Instant t) {
  const auto zone = this->zone();
  return zone && *zone != nullptr ? format_time(t, **zone) : format_time(t);
}

Result<const TemplateSet*> Context::templates() {
  TRY_ASSIGN(const Config* const config, this->config());
  if (config->templates.directory.empty()) return nullptr;
  if (!templates_) {
    TRY_ASSIGN(TemplateSet loaded, load_templates(config->templates.directory));
    templates_ = std::move(loaded);
  }
  return &*templates_;
}

}  // namespace notify

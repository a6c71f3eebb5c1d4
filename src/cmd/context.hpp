#pragma once

// What a command works with: the global options and what hangs on them. Made lazily, because a command that
// is over in two milliseconds must not read what it does not need.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/globals.hpp"
#include "cmd/output.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/random.hpp"
#include "core/ports/zone.hpp"
#include "core/template.hpp"
#include "core/time_text.hpp"
#include "sys/environment.hpp"

namespace notify {

class Context {
 public:
  struct Parts {
    Globals globals{};
    Environment environment = process_environment();
    int input = 0;  // descriptors
    int output = 1;
    int errors = 2;
  };

  explicit Context(Parts parts);
  ~Context();

  const Globals& globals() const noexcept { return globals_; }
  bool json() const noexcept { return globals_.json; }
  const Environment& environment() const noexcept { return environment_; }

  int input() const noexcept { return input_; }  // descriptor of standard input
  Output& out() noexcept { return out_; }        // standard output: data and nothing else
  Output& err() noexcept { return err_; }
  bool colour_out() const;  // whether colours may be printed there

  Clock& clock() noexcept { return *clock_; }
  Random& random() noexcept { return *random_; }
  CrashPoints& crash_points() noexcept;

  // "notifyctl: warning: …" and its hint on standard error; not with --quiet.
  void warn(std::string_view message, std::string_view hint = {});
  // Said only with -v.
  void note(std::string_view message);

  // The configuration, read at the first call; all defaults when there is no file.
  Result<const Config*> config();
  // Where the database is: --db, NOTIFYCTL_DB, the configuration, the default. Absolute.
  Result<std::string> database();
  // After database(): nobody named one. Its directory may be made then, and only then.
  bool database_is_default() const noexcept { return database_is_default_; }
  // The configured zone; nullptr when none is configured.
  Result<const Zone*> zone();
  // For parse_time() of an option's value.
  Result<TimeContext> time_context(bool looks_back = false);
  // A time that was given with `option`.
  Result<Instant> time_option(std::string_view option, const std::string& text, bool looks_back = false);
  // An instant as people and JSON get it: RFC 3339 in the configured zone, in UTC without one.
  std::string show_time(Instant t);
  // All templates of the configured directory; nullptr when none is configured.
  Result<const TemplateSet*> templates();

 private:
  Globals globals_;
  Environment environment_;
  int input_;
  Output out_;
  Output err_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Random> random_;
  bool database_is_default_ = false;
  std::optional<Config> config_{};
  std::unique_ptr<const Zone> zone_{};
  std::optional<TemplateSet> templates_{};
};

}  // namespace notify

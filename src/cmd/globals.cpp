#include "cmd/globals.hpp"

#include <algorithm>

namespace notify {

void register_options(OptionSet& set, Globals& globals) {
  set.group(kGlobalGroup);
  set.add("--config", &globals.config, "FILE", "read this configuration")
      .env("NOTIFYCTL_CONFIG")
      .completes(Completion::kFile)
      .more(
          "The file must exist. Without it the first of `$XDG_CONFIG_HOME/notifyctl/config.toml` "
          "(`~/.config` when unset) and `/etc/notifyctl/config.toml` is read, and none is needed.");
  set.add("--db", &globals.db, "PATH", "use this database")
      .env("NOTIFYCTL_DB")
      .completes(Completion::kFile)
      .more(
          "Without it: the configuration's `database`, else `$XDG_STATE_HOME/notifyctl/notify.db` "
          "(`~/.local/state` when unset), and `/var/lib/notifyctl/notify.db` for root.");
  set.flag("--json", globals.json, "print JSON on standard output, and errors as one JSON object");
  set.flag("-q,--quiet", globals.quiet, "no warnings and no progress; errors only");
  set.add("-v,--verbose", &globals.verbose, "", "say more on standard error; twice: everything").counted();
  set.add("--log-format", &globals.log_format, "FORMAT", "how log lines on standard error look")
      .env("NOTIFYCTL_LOG_FORMAT")
      .one_of({"text", "json"});
  set.add("--color", &globals.color, "WHEN", "colours: auto means on a terminal without NO_COLOR")
      .env("NOTIFYCTL_COLOR")
      .one_of({"auto", "always", "never"});
}

Result<void> apply_environment(Globals& globals, const OptionSet& set, const Environment& environment) {
  const auto value_of = [&](const Option& option) -> std::optional<std::string> {
    const bool named = set.given(option.long_name) && !(option.long_name == "--config" && globals.config->empty());
    if (option.environment.empty() || named) return std::nullopt;
    auto value = environment(option.environment.c_str());
    return value && !value->empty() ? value : std::nullopt;
  };
  for (const Option& option : set.options()) {
    const auto value = value_of(option);
    if (!value) continue;
    if (!option.choices.empty() &&
        std::find(option.choices.begin(), option.choices.end(), *value) == option.choices.end())
      return fail(Code::kUsage, option.environment + ": \"" + *value + "\" is not known", "see " + option.long_name);
    if (option.long_name == "--config") globals.config = value;
    if (option.long_name == "--db") globals.db = value;
    if (option.long_name == "--log-format") globals.log_format = *value;
    if (option.long_name == "--color") globals.color = *value;
  }
  return {};
}

}  // namespace notify

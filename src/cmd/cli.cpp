#include "cmd/cli.hpp"

#include <algorithm>
#include <system_error>

#include "cmd/context.hpp"
#include "cmd/errors.hpp"
#include "cmd/help.hpp"
#include "cmd/version.hpp"
#include "core/near_miss.hpp"
#include "sys/signals.hpp"

namespace notify {
namespace {

// Splits the words into those before the command's name and the rest. Options before it are global ones,
// whose values must not be taken for a command.
std::size_t words_before_command(const OptionSet& globals, const std::vector<std::string>& words) {
  std::size_t i = 0;
  while (i < words.size() && words[i].size() > 1 && words[i].front() == '-' && words[i] != "--") {
    const Option* option = globals.find(words[i]);
    i += option != nullptr && option->takes_value() ? std::size_t{2} : std::size_t{1};
  }
  return std::min(i, words.size());
}

tl::unexpected<Error> unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& command : commands())
    if (!command.hidden) names.push_back(command.name);
  std::string hint = did_you_mean(word, names);
  if (hint.empty()) hint = "notifyctl help lists the commands";
  return fail(Code::kUsage, "unknown command " + word, std::move(hint));
}

// Who is told that the command line is wrong is told where the right one stands.
template <class T>
Result<T> with_usage_hint(const Command* command, Result<T> result) {
  if (!result && result.error().code == Code::kUsage && result.error().hint.empty())
    result.error().hint = "notifyctl help" + (command != nullptr ? " " + std::string(command->name) : "") +
                          " shows the options and examples";
  return result;
}

// For errors in the command line itself, when the options are not known yet.
bool asks_for_json(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--json") != words.end();
}

void show_overview(Output& to) {
  to.write(overview(help_width(to)));
  (void)to.flush();
}

// The command's status, unless what it printed could not be written.
int finish(Context& context, int status) {
  const Result<void> written = context.out().flush();
  if (!written) return report(context.err(), written.error(), context.json());
  return status;
}

int execute(const Invocation& invocation, Context& context) {
  if (invocation.version) return finish(context, print_version(context));
  if (invocation.command == nullptr) {
    if (!invocation.help && context.json())
      return report(context.err(), {Code::kUsage, "no command is given", "notifyctl help lists the commands", {}, {}},
                    true);
    show_overview(invocation.help ? context.out() : context.err());
    return invocation.help ? finish(context, 0) : exit_status(Code::kUsage);
  }
  if (invocation.help) {
    context.out().write(command_help(*invocation.command, help_width(context.out())));
    return finish(context, 0);
  }
  const Result<int> status = with_usage_hint(invocation.command, invocation.runner(context));
  if (status) return finish(context, *status);
  (void)context.out().flush();  // what was printed before the error; the error is what counts
  return report(context.err(), status.error(), context.json());
}

// `init --config` means "write a configuration", with or without saying where.
Result<void> check_config_option(const Command* command, const Globals& globals) {
  const bool may_be_empty = command != nullptr && command->writes_config;
  if (globals.config && globals.config->empty() && !may_be_empty)
    return fail(Code::kUsage, "--config: the path is empty");
  return {};
}

}  // namespace

Result<Invocation> parse_command_line(const std::vector<std::string>& words, const Environment& environment) {
  Invocation invocation;
  OptionSet options;  // its targets are in `invocation` and in the runner: both must stay where they are
  std::vector<std::string> rest = words;
  {
    OptionSet globals;
    register_options(globals, invocation.globals);
    const std::size_t before = words_before_command(globals, words);
    if (before < words.size()) {
      std::size_t used = 0;
      invocation.command = find_command(std::span(words).subspan(before), used);
      if (invocation.command == nullptr) return unknown_command(words[before]);
      const auto name = rest.begin() + static_cast<std::ptrdiff_t>(before);
      rest.erase(name, name + static_cast<std::ptrdiff_t>(used));
      invocation.runner = invocation.command->bind(options);
    }
  }
  register_options(options, invocation.globals);
  if (invocation.command != nullptr && invocation.command->writes_config)
    options.find_mutable("--config")->optional_value("");
  options.add("--version", &invocation.version, "", "print the versions").hidden();
  TRY(with_usage_hint(invocation.command, options.parse(rest)));
  invocation.help = options.help_requested();
  TRY(apply_environment(invocation.globals, options, environment));
  if (!invocation.help) TRY(check_config_option(invocation.command, invocation.globals));
  return invocation;
}

int run(int argc, char** argv) {
  prepare_process();
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const Environment environment = process_environment();
  Result<Invocation> invocation = parse_command_line(words, environment);
  if (!invocation) {
    Output err(2);
    return report(err, invocation.error(), asks_for_json(words));
  }
  Context context({.globals = invocation->globals, .environment = environment});
  try {
    return execute(*invocation, context);
  } catch (const std::system_error& error) {
    // No thread could be made; all else that throws is caught where it is called.
    return report(context.err(),
                  {Code::kInternal, std::string("cannot go on: ") + error.what(),
                   "raise the limits of this user (ulimit -u, ulimit -v, TasksMax= of the service)"},
                  context.json());
  }
}

}  // namespace notify

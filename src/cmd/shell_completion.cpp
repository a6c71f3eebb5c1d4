#include "cmd/shell_completion.hpp"

#include "cmd/command.hpp"
#include "cmd/globals.hpp"
#include "cmd/help.hpp"

namespace notify {
namespace {

constexpr std::string_view kNotice = "Made by \"notifyctl completion\"; change the program, not this file.";

// Global options first, then each command's: whoever wants both appends.
struct Described {
  std::string_view name{};
  std::string_view summary{};
  OptionSet options{};
};

std::vector<Described> all_commands() {
  std::vector<Described> list;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    Described& item = list.emplace_back();
    item.name = command.name;
    item.summary = command.summary;
    (void)command.bind(item.options);
  }
  return list;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// Inside single quotes of a shell.
std::string single_quoted(std::string_view text) { return "'" + replaced(std::string(text), "'", "'\\''") + "'"; }

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::string names_of(const OptionSet& set) {
  std::string out;
  for (const Option& option : set.options()) {
    if (option.is_hidden || option.is_positional()) continue;
    out += out.empty() ? "" : " ";
    if (!option.short_name.empty()) out += option.short_name + " ";
    out += option.long_name;
  }
  return out;
}

std::string command_names(const std::vector<Described>& list) {
  std::string out;
  for (const Described& command : list) out += (out.empty() ? "" : " ") + std::string(command.name);
  return out;
}

// --- bash
// ---------------------------------------------------------------------------------------------------

std::string bash_value(const Option& option) {
  if (!option.choices.empty()) return "COMPREPLY=($(compgen -W \"" + join(option.choices, " ") + "\" -- \"$cur\"))";
  if (option.completion == Completion::kFile) return "_notifyctl_files -f";
  if (option.completion == Completion::kDirectory) return "_notifyctl_files -d";
  if (option.completion == Completion::kCommand)
    return "COMPREPLY=($(compgen -W \"" + command_names(all_commands()) + "\" -- \"$cur\"))";
  return {};
}

std::string bash_values(const OptionSet& set, std::string_view indent) {
  std::string out;
  for (const Option& option : set.options()) {
    if (option.is_hidden || option.is_positional() || !option.takes_value() || option.value_is_optional) continue;
    const std::string pattern =
        option.short_name.empty() ? option.long_name : option.short_name + " | " + option.long_name;
    const std::string action = bash_value(option);
    out += std::string(indent) + pattern + ")" + (action.empty() ? "" : " " + action + ";") + " return ;;\n";
  }
  return out;
}

std::string positional_of(const OptionSet& set) {
  for (const Option& option : set.options())
    if (option.is_positional())
      if (std::string action = bash_value(option); !action.empty()) return action;
  return {};
}

std::string bash(const std::vector<Described>& list, const OptionSet& globals) {
  std::string out = "# bash completion for notifyctl. " + std::string(kNotice) + "\n\n";
  out +=
      "_notifyctl_files() {\n"
      "  compopt -o filenames 2> /dev/null\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY=($(compgen \"$1\" -- \"$cur\"))\n"
      "}\n\n"
      "_notifyctl() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n";
  for (const Option& option : globals.options())
    if (option.takes_value()) out += "      " + option.long_name + ") ((i++)) ;;\n";
  out +=
      "      -*) ;;\n"
      "      *)\n"
      "        command=${COMP_WORDS[i]}\n"
      "        break\n"
      "        ;;\n"
      "    esac\n"
      "  done\n\n"
      "  case $prev in\n";
  out += bash_values(globals, "    ");
  out += "  esac\n\n  local options=\"" + names_of(globals) + " --help\" positional=''\n  case $command in\n    '')\n";
  out +=
      "      if [[ $cur == -* ]]; then\n"
      "        options+=' --version'\n"
      "      else\n"
      "        COMPREPLY=($(compgen -W \"" +
      command_names(list) +
      "\" -- \"$cur\"))\n"
      "        return\n"
      "      fi\n"
      "      ;;\n";
  for (const Described& command : list) {
    out += "    " + std::string(command.name) + ")\n";
    const std::string values = bash_values(command.options, "        ");
    if (!values.empty()) out += "      case $prev in\n" + values + "      esac\n";
    const std::string names = names_of(command.options);
    if (!names.empty()) out += "      options+=\" " + names + "\"\n";
    if (const std::string action = positional_of(command.options); !action.empty())
      out += "      [[ $cur == -* ]] || { " + action + "; return; }\n";
    out += "      ;;\n";
  }
  out +=
      "  esac\n"
      "  [[ $cur == -* ]] && COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
      "}\n\n"
      "complete -F _notifyctl notifyctl\n";
  return replaced(std::move(out), " positional=''", "");
}

// --- zsh
// ----------------------------------------------------------------------------------------------------

std::string zsh_action(const Option& option) {
  if (!option.choices.empty()) return "(" + join(option.choices, " ") + ")";
  if (option.completion == Completion::kFile) return "_files";
  if (option.completion == Completion::kDirectory) return "_files -/";
  if (option.completion == Completion::kCommand) return "_notifyctl_commands";
  return {};
}

std::string zsh_text(std::string_view text) {
  std::string out = plain(text);
  for (const std::string_view special : {"\\", "[", "]", ":"})
    out = replaced(std::move(out), special, "\\" + std::string(special));
  return out;
}

// --- one argument of _arguments for each way to write the option.
std::string zsh_option(const Option& option) {
  const auto spec = [&](const std::string& name) {
    std::string text = option.is_repeatable() || option.is_counted ? "*" : "";
    text += name;
    if (option.takes_value()) text += option.value_is_optional ? "=-" : "=";
    text += "[" + zsh_text(option.help) + "]";
    if (option.takes_value()) {
      text += option.value_is_optional ? "::" : ":";
      text += zsh_text(option.value) + ":" + zsh_action(option);
    }
    return single_quoted(text);
  };
  if (option.is_positional())
    return single_quoted(std::string(option.is_repeatable() ? "*" : "") + ":" + zsh_text(option.value) + ":" +
                         zsh_action(option));
  std::string out = spec(option.long_name);
  if (!option.short_name.empty()) out += " " + spec(option.short_name);
  return out;
}

std::string zsh_options(const OptionSet& set, std::string_view indent) {
  std::string out;
  for (const Option& option : set.options())
    if (!option.is_hidden) out += " \\\n" + std::string(indent) + zsh_option(option);
  return out;
}

std::string zsh(const std::vector<Described>& list, const OptionSet& globals) {
  std::string out =
      "#compdef notifyctl\n# " + std::string(kNotice) + "\n\n_notifyctl_commands() {\n  local -a list=(\n";
  for (const Described& command : list)
    out += "    " + single_quoted(std::string(command.name) + ":" + zsh_text(command.summary)) + "\n";
  out += "  )\n  _describe -t commands command list\n}\n\n_notifyctl() {\n  local -a global=(";
  for (const Option& option : globals.options()) out += "\n    " + zsh_option(option);
  out += "\n    '(- *)--help[show a help page]'\n  )\n  local curcontext=$curcontext state\n  local -a line\n";
  out += "  _arguments -C $global '--version[print the versions]' '1: :_notifyctl_commands' '*:: :->command'\n";
  out +=
      "  [[ $state == command ]] || return\n  curcontext=\"${curcontext%:*}-$line[1]:\"\n  case $line[1] "
      "in\n";
  for (const Described& command : list)
    out += "    " + std::string(command.name) + ")\n      _arguments $global" +
           zsh_options(command.options, "        ") + "\n      ;;\n";
  return out + "  esac\n}\n\n_notifyctl \"$@\"\n";
}

// --- fish
// ---------------------------------------------------------------------------------------------------

std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(plain(text), "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const Option& option, const std::string& condition) {
  std::string line = "complete -c notifyctl";
  if (!condition.empty()) line += " -n '" + condition + "'";
  if (option.is_positional()) {
    if (option.completion != Completion::kFile && option.completion != Completion::kDirectory &&
        option.choices.empty() && option.completion != Completion::kCommand)
      return {};
  } else {
    line += " -l " + option.long_name.substr(2);
    if (!option.short_name.empty()) line += " -s " + option.short_name.substr(1);
  }
  const bool requires_value = option.takes_value() && !option.value_is_optional && !option.is_positional();
  if (!option.choices.empty()) {
    line += std::string(requires_value ? " -x" : " -f") + " -a '" + join(option.choices, " ") + "'";
  } else if (option.completion == Completion::kFile) {
    line += requires_value ? " -r -F" : " -F";
  } else if (option.completion == Completion::kDirectory) {
    line += std::string(requires_value ? " -x" : " -f") + " -a '(__fish_complete_directories)'";
  } else if (option.completion == Completion::kCommand) {
    line += " -f -a '" + command_names(all_commands()) + "'";
  } else if (requires_value) {
    line += " -x";
  }
  return line + " -d " + fish_quoted(option.help) + "\n";
}

std::string fish(const std::vector<Described>& list, const OptionSet& globals) {
  std::string out = "# fish completion for notifyctl. " + std::string(kNotice) + "\n\ncomplete -c notifyctl -f\n";
  for (const Option& option : globals.options()) out += fish_option(option, {});
  out += "complete -c notifyctl -s h -l help -d 'show a help page'\n";
  out += "complete -c notifyctl -n __fish_use_subcommand -l version -d 'print the versions'\n";
  for (const Described& command : list)
    out += "complete -c notifyctl -n __fish_use_subcommand -a " + std::string(command.name) + " -d " +
           fish_quoted(command.summary) + "\n";
  for (const Described& command : list)
    for (const Option& option : command.options.options())
      if (!option.is_hidden) out += fish_option(option, "__fish_seen_subcommand_from " + std::string(command.name));
  return out;
}

}  // namespace

Result<std::string> shell_completion(std::string_view shell) {
  OptionSet globals;
  Globals ignored;
  register_options(globals, ignored);
  const std::vector<Described> list = all_commands();
  if (shell == "bash") return bash(list, globals);
  if (shell == "zsh") return zsh(list, globals);
  if (shell == "fish") return fish(list, globals);
  return fail(Code::kUsage, "no completion for the shell " + std::string(shell), "one of: bash zsh fish");
}

}  // namespace notify

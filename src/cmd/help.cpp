#include "cmd/help.hpp"

#include <algorithm>
#include <array>

#include "cmd/globals.hpp"
#include "cmd/output.hpp"
#include "cmd/render.hpp"

namespace notify {
namespace {

constexpr std::size_t kColumn = 29;  // where the explanation of an option begins

// "  -q, --quiet" or "      --lease TIME"
std::string signature(const Option& option) {
  std::string text = "  ";
  if (option.is_positional()) return text + option.value + (option.is_repeatable() ? "…" : "");
  text += option.short_name.empty() ? "    " : option.short_name + ", ";
  text += option.long_name;
  if (!option.takes_value()) return text;
  return text + (option.value_is_optional ? "[=" + option.value + "]" : " " + option.value);
}

std::string explanation(const Option& option) {
  std::string text = plain(option.help);
  std::string more;
  const auto add = [&](const std::string& part) { more += (more.empty() ? "" : "; ") + part; };
  if (!option.choices.empty()) {
    std::string list;
    for (const std::string& choice : option.choices) list += (list.empty() ? "" : ", ") + choice;
    if (text.find(list) == std::string::npos) add("one of " + list);
  }
  if (!option.fallback.empty()) add("default " + option.fallback);
  if (!option.environment.empty()) add(option.environment);
  if (option.is_required) add("required");
  if (option.is_repeatable() && !option.is_positional()) add("may be repeated");
  return more.empty() ? text : text + " (" + more + ")";
}

// A name in a column of its own and its explanation beside it, or below when the name is long.
std::string entry(const std::string& name, std::string_view text, std::size_t width, std::size_t column) {
  std::string block = wrap(text, width, column);
  if (display_width(name) + 2 > column) return name + "\n" + block + "\n";
  block.replace(0, column, name + std::string(column - display_width(name), ' '));
  return block + "\n";
}

std::string options_help(const OptionSet& set, std::size_t width) {
  const std::size_t column = std::min(kColumn, width * 2 / 5);
  std::vector<std::string_view> groups;
  for (const Option& option : set.options())
    if (!option.is_hidden && std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  std::string out;
  for (const std::string_view group : groups) {
    out += "\n" + std::string(group) + ":\n";
    for (const Option& option : set.options())
      if (!option.is_hidden && option.group == group)
        out += entry(signature(option), explanation(option), width, column);
    if (group == kGlobalGroup) out += entry("  -h, --help", "show this page", width, column);
  }
  return out;
}

// Examples are meant to be copied: they are never filled, only indented.
std::string indented(std::string_view text, std::size_t indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += std::string(indent, ' ') + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::size_t help_width(const Output& out) noexcept { return static_cast<std::size_t>(std::clamp(out.width(), 40, 80)); }

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '`') out += c;
  return out;
}

std::vector<std::string_view> paragraphs(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    if (const auto part = text.substr(0, end); part.find_first_not_of(" \n") != std::string_view::npos)
      result.push_back(part);
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return result;
}

std::string usage_of(const Option& option) {
  std::string text = option.display();
  if (option.is_positional()) {
    if (option.is_repeatable()) text += "…";
  } else if (option.takes_value()) {
    text += option.value_is_optional ? "[=" + option.value + "]" : " " + option.value;
  }
  return option.is_required ? text : "[" + text + "]";
}

std::string overview(std::size_t width) {
  std::string out = wrap("notifyctl: sends notifications so that none is lost and none is sent twice", width);
  out += "\n\nUsage: notifyctl [global options] COMMAND [options]\n";
  std::string_view group;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    if (command.group != group) {
      group = command.group;
      out += "\n" + std::string(group) + ":\n";
    }
    out += entry("  " + std::string(command.name), command.summary, width, 16);
  }
  OptionSet set;
  Globals globals;
  register_options(set, globals);
  bool version = false;
  set.flag("--version", version, "print the versions of the program and its libraries");
  out += options_help(set, width);
  out += "\n" +
         wrap(
             "notifyctl help COMMAND shows a command's options and examples. The manual: notifyctl(1), "
             "notifyctl.toml(5), notifyctl-recipes(5), notifyctl-sql(5).",
             width) +
         "\n";
  return out;
}

std::string command_help(const Command& command, std::size_t width) {
  const Page page = command.page();
  const std::string name = "notifyctl " + std::string(command.name);
  std::string out = wrap(name + ": " + std::string(command.summary), width) + "\n\nUsage:\n";
  for (const std::string_view form : page.synopsis) {
    std::string usage = wrap(name + " " + std::string(form), width - 6, 2);
    for (std::size_t at = usage.find('\n'); at != std::string::npos; at = usage.find('\n', at + 1))
      usage.insert(at + 1, "    ");
    out += usage + "\n";
  }
  for (const std::string_view paragraph : paragraphs(page.description))
    out += "\n" + wrap(plain(paragraph), width) + "\n";

  OptionSet set;
  Globals globals;
  (void)command.bind(set);
  register_options(set, globals);
  out += options_help(set, width);

  if (!page.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : page.examples)
    out += wrap(plain(example.text), width, 2) + "\n" + indented(example.command, 4);

  out += "\nExit status:\n";
  std::vector<ExitNote> exits = exits_of(page);
  for (const ExitNote& note : exits) out += entry("  " + std::to_string(note.status), plain(note.meaning), width, 6);
  return out;
}

}  // namespace notify

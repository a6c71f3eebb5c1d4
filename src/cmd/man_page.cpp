#include "cmd/man_page.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "cmd/command.hpp"
#include "cmd/exit_codes.hpp"
#include "cmd/globals.hpp"
#include "cmd/help.hpp"
#include "cmd/man_recipes.hpp"
#include "cmd/man_texts.hpp"
#include "cmd/mdoc.hpp"
#include "sys/config_keys.hpp"

namespace notify {
namespace {

std::string page_name(const Command& command) {
  std::string name = "notifyctl-" + std::string(command.name);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// "[--lease T]" → ".Op Fl -lease Ar T"; "--channel NAME" → ".Fl -channel Ar NAME".
std::string synopsis_item(std::string_view item) {
  std::string line = ".";
  if (item.starts_with('[')) {
    line += "Op ";
    item = item.substr(1, item.size() - 2);
  }
  while (!item.empty()) {
    const std::size_t end = std::min(item.find(' '), item.size());
    std::string_view word = item.substr(0, end);
    item.remove_prefix(std::min(end + 1, item.size()));
    if (line.size() > 1 && line.back() != ' ') line += ' ';
    if (word == "|") {
      line += '|';
    } else if (word.starts_with('-') && word.size() > 1) {
      const std::size_t bracket = word.find("[=");
      line += Mdoc::flag(word.substr(0, bracket));
      if (bracket != std::string_view::npos)
        line += " Ns Op = Ns Ar " + std::string(word.substr(bracket + 2, word.size() - bracket - 3));
    } else {
      const bool many = word.ends_with("…");
      if (many) word.remove_suffix(std::string_view("…").size());
      line += "Ar " + std::string(word) + (many ? " ..." : "");
    }
  }
  return line;
}

// Splits at spaces outside brackets that begin an item: an option keeps its value.
std::vector<std::string_view> synopsis_items(std::string_view form) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= form.size(); ++i) {
    if (i < form.size() && form[i] == '[') ++depth;
    if (i < form.size() && form[i] == ']') --depth;
    const bool at_space = i == form.size() || (form[i] == ' ' && depth == 0);
    if (!at_space) continue;
    const bool next_is_value = i < form.size() && i + 1 < form.size() && form[i + 1] != '-' && form[i + 1] != '[' &&
                               form.substr(start, i - start).starts_with('-');
    if (next_is_value && form.substr(start, i - start).find(' ') == std::string_view::npos) continue;
    if (i > start) items.push_back(form.substr(start, i - start));
    start = i + 1;
  }
  return items;
}

void write_option(Mdoc& page, const Option& option) {
  std::string item;
  if (option.is_positional()) {
    item += "Ar " + option.value + (option.is_repeatable() ? " ..." : "");
  } else {
    if (!option.short_name.empty()) item += Mdoc::flag(option.short_name) + " , ";
    item += Mdoc::flag(option.long_name);
    if (option.takes_value())
      item += option.value_is_optional ? " Ns Op = Ns Ar " + option.value : " Ar " + option.value;
  }
  page.item(item);
  std::string text = option.help;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  text += ".";
  if (!option.choices.empty()) {
    std::string list;
    for (const std::string& choice : option.choices) list += (list.empty() ? "`" : ", `") + choice + "`";
    text += " One of " + list + ".";
  }
  if (option.is_required) text += " Required.";
  if (option.is_repeatable() && !option.is_positional()) text += " May be repeated.";
  if (!option.fallback.empty()) text += " Default: `" + option.fallback + "`.";
  if (!option.details.empty()) text += " " + option.details;
  if (!option.environment.empty()) text += " Environment: `" + option.environment + "`.";
  page.text(text);
}

void write_options(Mdoc& page, const OptionSet& set, std::string_view only_group, bool except = false) {
  std::vector<std::string_view> groups;
  for (const Option& option : set.options())
    if (!option.is_hidden && (option.group == only_group) != except &&
        std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  for (const std::string_view group : groups) {
    if (groups.size() > 1) page.subsection(group);
    page.begin_list();
    for (const Option& option : set.options())
      if (!option.is_hidden && option.group == group) write_option(page, option);
    page.end_list();
  }
}

void write_see_also(Mdoc& page, std::vector<std::string_view> list, std::string_view self) {
  // By section, then by name, as mandoc wants it.
  const auto key = [](std::string_view reference) {
    const std::size_t open = reference.find('(');
    return std::pair(reference.substr(open), reference.substr(0, open));
  };
  std::erase(list, self);
  std::sort(list.begin(), list.end(), [&](auto a, auto b) { return key(a) < key(b); });
  list.erase(std::unique(list.begin(), list.end()), list.end());
  page.section("SEE ALSO");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto [section, name] = key(list[i]);
    page.macro(".Xr " + std::string(name) + " " + std::string(section.substr(1, section.size() - 2)) +
               (i + 1 < list.size() ? " ," : ""));
  }
}

std::string command_page(const Command& command) {
  const Page text = command.page();
  Mdoc page(page_name(command), 1, command.summary);
  page.section("SYNOPSIS");
  for (const std::string_view form : text.synopsis) {
    page.macro(".Nm notifyctl");
    page.macro(".Cm " + std::string(command.name));
    for (const std::string_view item : synopsis_items(form)) page.macro(synopsis_item(item));
  }
  page.section("DESCRIPTION");
  page.text(text.description);

  OptionSet set;
  (void)command.bind(set);
  if (!set.options().empty()) {
    page.section("OPTIONS");
    write_options(page, set, "", true);
  }
  page.text("The global options are described in notifyctl(1).");

  page.section("EXIT STATUS");
  page.begin_list("Ds");
  std::vector<ExitNote> exits = exits_of(text);
  for (const ExitNote& note : exits) {
    page.item(std::to_string(note.status));
    std::string meaning(note.meaning);
    meaning[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(meaning[0])));
    page.text(meaning + ".");
  }
  page.end_list();

  if (!text.examples.empty()) page.section("EXAMPLES");
  for (const Example& example : text.examples) {
    page.text(std::string(example.text) + ":");
    page.literal(example.command);
  }
  std::vector<std::string_view> references = text.see_also;
  references.emplace_back("notifyctl(1)");
  write_see_also(page, references, page_name(command) + "(1)");
  return page.source();
}

std::string main_page() {
  Mdoc page("notifyctl", 1, "sends notifications so that none is lost and none is sent twice");
  page.section("SYNOPSIS");
  page.macro(".Nm");
  page.macro(".Op Ar global options");
  page.macro(".Ar command");
  page.macro(".Op Ar options");
  page.macro(".Nm");
  page.macro(".Fl \\-version");
  page.section("DESCRIPTION");
  page.text(man_texts::kMain);
  page.section("COMMANDS");
  page.begin_list();
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    page.item("Cm " + std::string(command.name));
    std::string summary(command.summary);
    summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
    page.text(summary + ".");
  }
  page.end_list();

  OptionSet set;
  Globals globals;
  register_options(set, globals);
  page.section("GLOBAL OPTIONS");
  page.text("They may stand before and after the command.");
  write_options(page, set, kGlobalGroup);
  page.section("TIMES AND DURATIONS");
  page.text(man_texts::kTimes);
  page.section("ENVIRONMENT");
  page.text("An option wins over its variable, the variable over the configuration.");
  page.begin_list();
  for (const Option& option : set.options()) {
    if (option.environment.empty()) continue;
    page.item("Ev " + option.environment);
    page.text("As `" + option.long_name + "`.");
  }
  for (const auto& [variable, text] : man_texts::kVariables) {
    page.item("Ev " + std::string(variable));
    page.text(text);
  }
  page.end_list();
  page.section("FILES");
  page.begin_list();
  for (const auto& [file, text] : man_texts::kFiles) {
    page.item("Pa " + std::string(file));
    page.text(text);
  }
  page.end_list();
  page.section("EXIT STATUS");
  page.begin_list();
  for (const ExitCode& code : exit_codes()) {
    page.item(std::to_string(code.status));
    page.text(std::string(code.meaning) + ".");
  }
  page.end_list();
  page.section("DIAGNOSTICS");
  page.text(man_texts::kDiagnostics);
  std::vector<std::string> references = man_pages();
  for (std::string& name : references) name = name.substr(0, name.size() - 2) + "(" + name.back() + ")";
  write_see_also(page, std::vector<std::string_view>(references.begin(), references.end()), "notifyctl(1)");
  return page.source();
}

std::string config_page() {
  Mdoc page("notifyctl.toml", 5, "configuration of notifyctl");
  page.section("DESCRIPTION");
  page.text(man_texts::kConfig);
  for (const ConfigSection& section : config_sections()) {
    std::string heading = section.name.empty() ? "Top of the file" : "Table " + std::string(section.name);
    if (heading.ends_with('*')) heading.replace(heading.size() - 1, 1, "NAME");
    page.subsection(heading);
    page.text(section.text);
    std::vector<std::string_view> drivers{""};
    for (const ConfigKey& key : config_keys())
      if (key.section == section.name && std::find(drivers.begin(), drivers.end(), key.driver) == drivers.end())
        drivers.push_back(key.driver);
    for (const std::string_view driver : drivers) {
      if (!driver.empty()) page.text("With the driver `" + std::string(driver) + "`:");
      page.begin_list();
      for (const ConfigKey& key : config_keys())
        if (key.section == section.name && key.driver == driver) write_key(page, key);
      page.end_list();
    }
  }
  for (const auto& [heading, text] : man_texts::kConfigSections) {
    page.section(heading);
    page.text(text);
  }
  page.section("EXAMPLES");
  page.literal(man_texts::kConfigExample);
  write_see_also(
      page, {"notifyctl(1)", "notifyctl-check(1)", "notifyctl-init(1)", "notifyctl-recipes(5)", "notifyctl-sql(5)"},
      "notifyctl.toml(5)");
  return page.source();
}

std::string sql_page() {
  Mdoc page("notifyctl-sql", 5, "accepting messages by an INSERT of your own");
  page.section("SYNOPSIS");
  page.literal(man_texts::kSqlSynopsis);
  page.section("DESCRIPTION");
  page.text(man_texts::kSql);
  page.subsection("Columns that may be written");
  page.begin_list();
  for (const auto& [column, text] : man_texts::kSqlColumns) {
    page.item("Ic " + std::string(column));
    page.text(text);
  }
  page.end_list();
  page.subsection("Members of the payload");
  page.begin_list();
  for (const auto& [member, text] : man_texts::kPayloadMembers) {
    page.item("Ic " + std::string(member));
    page.text(text);
  }
  page.end_list();
  for (const auto& [heading, text] : man_texts::kSqlSections) {
    page.section(heading);
    page.text(text);
  }
  page.section("EXAMPLES");
  page.text("In Python, in the transaction of the order itself:");
  page.literal(man_texts::kSqlPython);
  write_see_also(page, {"notifyctl(1)", "notifyctl-enqueue(1)", "notifyctl-init(1)", "notifyctl.toml(5)"},
                 "notifyctl-sql(5)");
  return page.source();
}

}  // namespace

std::vector<std::string> man_pages() {
  std::vector<std::string> names{"notifyctl.1", "notifyctl.toml.5", "notifyctl-sql.5", "notifyctl-recipes.5"};
  for (const Command& command : commands())
    if (!command.hidden) names.push_back(page_name(command) + ".1");
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> man_page(std::string_view name) {
  const auto is = [&](const std::string& page, std::string_view section) {
    return name == page || name == page + "." + std::string(section);
  };
  if (is("notifyctl", "1")) return main_page();
  if (is("notifyctl.toml", "5")) return config_page();
  if (is("notifyctl-sql", "5")) return sql_page();
  if (is("notifyctl-recipes", "5")) return recipes_page();
  for (const Command& command : commands())
    if (is(page_name(command), "1")) return command_page(command);
  return fail(Code::kUsage, "there is no manual page " + std::string(name), "notifyctl help lists the commands");
}

}  // namespace notify

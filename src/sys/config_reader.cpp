#include "sys/config_reader.hpp"

#include <algorithm>

#include "core/duration.hpp"
#include "core/near_miss.hpp"
#include "sys/config_file.hpp"
#include "sys/config_keys.hpp"

namespace notify::config_file {
namespace {

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string_view type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a decimal number";
    case toml::node_type::boolean: return "true or false";
    default: return "a date or time";
  }
}

std::string expected(std::string_view what, const toml::node& node) {
  return "must be " + std::string(what) + ", not " + std::string(type_of(node));
}

// The drivers that have this key, in words; empty when none has it.
std::string drivers_with(std::string_view section, std::string_view key) {
  std::string names;
  for (const ConfigKey& known : config_keys())
    if (known.section == section && known.key == key && !known.driver.empty())
      names += (names.empty() ? "" : ", ") + in_quotes(known.driver);
  return names;
}

}  // namespace

void Source::problem(const toml::node& where, std::string_view key, std::string_view reason, std::string hint) {
  const auto at = where.source().begin;
  std::string message = path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
  if (!key.empty()) message += std::string(key) + ": ";
  message += reason;
  if (hint.empty()) hint = manual + " describes the key";
  problems.push_back(Error{Code::kConfig, std::move(message), std::move(hint), std::string()});
}

void Section::problem(std::string_view key, std::string_view reason, std::string hint) {
  const toml::node* node = find(key);
  source_.problem(node == nullptr ? static_cast<const toml::node&>(table_) : *node, full(key), reason, std::move(hint));
}

void Section::require(std::string_view key) {
  if (find(key) == nullptr) problem(key, "is missing", "add it; " + source_.manual + " describes it");
}

void Section::must_be_shorter(std::string_view key, Duration value, std::string_view other, Duration limit) {
  if (value < limit) return;
  problem(key,
          format_duration(value) + " must be shorter than " + std::string(other) + " (" + format_duration(limit) + ")",
          "shorten it, or lengthen " + std::string(other));
}

void Section::unknown(const toml::key& key, const std::vector<std::string_view>& known, std::string_view driver) {
  const toml::node* node = table_.get(key.str());
  const std::string others = driver.empty() ? std::string() : drivers_with(pattern_, key.str());
  if (!others.empty()) {
    source_.problem(*node, full(key.str()), "is a key of the driver " + others + " only");
    return;
  }
  std::string hint = did_you_mean(key.str(), known);
  if (hint.empty()) hint = source_.manual + " lists the keys";
  source_.problem(*node, full(key.str()), "unknown key", std::move(hint));
}

void Section::check_keys(std::string_view driver) {
  std::vector<std::string_view> known;
  for (const ConfigKey& key : config_keys())
    if (key.section == pattern_ && (key.driver.empty() || key.driver == driver)) known.push_back(key.key);
  if (pattern_.empty())
    for (const ConfigSection& section : config_sections())
      if (!section.name.empty()) known.push_back(section.name.substr(0, section.name.find('.')));
  for (const auto& [key, node] : table_)
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) unknown(key, known, driver);
}

void Section::check_keys(const std::vector<std::string_view>& known) {
  for (const auto& [key, node] : table_)
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) unknown(key, known, {});
}

const toml::table* Section::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) problem(key, expected("a table", *node));
  return node->as_table();
}

const toml::array* Section::array(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_array()) problem(key, expected("a list", *node));
  return node->as_array();
}

bool Section::text(std::string_view key, std::string& target) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::string>();
  if (!value) return problem(key, expected("a string", *node)), false;
  if (value->empty()) return problem(key, "must not be empty"), false;
  if (value->find('\0') != std::string::npos) return problem(key, "must not contain NUL"), false;
  target = *value;
  return true;
}

bool Section::texts(std::string_view key, std::vector<std::string>& target) {
  const toml::array* list = array(key);
  if (list == nullptr) return false;
  std::vector<std::string> values;
  for (const toml::node& item : *list) {
    const auto value = item.value_exact<std::string>();
    if (!value || value->empty() || value->find('\0') != std::string::npos) {
      source_.problem(item, full(key), value ? "must not hold an empty string" : expected("a list of strings", item));
      return false;
    }
    values.push_back(*value);
  }
  target = std::move(values);
  return true;
}

bool Section::path(std::string_view key, std::string& target) {
  std::string value;
  if (!text(key, value)) return false;
  if (value.starts_with("~/")) return problem(key, "~ means nothing here", "write the whole path"), false;
  target = absolute_path(value, source_.directory);
  return true;
}

bool Section::boolean(std::string_view key, bool& target) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<bool>();
  if (!value) return problem(key, expected("true or false", *node)), false;
  target = *value;
  return true;
}

bool Section::integer(std::string_view key, int& target, int low, int high) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::int64_t>();
  if (!value) return problem(key, expected("an integer", *node)), false;
  if (*value < low || *value > high) {
    problem(key, "must be between " + std::to_string(low) + " and " + std::to_string(high));
    return false;
  }
  target = static_cast<int>(*value);
  return true;
}

bool Section::duration(std::string_view key, Duration& target, Duration low, Duration high) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::string>();
  if (!value) return problem(key, expected("a duration such as \"10s\"", *node)), false;
  const auto parsed = parse_duration(*value);
  if (!parsed) return problem(key, parsed.error().message, parsed.error().hint), false;
  if (*parsed < low || *parsed > high) {
    problem(key, "must be between " + format_duration(low) + " and " + format_duration(high));
    return false;
  }
  target = *parsed;
  return true;
}

bool Section::durations(std::string_view key, std::vector<Duration>& target) {
  std::vector<std::string> words;
  if (!texts(key, words)) return false;
  std::vector<Duration> values;
  for (const std::string& word : words) {
    const auto parsed = parse_duration(word);
    if (!parsed) return problem(key, parsed.error().message, parsed.error().hint), false;
    if (*parsed > kLongest) return problem(key, word + " is too long"), false;
    values.push_back(*parsed);
  }
  if (values.size() > 100) return problem(key, "must not have more than 100 steps"), false;
  target = std::move(values);
  return true;
}

std::optional<std::size_t> Section::choice(std::string_view key, std::initializer_list<std::string_view> words) {
  std::string value;
  if (!text(key, value)) return std::nullopt;
  const auto* found = std::find(words.begin(), words.end(), std::string_view(value));
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const std::string_view word : words) list += (list.empty() ? "" : ", ") + in_quotes(word);
  problem(key, in_quotes(value) + " is not one of " + list, did_you_mean(value, words));
  return std::nullopt;
}

bool Section::secret(std::string_view key, SecretSetting& target, bool plain_must_be_private) {
  const toml::node* node = find(key);
  return node != nullptr && read_secret(source_, *node, full(key), target, plain_must_be_private);
}

bool read_secret(Source& source, const toml::node& node, const std::string& key, SecretSetting& target,
                 bool plain_must_be_private) {
  if (const auto plain = node.value_exact<std::string>()) {
    if (plain->empty() || plain->find('\0') != std::string::npos)
      return source.problem(node, key, "must be a string that is not empty"), false;
    if (plain_must_be_private && !source.is_private) {
      source.problem(node, key, "a secret must not stand in a file that others can read",
                     "put it into a file of mode 0600: " + key.substr(key.rfind('.') + 1) +
                         " = { file = \"…\" }, or take the rights from this one: chmod 600 " + source.path);
      return false;
    }
    target = SecretSetting{SecretSetting::Source::kPlain, {}, Secret(*plain)};
    return true;
  }
  const toml::table* table = node.as_table();
  if (table == nullptr)
    return source.problem(node, key, expected("a string, { file = … }, { env = … } or { command = [ … ] }", node)),
           false;
  Section section(source, *table, key, {});
  section.check_keys({"file", "env", "command"});
  if (table->size() != 1) return source.problem(node, key, "needs one of file, env and command"), false;
  SecretSetting setting;
  if (section.path("file", setting.from)) setting.source = SecretSetting::Source::kFile;
  if (section.text("env", setting.from)) setting.source = SecretSetting::Source::kEnvironment;
  if (section.texts("command", setting.command)) {
    if (setting.command.empty()) return section.problem("command", "must not be empty"), false;
    setting.source = SecretSetting::Source::kCommand;
  }
  if (!setting.is_set()) return false;
  target = std::move(setting);
  return true;
}

}  // namespace notify::config_file

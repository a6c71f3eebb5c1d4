#include "sys/recipe_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/ascii.hpp"
#include "core/near_miss.hpp"
#include "core/recipe_answer.hpp"
#include "core/text_rules.hpp"
#include "sys/config_keys.hpp"
#include "sys/recipe_keys.hpp"

namespace notify::recipe_file {
namespace {

// "90 CP949", "1000"
bool parse_length(std::string_view written, RecipeCondition& condition) {
  const std::size_t space = std::min(written.find(' '), written.size());
  const std::string_view number = written.substr(0, space);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), condition.limit);
  if (error != std::errc{} || end != number.data() + number.size()) return false;
  const std::string_view unit = trimmed(written.substr(space), kBlanks);
  if (unit.empty()) return true;
  const auto known = recipe_unit(unit);
  if (known) condition.unit = *known;
  return known.has_value();
}

// Keys that every channel has: a setting of that name could not be given.
bool is_channel_key(std::string_view name) {
  const auto keys = config_keys();
  return name == "recipe" || name == "batch" || std::any_of(keys.begin(), keys.end(), [&](const ConfigKey& key) {
           return key.section == "channels.*" && key.driver.empty() && key.key == name;
         });
}

constexpr RecipeRoots kIdentity = root_bit(RecipeRoot::kMessageId) | root_bit(RecipeRoot::kUuid);

}  // namespace

// --- shared

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto value = node.value_exact<std::string>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  return std::nullopt;
}

std::optional<Section> RecipeReader::child(Section& parent, std::string_view key, std::string_view pattern) {
  const toml::table* table = parent.table(key);
  if (table == nullptr) return std::nullopt;
  Section section(source_, *table, parent.full(key), std::string(pattern));
  std::vector<std::string_view> known = recipe_keys_of(pattern);
  for (const ConfigSection& other : recipe_sections())  // tables in tables
    if (other.name.size() > pattern.size() + 1 && other.name.starts_with(pattern) && other.name[pattern.size()] == '.')
      known.push_back(other.name.substr(pattern.size() + 1));
  if (pattern == "token") known.insert(known.end(), {"request", "auth"});
  if (pattern == "batch") known.insert(known.end(), {"request", "evidence"});
  if (pattern == "look_up") known.insert(known.end(), {"request", "evidence"});
  section.check_keys(known);
  return section;
}

void RecipeReader::each(Section& parent, std::string_view key, std::string_view pattern,
                        const std::function<void(Section&)>& read) {
  const toml::array* list = parent.array(key);
  if (list == nullptr) return;
  for (const toml::node& item : *list) {
    const toml::table* table = item.as_table();
    if (table == nullptr) {
      source_.problem(item, parent.full(key), "must be a table: [[" + parent.full(key) + "]]");
      continue;
    }
    Section section(source_, *table, parent.full(key), std::string(pattern));
    section.check_keys(recipe_keys_of(pattern));
    read(section);
  }
}

void RecipeReader::use(const toml::node& node, const std::string& where, const RecipePlaceholder& place) {
  const auto declared = [&](RecipeRoot root, const std::string& path) {
    if (root == RecipeRoot::kSettings) {
      used_settings_.insert(path);
      if (recipe_.setting(path) != nullptr) return;
      std::vector<std::string> names;
      for (const RecipeSetting& setting : recipe_.settings) names.push_back(setting.name);
      source_.problem(node, where, "there is no setting \"" + path + "\"", did_you_mean(path, names));
    } else if (root == RecipeRoot::kValues) {
      std::vector<std::string> names;
      for (const RecipeValue& value : recipe_.values) names.push_back(value.name);
      if (std::find(names.begin(), names.end(), path) == names.end())
        source_.problem(node, where, "the table values has no \"" + path + "\"", did_you_mean(path, names));
    }
  };
  check_common(node, where, place);
  declared(place.root, place.path);
  used_ |= root_bit(place.root);
  for (const RecipeFilter& filter : place.filters) {
    if (filter.kind != RecipeFilter::Kind::kOr) continue;
    declared(filter.other, filter.path);
    used_ |= root_bit(filter.other);
  }
}

bool RecipeReader::parse_text(const toml::node& node, const std::string& where, const std::string& written,
                              RecipeRoots roots, bool json_place, RecipeText& target) {
  if (written.find('\0') != std::string::npos) return source_.problem(node, where, "must not contain NUL"), false;
  Result<RecipeText> parsed = parse_recipe_text(written, roots);
  if (!parsed) return source_.problem(node, where, parsed.error().message, parsed.error().hint), false;
  for (const RecipePiece& piece : *parsed) {
    if (!piece.place) continue;
    use(node, where, *piece.place);
    if (piece.place->is_json() && (!json_place || parsed->size() != 1))
      source_.problem(node, where,
                      "the filters json and number stand for a whole JSON value: alone in a text of `json`");
  }
  target = std::move(*parsed);
  return true;
}

bool RecipeReader::text(Section& section, std::string_view key, RecipeRoots roots, RecipeText& target) {
  std::string written;
  if (!section.text(key, written)) return false;
  return parse_text(*section.find(key), section.full(key), written, roots, false, target);
}

bool RecipeReader::condition(const toml::node& node, const std::string& where, std::string_view written,
                             RecipeRoots roots, RecipeConditions& target) {
  using Test = RecipeCondition::Test;
  RecipeCondition condition;
  std::string_view name = trimmed(written, kBlanks);
  const std::size_t sign = name.find_first_of("=>", 1);
  if (name.starts_with('!')) {
    condition.test = Test::kEmpty;
    name.remove_prefix(1);
  } else if (sign != std::string_view::npos) {
    const bool differs = name[sign] == '=' && name[sign - 1] == '!';
    const std::string_view rest = trimmed(name.substr(sign + 1), kBlanks);
    condition.test = name[sign] == '>' ? Test::kLonger : differs ? Test::kDiffers : Test::kEquals;
    if (condition.test != Test::kLonger)
      condition.text = rest;
    else if (!parse_length(rest, condition))
      return source_.problem(node, where, "is no condition: after > stands a number and a unit", "body > 90 CP949"),
             false;
    name = trimmed(name.substr(0, differs ? sign - 1 : sign), kBlanks);
  }
  Result<RecipePlaceholder> place = parse_recipe_placeholder(name, roots);
  if (!place) return source_.problem(node, where, place.error().message, place.error().hint), false;
  use(node, where, *place);
  condition.value = std::move(*place);
  target.push_back(std::move(condition));
  return true;
}

void RecipeReader::conditions(Section& section, std::string_view key, RecipeRoots roots, RecipeConditions& target) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return;
  std::vector<std::string> written(1);
  const bool list = node->is_array();
  if (list ? !section.texts(key, written) : !section.text(key, written.front())) return;
  for (const std::string& one : written) condition(*node, section.full(key), one, roots, target);
}

// --- settings, values, checks

void RecipeReader::read_setting(Section& section, RecipeSetting& setting) {
  section.require("text");
  section.text("text", setting.text);
  section.boolean("required", setting.required);
  section.boolean("secret", setting.secret);
  section.text("default", setting.fallback);
  section.texts("choices", setting.choices);
  section.boolean("lines", setting.lines);
  if (setting.required && !setting.fallback.empty())
    section.problem("default", "a setting that must be given has no default");
  if (setting.secret && !setting.fallback.empty()) section.problem("default", "a secret has no default");
  if (!setting.choices.empty() && !setting.fallback.empty() &&
      std::find(setting.choices.begin(), setting.choices.end(), setting.fallback) == setting.choices.end())
    section.problem("default", "is not among the choices");
}

void RecipeReader::read_settings(Section& top) {
  const toml::table* table = top.table("settings");
  if (table == nullptr) return;
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    const std::string full = "settings." + name;
    const toml::table* one = node.as_table();
    if (one == nullptr) {
      source_.problem(node, full, "must be a table: [settings." + name + "]");
      continue;
    }
    if (!is_variable_name(name) || name.find('.') != std::string::npos)
      source_.problem(node, full, "is not a name: letters, digits, _ and - only");
    if (is_channel_key(name)) source_.problem(node, full, "every channel has a key of this name", "call it otherwise");
    Section section(source_, *one, full, "settings.*");
    section.check_keys(recipe_keys_of("settings.*"));
    RecipeSetting setting;
    setting.name = name;
    read_setting(section, setting);
    recipe_.settings.push_back(std::move(setting));
  }
}

void RecipeReader::read_values(Section& top) {
  const toml::table* table = top.table("values");
  if (table == nullptr) return;
  constexpr RecipeRoots kRoots = recipe_roots::kMessage;
  for (const auto& [key, node] : *table) {
    const std::string full = "values." + std::string(key.str());
    RecipeValue value;
    value.name = key.str();
    if (!is_variable_name(value.name) || value.name.find('.') != std::string::npos)
      source_.problem(node, full, "is not a name: letters, digits, _ and - only");
    const toml::array* list = node.as_array();
    if (list == nullptr || list->empty()) {
      source_.problem(node, full, "must be a list of { when = …, value = … }");
      continue;
    }
    for (const toml::node& item : *list) {
      const toml::table* one = item.as_table();
      if (one == nullptr) {
        source_.problem(item, full, "must be a list of { when = …, value = … }");
        continue;
      }
      Section section(source_, *one, full, {});
      section.check_keys({"when", "value"});
      section.require("value");
      RecipeChoice choice;
      conditions(section, "when", kRoots, choice.when);
      text(section, "value", kRoots, choice.value);
      const bool last = &item == &list->back();
      if (last != (section.find("when") == nullptr))
        section.problem("when", last ? "the last choice has no condition: it holds when no other does"
                                     : "is missing: what comes after is never looked at");
      value.choices.push_back(std::move(choice));
    }
    recipe_.values.push_back(std::move(value));
  }
}

void RecipeReader::read_check(Section& section) {
  using Form = RecipeCheck::Form;
  constexpr RecipeRoots kRoots = recipe_roots::kMessage | root_bit(RecipeRoot::kValues);
  constexpr std::array kForms{Form::kDigits, Form::kNumber, Form::kE164, Form::kPhone, Form::kId, Form::kEmail};
  RecipeCheck check;
  section.require("value");
  section.require("name");
  read_length(section, check);
  if (std::string value; section.text("value", value))
    parse_text(*section.find("value"), section.full("value"), value, kRoots, check.elements, check.value);
  section.text("name", check.name);
  conditions(section, "when", kRoots, check.when);
  section.boolean("required", check.required);
  if (const auto form = section.choice("form", {"digits", "number", "e164", "phone", "id", "email"}))
    check.form = kForms.at(*form);
  section.text("begins", check.begins);
  if (const toml::node* contains = section.find("contains")) {
    std::vector<std::string> words(1);
    if (contains->is_array() ? section.texts("contains", words) : section.text("contains", words.front()))
      check.contains = std::move(words);
  }
  for (const RecipePiece& piece : check.value)
    if (piece.place) {
      check.field = placeholder_name(*piece.place);
      break;
    }
  const bool words = check.required || check.form != Form::kAny || !check.begins.empty() || !check.contains.empty();
  if (!words && !check.max)
    source_.problem(section.node(), "check", "looks at nothing: give required, form, max, begins or contains");
  const bool one_list = check.value.size() == 1 && check.value.front().place && check.value.front().place->is_json();
  if (check.elements && (words || !check.max || !one_list))
    section.problem("unit", "elements are counted of a list, {{data.NAME|json}}, with max and nothing else");
  recipe_.checks.push_back(std::move(check));
}

void RecipeReader::read_length(Section& section, RecipeCheck& check) {
  int max = 0;
  if (section.integer("max", max, 1, 100'000'000)) check.max = static_cast<std::size_t>(max);
  std::string unit;
  if (!section.text("unit", unit)) return;
  check.elements = unit == "elements";
  const auto known = recipe_unit(unit);
  if (known)
    check.unit = *known;
  else if (!check.elements)
    section.problem("unit", "\"" + unit + "\" is not a unit",
                    "there are characters, bytes, UTF-16, EUC-KR, CP949, UCS-2, GSM-7 and elements");
}

// --- the whole

RecipeRoots RecipeReader::credentials() const {
  return (recipe_.token ? root_bit(RecipeRoot::kToken) : 0) | (recipe_.jwt ? root_bit(RecipeRoot::kJwt) : 0);
}

void RecipeReader::check_reachable(const toml::table& root) {
  const auto look = [&](const toml::node_view<const toml::node>& list, std::string_view name, const auto& rules) {
    std::vector<const RecipeMatch*> matches;
    matches.reserve(rules.size());
    for (const auto& rule : rules) matches.push_back(&rule.match);
    const std::optional<std::size_t> lost = unreachable(matches);
    if (!lost || list.as_array() == nullptr || *lost >= list.as_array()->size()) return;
    source_.problem(*list.as_array()->get(*lost), name,
                    "is never reached: an earlier rule takes all that it would take", "put the narrower rule first");
  };
  look(root["answer"], "answer", recipe_.answers);
  if (recipe_.batch) look(root["batch"]["answer"], "batch.answer", recipe_.batch->answers);
  if (recipe_.look_up) look(root["look_up"]["answer"], "look_up.answer", recipe_.look_up->rules);
  if (recipe_.receipt) look(root["receipt"]["rule"], "receipt.rule", recipe_.receipt->rules);
  if (recipe_.receipt) look(root["receipt"]["signature"], "receipt.signature", recipe_.receipt->signatures);
}

void RecipeReader::check_whole(Section& top) {
  const auto& answers = recipe_.answers;
  if (std::none_of(answers.begin(), answers.end(), [](const RecipeAnswer& a) { return a.cls == OutcomeClass::kSent; }))
    source_.problem(top.node(), "answer", "no rule says when a message was accepted",
                    "[[answer]] with status = 200, json = { … } and outcome = \"sent\"");
  for (const RecipeSetting& setting : recipe_.settings)
    if (!used_settings_.contains(setting.name))
      top.problem("settings", "the setting \"" + setting.name + "\" is used nowhere");
  RecipeRoots used = recipe_.request.uses | recipe_.auth.uses;
  if (recipe_.token) used |= recipe_.token->request.uses | recipe_.token->auth.uses;
  if (recipe_.batch) used |= recipe_.batch->request.uses;
  if (recipe_.look_up) used |= recipe_.look_up->request.uses;
  if (recipe_.jwt && (used & root_bit(RecipeRoot::kJwt)) == 0)
    top.problem("jwt", "{{jwt}} is mentioned nowhere", "write it where the vendor takes the token");
  if (!recipe_.recipient_hosts.empty() && recipe_.setting("url") == nullptr)
    top.problem("recipient", "there is no setting \"url\" that the recipient could stand for");
}

void RecipeReader::read(const toml::table& root) {
  Section top(source_, root, {}, {});
  std::vector<std::string_view> known = recipe_keys_of("");
  for (const ConfigSection& section : recipe_sections())
    if (!section.name.empty()) known.push_back(section.name.substr(0, section.name.find('.')));
  top.check_keys(known);
  top.require("summary");
  top.text("summary", recipe_.summary);
  top.text("manual", recipe_.manual);
  read_settings(top);
  if (auto section = child(top, "recipient", "recipient")) section->texts("hosts", recipe_.recipient_hosts);
  read_values(top);
  each(top, "check", "check", [&](Section& section) { read_check(section); });

  if (auto section = child(top, "signature", "signature"))
    read_signature(*section, recipe_.signature.emplace(), recipe_roots::kSigned);
  if (auto section = child(top, "jwt", "jwt")) read_jwt(*section);
  if (auto section = child(top, "token", "token")) read_token(*section);
  const RecipeRoots send = recipe_roots::kSend | credentials();
  top.require("request");
  used_ = 0;
  if (auto section = child(top, "request", "request")) read_request(*section, recipe_.request, send, true);
  if (auto section = child(top, "auth", "auth")) read_auth(*section, recipe_.auth, send);
  if (auto section = child(top, "idempotency", "idempotency")) {
    section->require("window");
    Duration window{};
    if (section->duration("window", window)) recipe_.idempotency_window = window;
    if ((used_ & kIdentity) == 0)
      section->problem("window", "the request carries no key: neither {{message_id}} nor {{uuid}} is in it");
  }
  each(top, "answer", "answer", [&](Section& section) { read_answer(section, recipe_.answers); });
  if (auto section = child(top, "evidence", "evidence")) read_evidence(*section, recipe_.evidence);
  if (auto section = child(top, "batch", "batch")) read_batch(*section);
  if (auto section = child(top, "look_up", "look_up")) read_look_up(*section);
  if (auto section = child(top, "receipt", "receipt")) read_receipt(*section);
  check_whole(top);
  if (source_.problems.empty()) check_reachable(root);
}

}  // namespace notify::recipe_file

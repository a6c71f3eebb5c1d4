#include "cmd/option_set.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cmd/errors.hpp"
#include "core/duration.hpp"
#include "core/near_miss.hpp"

namespace notify {
namespace {

Error usage(std::string message, std::string hint = {}) {
  return Error{Code::kUsage, std::move(message), std::move(hint), {}, {}};
}

template <class Number>
Result<Number> to_number(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stop != end)
    return fail(usage("\"" + text + "\" is not a whole number", "write it with the digits 0 to 9 only"));
  return number;
}

Result<void> check_range(const Option& option, std::int64_t number, bool is_duration) {
  const auto show = [&](std::int64_t n) { return is_duration ? format_duration(Duration{n}) : std::to_string(n); };
  if ((option.lowest && number < *option.lowest) || (option.highest && number > *option.highest))
    return fail(usage(show(number) + " is not between " + show(option.lowest.value_or(0)) + " and " +
                          show(option.highest.value_or(INT64_MAX)),
                      option.lowest && number < *option.lowest ? "the least is " + show(*option.lowest)
                                                               : "the most is " + show(option.highest.value_or(0))));
  return {};
}

// Converts and stores one value; one overload a kind of target.
struct Assign {
  const Option& option;
  const std::string& text;

  Result<void> operator()(bool* target) const {
    *target = text != "false";
    return {};
  }
  template <class Number>
  Result<void> number(Number& target) const {
    TRY_ASSIGN(target, to_number<Number>(text));
    return check_range(option, target, false);
  }
  Result<void> duration(Duration& target) const {
    TRY_ASSIGN(target, parse_duration(text));
    return check_range(option, target.count(), true);
  }
  Result<void> operator()(int* target) const { return number(*target); }
  Result<void> operator()(std::int64_t* target) const { return number(*target); }
  Result<void> operator()(std::optional<int>* target) const { return number(target->emplace()); }
  Result<void> operator()(std::optional<std::int64_t>* target) const { return number(target->emplace()); }
  Result<void> operator()(Duration* target) const { return duration(*target); }
  Result<void> operator()(std::optional<Duration>* target) const { return duration(target->emplace()); }
  Result<void> operator()(std::string* target) const {
    *target = text;
    return {};
  }
  Result<void> operator()(std::optional<std::string>* target) const {
    *target = text;
    return {};
  }
  Result<void> operator()(std::vector<std::string>* target) const {
    target->push_back(text);
    return {};
  }
};

// The default as help shows it. Zero, empty and false say nothing and are left out.
struct Fallback {
  std::string operator()(const int* n) const { return *n == 0 ? "" : std::to_string(*n); }
  std::string operator()(const std::int64_t* n) const { return *n == 0 ? "" : std::to_string(*n); }
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const Duration* d) const { return d->count() == 0 ? "" : format_duration(*d); }
  template <class Other>
  std::string operator()(const Other*) const {
    return {};
  }
};

bool is_option_word(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// CLI11 takes the next word for the value of "--name="; an empty value must stay an empty value.
std::vector<std::string> split_empty_values(const OptionSet& set, const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      result.insert(result.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    if (word.starts_with("--") && word.ends_with('=')) {
      const std::string name = word.substr(0, word.size() - 1);
      if (const Option* option = set.find(name); option != nullptr && option->takes_value()) {
        result.push_back(name);
        result.emplace_back();
        continue;
      }
    }
    result.push_back(word);
    const Option* option = set.find(word);
    const bool next_is_value = option != nullptr && option->takes_value() && !option->value_is_optional;
    if (next_is_value && i + 1 < words.size()) result.push_back(words[++i]);
  }
  return result;
}

std::string cli_name(const Option& option) {
  return option.short_name.empty() ? option.long_name : option.short_name + "," + option.long_name;
}

}  // namespace

std::string Option::display() const { return is_positional() ? value : long_name; }

Option& Option::optional_value(std::string_view when_absent) {
  value_is_optional = true;
  implied = when_absent;
  return *this;
}

Option& OptionSet::add(std::string_view names, OptionTarget target, std::string_view value, std::string_view help) {
  Option& option = options_.emplace_back();
  const auto comma = names.find(',');
  option.long_name = comma == std::string_view::npos ? names : names.substr(comma + 1);
  if (comma != std::string_view::npos) option.short_name = names.substr(0, comma);
  option.value = value;
  option.help = help;
  option.group = group_;
  option.target = target;
  option.fallback = std::visit(Fallback{}, target);
  return option;
}

Option& OptionSet::positional(std::string_view value, OptionTarget target, std::string_view help) {
  Option& option = add("", target, value, help);
  option.group = "Arguments";
  return option;
}

const Option* OptionSet::find(std::string_view name) const noexcept {
  if (name.size() < 2) return nullptr;
  for (const Option& option : options_)
    if (option.long_name == name || option.short_name == name) return &option;
  return nullptr;
}

Option* OptionSet::find_mutable(std::string_view name) noexcept { return const_cast<Option*>(find(name)); }

bool OptionSet::given(std::string_view name) const noexcept {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

Error OptionSet::unknown(std::string_view word) const {
  std::string name(word.substr(0, word.find('=')));
  std::vector<std::string_view> known;
  for (const Option& option : options_)
    if (!option.is_hidden && !option.is_positional()) known.push_back(option.long_name);
  std::string guess = did_you_mean(name, known);
  return usage("unknown option " + name, guess.empty() ? "--help lists the options" : std::move(guess));
}

Result<void> OptionSet::store(const Option& option, const std::vector<std::string>& values) {
  if (values.empty()) {
    if (!option.is_required) return {};
    std::string hint = option.choices.empty() ? "" : "one of:";
    for (const std::string& choice : option.choices) hint += " " + choice;
    return fail(usage(option.display() + " is missing", std::move(hint)));
  }
  given_.push_back(option.display());
  if (option.is_counted) {
    *std::get<int*>(option.target) = static_cast<int>(values.size());
    return {};
  }
  if (option.is_flag() && values.back() != "true" && values.back() != "false")
    return fail(usage(option.display() + " takes no value"));
  if (values.size() > 1 && !option.is_repeatable() && !option.is_flag())
    return fail(usage(option.display() + " was given " + std::to_string(values.size()) + " times", "give it once"));
  for (const std::string& text : values) {
    if (!option.choices.empty() &&
        std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
      std::string hint = "one of:";
      for (const std::string& choice : option.choices) hint += " " + choice;
      return fail(usage(option.display() + ": \"" + text + "\" is not known", std::move(hint)));
    }
    if (auto stored = std::visit(Assign{option, text}, option.target); !stored) {
      return refuse_option(option.display(), std::move(stored).error());
    }
  }
  return {};
}

Result<void> OptionSet::store_positionals(const std::vector<std::string>& words) {
  std::size_t next = 0;
  for (const Option& option : options_) {
    if (!option.is_positional()) continue;
    std::vector<std::string> values;
    while (next < words.size() && (values.empty() || option.is_repeatable())) values.push_back(words[next++]);
    TRY(store(option, values));
  }
  if (next < words.size()) return fail(usage("unexpected argument \"" + words[next] + "\""));
  return {};
}

Result<void> OptionSet::parse(const std::vector<std::string>& words) {
  CLI::App app;
  app.allow_extras();
  app.set_help_flag("-h,--help");
  std::vector<std::pair<const Option*, const CLI::Option*>> parsed;
  for (const Option& option : options_) {
    if (option.is_positional()) continue;
    CLI::Option* item = nullptr;
    if (option.takes_value()) {
      item = app.add_option(cli_name(option), CLI::callback_t([](const CLI::results_t&) { return true; }));
      item->expected(option.value_is_optional ? 0 : 1, 1);
      if (option.value_is_optional) item->default_str(option.implied);
    } else {
      item = app.add_flag(cli_name(option));
    }
    item->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    parsed.emplace_back(&option, item);
  }

  try {
    std::vector<std::string> reversed = split_empty_values(*this, words);
    std::reverse(reversed.begin(), reversed.end());
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    help_requested_ = true;
    return {};
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "--batch: 1 required … missing"
    const std::string name = what.substr(0, what.find(':'));
    const Option* option = find(name);
    std::string hint = "write " + name + " " + (option != nullptr ? option->value : "VALUE");
    if (option != nullptr && std::holds_alternative<std::optional<std::string>*>(option->target))
      hint += "; an empty one is " + name + "=";
    return fail(usage(name + " lacks its value", std::move(hint)));
  } catch (const CLI::Error& error) {
    return fail(usage("the command line cannot be read: " + std::string(error.what())));
  }

  std::vector<std::string> positionals;
  bool options_ended = false;
  for (const std::string& word : app.remaining()) {
    if (!options_ended && word == "--") {
      options_ended = true;
    } else if (!options_ended && is_option_word(word)) {
      return fail(unknown(word));
    } else {
      positionals.push_back(word);
    }
  }
  for (const auto& [option, item] : parsed) TRY(store(*option, item->results()));
  return store_positionals(positionals);
}

}  // namespace notify

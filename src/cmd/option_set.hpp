#pragma once

// The options of one command: registered once, into a plain struct, and used for parsing, help screens, man
// pages and completions alike, so that none of them can drift from the others.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// Where a value goes. bool: a flag. Containers: the option may be given several times. The value that the
// target has when it is registered is its default, and documented as such.
using OptionTarget =
    std::variant<bool*, int*, std::int64_t*, std::string*, Duration*, std::optional<std::string>*, std::optional<int>*,
                 std::optional<std::int64_t>*, std::optional<Duration>*, std::vector<std::string>*>;

// What the shell offers when completing a value.
enum class Completion { kNothing, kFile, kDirectory, kCommand, kChannel };

// One option or positional argument. The setters return it again, so that a registration reads as a sentence.
class Option {
 public:
  std::string long_name{};    // "--batch"; empty for positionals
  std::string short_name{};   // "-q" or empty
  std::string value{};        // name of the value in help: "FILE"; empty for flags
  std::string help{};         // one sentence without its full stop
  std::string details{};      // more for the man page, whole sentences
  std::string group{};        // heading under which help shows it
  std::string environment{};  // variable with the same effect
  std::string fallback{};     // the default as text; empty: none worth showing
  std::vector<std::string> choices{};
  Completion completion = Completion::kNothing;
  bool is_required = false;
  bool value_is_optional = false;  // --wait[=30s]
  bool is_hidden = false;
  std::string implied{};                 // value of an option given without its optional value
  std::optional<std::int64_t> lowest{};  // of numbers, or of durations in ms
  std::optional<std::int64_t> highest{};
  OptionTarget target{};

  bool is_positional() const noexcept { return long_name.empty(); }
  bool is_flag() const noexcept { return std::holds_alternative<bool*>(target); }
  bool is_repeatable() const noexcept { return std::holds_alternative<std::vector<std::string>*>(target); }
  bool is_counted = false;  // int target that counts how often a flag is given: -vv
  bool takes_value() const noexcept { return !is_flag() && !is_counted; }
  std::string display() const;  // "--batch", or "ID" for a positional

  Option& required() { return is_required = true, *this; }
  Option& hidden() { return is_hidden = true, *this; }
  Option& counted() { return is_counted = true, *this; }
  Option& one_of(std::vector<std::string> values) { return choices = std::move(values), *this; }
  Option& completes(Completion what) { return completion = what, *this; }
  Option& more(std::string_view text) { return details = text, *this; }
  Option& env(std::string_view variable) { return environment = variable, *this; }
  Option& shows_default(std::string_view text) { return fallback = text, *this; }
  Option& optional_value(std::string_view when_absent);
  Option& between(std::int64_t low, std::int64_t high) { return lowest = low, highest = high, *this; }
  Option& between(Duration low, Duration high) { return between(low.count(), high.count()); }
};

class OptionSet {
 public:
  // Options registered from now on stand under this heading.
  void group(std::string_view heading) { group_ = heading; }

  // names: "--drain" or "-q,--quiet". value: what help calls the value; empty for flags.
  Option& add(std::string_view names, OptionTarget target, std::string_view value, std::string_view help);
  Option& flag(std::string_view names, bool& target, std::string_view help) { return add(names, &target, "", help); }
  // Positional arguments are filled in the order of their registration; a repeatable one takes the rest.
  Option& positional(std::string_view value, OptionTarget target, std::string_view help);

  const std::deque<Option>& options() const noexcept { return options_; }
  const Option* find(std::string_view name) const noexcept;  // "--batch" or "-b"
  Option* find_mutable(std::string_view name) noexcept;

  // Parses the words after the command's name into the targets. Errors are usage errors with a hint.
  // Sets help_requested() instead when --help or -h is among the options; then nothing is checked.
  Result<void> parse(const std::vector<std::string>& words);
  bool help_requested() const noexcept { return help_requested_; }
  // Whether the option was given on the command line.
  bool given(std::string_view name) const noexcept;

 private:
  Result<void> store(const Option& option, const std::vector<std::string>& values);
  Result<void> store_positionals(const std::vector<std::string>& words);
  Error unknown(std::string_view word) const;

  std::deque<Option> options_{};  // a deque: references stay valid while more are added
  std::string group_ = "Options";
  std::vector<std::string> given_{};
  bool help_requested_ = false;
};

}  // namespace notify

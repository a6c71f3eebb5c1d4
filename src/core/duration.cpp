#include "core/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include "core/ascii.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// From large to small.
constexpr std::array kDurationUnits{Unit{"w", 604'800'000}, Unit{"d", 86'400'000}, Unit{"h", 3'600'000},
                                    Unit{"m", 60'000},      Unit{"s", 1'000},      Unit{"ms", 1}};

const Unit* find_unit(std::string_view name) noexcept {
  for (const Unit& unit : kDurationUnits)
    if (unit.name == name) return &unit;
  return nullptr;
}

// Removes the run of digits or of other characters at the start of `text`.
std::string_view take_run(std::string_view& text, bool digits) noexcept {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length]) == digits) ++length;
  const std::string_view run = text.substr(0, length);
  text.remove_prefix(length);
  return run;
}

tl::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(Code::kBadInput, "\"" + safe_text(text, 64) + "\" is not a duration",
              "write a number with a unit: 250ms, 10s, 15m, 1h30m, 3d, 2w");
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto too_long = [&] {
    return fail(Code::kBadInput, "\"" + safe_text(text, 64) + "\" is longer than a hundred years");
  };
  if (text.empty()) return not_a_duration(text);

  constexpr std::int64_t kLongest = kLongestDuration.count();
  std::int64_t total = 0;
  std::int64_t smallest = INT64_MAX;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view digits = take_run(rest, true);
    const Unit* unit = find_unit(take_run(rest, false));
    if (digits.empty() || unit == nullptr || unit->ms >= smallest) return not_a_duration(text);
    smallest = unit->ms;

    std::int64_t number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec != std::errc{} || number > (kLongest - total) / unit->ms) return too_long();
    total += number * unit->ms;
  }
  return Duration{total};
}

std::string format_duration(Duration duration) {
  if (duration.count() == 0) return "0s";
  // As unsigned, so that the most negative value has an absolute value.
  auto rest = static_cast<std::uint64_t>(duration.count());
  std::string text;
  if (duration.count() < 0) {
    rest = 0 - rest;
    text = "-";
  }
  for (const Unit& unit : kDurationUnits) {
    const auto ms = static_cast<std::uint64_t>(unit.ms);
    // Weeks are read but not written: "1w" hides that it is seven days, "8d" beats "1w1d".
    if (rest < ms || unit.name == "w") continue;
    text += std::to_string(rest / ms);
    text += unit.name;
    rest %= ms;
  }
  return text;
}

}  // namespace notify

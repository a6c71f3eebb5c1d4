#include "core/units.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace notify {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// From large to small; "ms" stands before "m" so that the longest name is met first.
constexpr std::array kUnits{Unit{"w", 604'800'000}, Unit{"d", 86'400'000}, Unit{"h", 3'600'000},
                            Unit{"ms", 1},          Unit{"m", 60'000},     Unit{"s", 1'000}};
constexpr std::array kPrinted{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000},
                              Unit{"ms", 1}};
constexpr std::int64_t kLongest = 3650 * std::int64_t{86'400'000};

const Unit* unit_at(std::string_view text) noexcept {
  for (const Unit& unit : kUnits)
    if (text.starts_with(unit.name)) return &unit;
  return nullptr;
}

auto not_a_duration(std::string_view text) {
  return fail(Code::kBadInput, "\"" + std::string(text) + "\" is not a duration",
              "write a number with a unit: 250ms, 10s, 15m, 1h30m, 3d");
}

// Reads the number at the start of `text` and removes it. False: there is none, or it does not fit.
bool take_number(std::string_view& text, std::int64_t& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() || text.front() == '-') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  std::int64_t total = 0;
  std::int64_t smallest = INT64_MAX;
  if (rest.empty()) return not_a_duration(text);
  while (!rest.empty()) {
    std::int64_t number = 0;
    if (!take_number(rest, number)) return not_a_duration(text);
    const Unit* unit = unit_at(rest);
    if (unit == nullptr || unit->ms >= smallest) return not_a_duration(text);
    rest.remove_prefix(unit->name.size());
    smallest = unit->ms;
    if (number > kLongest / unit->ms || total + number * unit->ms > kLongest)
      return fail(Code::kBadInput, "\"" + std::string(text) + "\" is longer than ten years");
    total += number * unit->ms;
  }
  return Duration{total};
}

std::string format_duration(Duration duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text;
  if (rest < 0) text = "-";
  for (const Unit& unit : kPrinted) {
    const std::int64_t number = rest / unit.ms;
    if (number == 0) continue;
    text += std::to_string(number < 0 ? -number : number);
    text += unit.name;
    rest -= number * unit.ms;
  }
  return text;
}

Result<Rate> parse_rate(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::kBadInput, "\"" + std::string(text) + "\" is not a rate",
                "write how many in which time: 50/s, 100/m, 20/10s, 3/1d");
  };
  std::string_view rest = text;
  std::int64_t count = 0;
  if (!take_number(rest, count) || count < 1 || count > 1'000'000 || !rest.starts_with('/')) return bad();
  rest.remove_prefix(1);
  std::string per(rest);
  if (!per.empty() && (per.front() < '0' || per.front() > '9')) per.insert(0, "1");
  const auto duration = parse_duration(per);
  if (!duration || *duration < 1ms) return bad();
  return Rate{static_cast<int>(count), *duration};
}

std::string format_rate(const Rate& rate) {
  std::string per = format_duration(rate.per);
  if (per.size() == 2 && per.front() == '1') per.erase(0, 1);
  return std::to_string(rate.count) + "/" + per;
}

Result<int> parse_time_of_day(std::string_view text) {
  const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
  if (text.size() == 5 && text[2] == ':' && digit(0) && digit(1) && digit(3) && digit(4)) {
    const int hour = (text[0] - '0') * 10 + (text[1] - '0');
    const int minute = (text[3] - '0') * 10 + (text[4] - '0');
    if (hour < 24 && minute < 60) return hour * 60 + minute;
  }
  return fail(Code::kBadInput, "\"" + std::string(text) + "\" is not a time of day",
              "write hours and minutes: 08:00, 20:40");
}

}  // namespace notify

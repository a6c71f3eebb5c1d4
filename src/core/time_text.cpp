#include "core/time_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/ascii.hpp"
#include "core/duration.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kEndOfTime = 253'402'300'800'000;  // 10000-01-01T00:00:00Z

// --- the calendar in UTC
// ----------------------------------------------------------------------------------------

std::chrono::year_month_day date_of(const CivilTime& t) noexcept {
  return std::chrono::year{t.year} / std::chrono::month{static_cast<unsigned>(t.month)} /
         std::chrono::day{static_cast<unsigned>(t.day)};
}

// Milliseconds from 1970 to midnight of that date.
std::int64_t midnight(const CivilTime& t) noexcept {
  return std::chrono::sys_days(date_of(t)).time_since_epoch().count() * kDay;
}

void set_date(CivilTime& t, const std::chrono::year_month_day& date) noexcept {
  t.year = static_cast<int>(date.year());
  t.month = static_cast<int>(static_cast<unsigned>(date.month()));
  t.day = static_cast<int>(static_cast<unsigned>(date.day()));
}

// --- reading
// ----------------------------------------------------------------------------------------------------

constexpr std::string_view kForms = "write 2026-11-29T13:26:00+09:00, +2h, \"tomorrow 08:00\" or @1796000000";
constexpr std::string_view kFormsLookingBack =
    "write 2026-11-29T13:26:00+09:00, 2h (two hours ago), \"yesterday 08:00\" or @1796000000";

tl::unexpected<Error> not_a_time(std::string_view text, std::string_view why = {}) {
  std::string message = "\"" + safe_text(text, 64) + "\" is not a time";
  if (!why.empty()) message.append(": ").append(why);
  return fail(Code::kBadInput, std::move(message), std::string(kForms));
}

// What is left of a text that is read from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  bool skip(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<int> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(rest_[i])) return std::nullopt;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // The digits after a decimal point, cut to milliseconds.
  std::optional<int> milliseconds() {
    int value = 0;
    int weight = 100;
    std::size_t digits = 0;
    for (; digits < rest_.size() && is_digit(rest_[digits]); ++digits, weight /= 10)
      value += weight * (rest_[digits] - '0');
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<CivilTime> read_date(Scanner& in) {
  const auto year = in.number(4);
  if (!year || !in.skip("-")) return std::nullopt;
  const auto month = in.number(2);
  if (!month || !in.skip("-")) return std::nullopt;
  const auto day = in.number(2);
  if (!day) return std::nullopt;
  return CivilTime{*year, *month, *day, 0, 0, 0};
}

bool read_time_of_day(Scanner& in, CivilTime& time, int& ms) {
  const auto hour = in.number(2);
  if (!hour || !in.skip(":")) return false;
  const auto minute = in.number(2);
  if (!minute) return false;
  time.hour = *hour;
  time.minute = *minute;
  if (!in.skip(":")) return true;
  const auto second = in.number(2);
  if (!second) return false;
  time.second = *second;
  if (!in.skip(".")) return true;
  const auto fraction = in.milliseconds();
  ms = fraction.value_or(0);
  return fraction.has_value();
}

// Minutes east of UTC; nothing when it is malformed.
std::optional<int> read_offset(Scanner& in) {
  if (in.skip("Zz")) return 0;
  const bool west = in.rest().starts_with('-');
  if (!in.skip("+-")) return std::nullopt;
  const auto hours = in.number(2);
  if (!hours || !in.skip(":")) return std::nullopt;
  const auto minutes = in.number(2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60 + *minutes);
}

// Why the calendar has no such time; empty when it has. Second 60 is a leap second.
std::string_view impossible(const CivilTime& t) noexcept {
  if (t.year < 1970) return "the year must be 1970 or later";
  if (t.month < 1 || t.month > 12) return "there is no such month";
  if (!date_of(t).ok()) return "there is no such day";
  if (t.hour > 23) return "the hour must be 00 to 23";
  if (t.minute > 59) return "the minute must be 00 to 59";
  if (t.second > 60) return "the second must be 00 to 59";
  return {};
}

Result<Instant> in_range(Instant t, std::string_view text) {
  if (t.ms < 0 || t.ms >= kEndOfTime) return not_a_time(text, "the year must be 1970 to 9999");
  return t;
}

Result<Instant> local_instant(CivilTime local, int ms, std::string_view text, const TimeContext& context) {
  if (context.zone == nullptr)
    return fail(Code::kBadInput, "\"" + safe_text(text, 64) + "\" has no time zone and none is configured",
                "append Z or an offset such as +09:00, or set timezone in the configuration");
  const int leap = local.second == 60 ? 1 : 0;
  local.second -= leap;
  TRY_ASSIGN(const Instant t, context.zone->from_local(local));
  return in_range({t.ms + leap * kSecond + ms}, text);
}

Result<Instant> parse_calendar(std::string_view text, const TimeContext& context) {
  Scanner in(text);
  const auto date = read_date(in);
  if (!date) return not_a_time(text);
  CivilTime time = *date;
  int ms = 0;
  if (in.skip("Tt ") && !read_time_of_day(in, time, ms)) return not_a_time(text);
  if (const auto why = impossible(time); !why.empty()) return not_a_time(text, why);
  if (in.done()) return local_instant(time, ms, text, context);

  const auto offset = read_offset(in);
  if (!offset || !in.done()) return not_a_time(text, "what follows the time is not a zone such as Z or +09:00");
  return in_range({midnight(time) + time.hour * kHour + (time.minute - *offset) * kMinute + time.second * kSecond + ms},
                  text);
}

Result<Instant> parse_epoch(std::string_view text) {
  const std::string_view number = text.substr(1);
  std::int64_t seconds = 0;
  const char* end = number.data() + number.size();
  const auto parsed = std::from_chars(number.data(), end, seconds);
  if (parsed.ec != std::errc{} || number.empty() || !is_digit(number.front())) return not_a_time(text);
  if (seconds >= kEndOfTime / kSecond) return not_a_time(text, "@ is followed by seconds, not milliseconds");
  int ms = 0;
  if (parsed.ptr != end) {
    Scanner in(std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)));
    const bool point = in.skip(".");
    const auto fraction = in.milliseconds();
    if (!point || !fraction || !in.done()) return not_a_time(text);
    ms = *fraction;
  }
  return Instant{seconds * kSecond + ms};
}

Result<Instant> parse_relative(std::string_view text, const TimeContext& context) {
  const bool minus = text.starts_with('-');
  const bool sign = minus || text.starts_with('+');
  const auto duration = parse_duration(sign ? text.substr(1) : text);
  if (!duration) return not_a_time(text);
  const bool back = sign ? minus : context.looks_back;
  return in_range(back ? context.now - *duration : context.now + *duration, text);
}

// "today 08:00" and its neighbours. The day is the zone's, not UTC's.
Result<Instant> parse_named_day(std::string_view text, std::string_view time_of_day, int day_offset,
                                const TimeContext& context) {
  Scanner in(time_of_day);
  CivilTime time{};
  int ms = 0;
  if (!in.skip("Tt ") || !read_time_of_day(in, time, ms) || !in.done())
    return not_a_time(text, "a day's name is followed by a time of day, as in \"tomorrow 08:00\"");
  if (const auto why = impossible(time); !why.empty()) return not_a_time(text, why);
  if (context.zone == nullptr) return local_instant(time, ms, text, context);
  const CivilTime today = context.zone->to_local(context.now);
  set_date(time, std::chrono::sys_days(date_of(today)) + std::chrono::days{day_offset});
  return local_instant(time, ms, text, context);
}

struct DayName {
  std::string_view name;
  int offset;
};
constexpr std::array kDayNames{DayName{"today", 0}, DayName{"tomorrow", 1}, DayName{"yesterday", -1}};

// --- writing
// ----------------------------------------------------------------------------------------------------

std::string wall_text(Instant t, std::int64_t offset_ms) {
  // Whatever a foreign row holds, the text has a year of four digits.
  constexpr std::int64_t kFirst = -62'135'596'800'000;  // 0001-01-01T00:00:00Z
  const std::int64_t ms = std::clamp(std::clamp(t.ms, kFirst, kEndOfTime - 1) + offset_ms, kFirst, kEndOfTime - 1);
  const std::int64_t days = ms / kDay - (ms % kDay < 0 ? 1 : 0);
  const std::int64_t of_day = ms - days * kDay;
  CivilTime wall{};
  set_date(wall, std::chrono::sys_days(std::chrono::days{days}));
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03d", wall.year, wall.month, wall.day,
                    static_cast<int>(of_day / kHour), static_cast<int>(of_day / kMinute % 60),
                    static_cast<int>(of_day / kSecond % 60), static_cast<int>(of_day % kSecond));
  return {text.data(), static_cast<std::size_t>(length)};
}

Result<Instant> parse_any(std::string_view text, const TimeContext& context) {
  if (text == "now") return context.now;
  if (text.starts_with('@')) return parse_epoch(text);
  for (const DayName& day : kDayNames)
    if (text.starts_with(day.name)) return parse_named_day(text, text.substr(day.name.size()), day.offset, context);
  if (text.size() > 4 && text[4] == '-') return parse_calendar(text, context);
  if (parse_time_of_day(text)) {
    const std::string tomorrow = "tomorrow " + std::string(text);
    return fail(Code::kBadInput, "\"" + safe_text(text, 64) + "\" does not say which day",
                "write \"today " + std::string(text) + "\" or \"" + tomorrow + "\"");
  }
  return parse_relative(text, context);
}

}  // namespace

Result<Instant> parse_time(std::string_view text, const TimeContext& context) {
  Result<Instant> time = parse_any(text, context);
  if (!time && context.looks_back && time.error().hint == kForms) time.error().hint = kFormsLookingBack;
  return time;
}

Result<int> parse_time_of_day(std::string_view text) {
  Scanner in(text);
  const auto hour = in.number(2);
  const bool colon = in.skip(":");
  const auto minute = in.number(2);
  if (!hour || !colon || !minute || !in.done() || *hour > 23 || *minute > 59)
    return fail(Code::kBadInput, "\"" + safe_text(text, 64) + "\" is not a time of day",
                "write hours and minutes: 08:00, 20:40");
  return *hour * 60 + *minute;
}

std::string format_time(Instant t) { return wall_text(t, 0) + "Z"; }

std::string format_time(Instant t, const Zone& zone) {
  const std::int64_t offset = zone.offset(t).count();
  const std::int64_t minutes = (offset < 0 ? -offset : offset) / kMinute;
  std::array<char, 16> suffix{};
  const int length = std::snprintf(suffix.data(), suffix.size(), "%c%02d:%02d", offset < 0 ? '-' : '+',
                                   static_cast<int>(minutes / 60), static_cast<int>(minutes % 60));
  // The wall time is that of the offset shown: RFC 3339 has no seconds in offsets, local mean times before
  // 1900 do.
  const std::int64_t shown = (offset < 0 ? -1 : 1) * minutes * kMinute;
  return wall_text(t, shown).append(suffix.data(), static_cast<std::size_t>(length));
}

}  // namespace notify

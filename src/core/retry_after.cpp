#include "core/retry_after.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace notify {
namespace {

namespace chrono = std::chrono;

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool blank(char c) noexcept { return c == ' ' || c == '\t'; }

std::string_view field_value(std::string_view text) noexcept {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && (blank(text.back()) || text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Reads a text from its front, piece by piece. After a failure everything fails.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : text_(text) {}

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return ok_ && text_.empty(); }

  void literal(std::string_view wanted) noexcept {
    if (ok_ && text_.starts_with(wanted))
      text_.remove_prefix(wanted.size());
    else
      ok_ = false;
  }

  int number(std::size_t digits) noexcept {
    int value = 0;
    if (text_.size() < digits) ok_ = false;
    for (std::size_t i = 0; ok_ && i < digits; ++i) {
      if (!digit(text_[i])) ok_ = false;
      value = value * 10 + (text_[i] - '0');
    }
    if (ok_) text_.remove_prefix(digits);
    return ok_ ? value : 0;
  }

  // A day of the month in asctime: " 6" or "16".
  int padded_day() noexcept {
    if (ok_ && text_.starts_with(' ')) {
      text_.remove_prefix(1);
      return number(1);
    }
    return number(2);
  }

  // The index of the one of `words` that comes next.
  template <std::size_t N>
  int word(const std::array<std::string_view, N>& words) noexcept {
    for (std::size_t i = 0; ok_ && i < N; ++i) {
      if (!text_.starts_with(words[i])) continue;
      text_.remove_prefix(words[i].size());
      return static_cast<int>(i);
    }
    ok_ = false;
    return 0;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> kLongDays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct Date {
  int year = 0;
  int month = 0;  // from 0
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

void read_time(Reader& reader, Date& date) noexcept {
  date.hour = reader.number(2);
  reader.literal(":");
  date.minute = reader.number(2);
  reader.literal(":");
  date.second = reader.number(2);
}

std::optional<Instant> instant_of(const Date& date) noexcept {
  const chrono::year_month_day day{chrono::year(date.year), chrono::month(static_cast<unsigned>(date.month + 1)),
                                   chrono::day(static_cast<unsigned>(date.day))};
  // 60 is a leap second.
  if (!day.ok() || date.hour > 23 || date.minute > 59 || date.second > 60) return std::nullopt;
  const auto since = chrono::sys_days(day).time_since_epoch() + chrono::hours(date.hour) +
                     chrono::minutes(date.minute) + chrono::seconds(date.second);
  return Instant{chrono::duration_cast<Duration>(since).count()};
}

int year_of(Instant now) noexcept {
  const chrono::sys_time<Duration> time{Duration(now.ms)};
  return static_cast<int>(chrono::year_month_day(chrono::floor<chrono::days>(time)).year());
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<Date> read_imf(std::string_view text) noexcept {
  Date date;
  Reader reader(text);
  reader.word(kDays);
  reader.literal(", ");
  date.day = reader.number(2);
  reader.literal(" ");
  date.month = reader.word(kMonths);
  reader.literal(" ");
  date.year = reader.number(4);
  reader.literal(" ");
  read_time(reader, date);
  reader.literal(" GMT");
  return reader.at_end() ? std::optional(date) : std::nullopt;
}

// Sunday, 06-Nov-94 08:49:37 GMT; a year that seems more than 50 years ahead is in the past (RFC 9110 5.6.7)
std::optional<Date> read_rfc850(std::string_view text, Instant now) noexcept {
  Date date;
  Reader reader(text);
  reader.word(kLongDays);
  reader.literal(", ");
  date.day = reader.number(2);
  reader.literal("-");
  date.month = reader.word(kMonths);
  reader.literal("-");
  const int this_year = year_of(now);
  date.year = this_year / 100 * 100 + reader.number(2);
  if (date.year > this_year + 50) date.year -= 100;
  reader.literal(" ");
  read_time(reader, date);
  reader.literal(" GMT");
  return reader.at_end() ? std::optional(date) : std::nullopt;
}

// Sun Nov  6 08:49:37 1994
std::optional<Date> read_asctime(std::string_view text) noexcept {
  Date date;
  Reader reader(text);
  reader.word(kDays);
  reader.literal(" ");
  date.month = reader.word(kMonths);
  reader.literal(" ");
  date.day = reader.padded_day();
  reader.literal(" ");
  read_time(reader, date);
  reader.literal(" ");
  date.year = reader.number(4);
  return reader.at_end() ? std::optional(date) : std::nullopt;
}

// Digits, perhaps with a fraction, as milliseconds rounded up, at most `max`. Nothing when it is no such number.
std::optional<std::int64_t> read_seconds(std::string_view text, std::int64_t max_ms) noexcept {
  std::int64_t ms = 0;
  std::size_t at = 0;
  for (; at < text.size() && digit(text[at]); ++at) {
    ms = ms * 10 + (text[at] - '0') * 1000;
    ms = std::min(ms, max_ms);  // keeps every step far from the end of the type, however long the number is
  }
  if (at == 0) return std::nullopt;
  if (at == text.size()) return ms;
  if (text[at++] != '.' || at == text.size()) return std::nullopt;
  std::int64_t unit = 100;
  bool rest = false;
  for (; at < text.size() && digit(text[at]); ++at, unit /= 10) {
    ms += (text[at] - '0') * unit;
    rest = rest || (unit == 0 && text[at] != '0');
  }
  if (at != text.size()) return std::nullopt;
  return std::min(ms + (rest ? 1 : 0), max_ms);
}

}  // namespace

std::optional<Instant> parse_http_date(std::string_view text, Instant now) {
  text = field_value(text);
  std::optional<Date> date = read_imf(text);
  if (!date) date = read_rfc850(text, now);
  if (!date) date = read_asctime(text);
  return date ? instant_of(*date) : std::nullopt;
}

std::optional<Duration> parse_retry_after(std::string_view text, Instant now, Duration max) {
  text = field_value(text);
  max = std::clamp(max, Duration(0), Duration(std::chrono::hours(24 * 366)));
  const bool negative = text.starts_with('-');
  if (const auto ms = read_seconds(negative ? text.substr(1) : text, max.count()))
    return negative ? Duration(0) : Duration(*ms);
  if (const auto at = parse_http_date(text, now)) return std::clamp(*at - now, Duration(0), max);
  return std::nullopt;
}

}  // namespace notify

// Times and durations as people write them: no overflow, and what is read is written and read again as the
// same.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/duration.hpp"
#include "core/time_text.hpp"

namespace {

using namespace notify;

// Nine hours ahead of UTC, without a database.
class NineHours final : public Zone {
 public:
  Result<Instant> from_local(const CivilTime& t) const override {
    const auto days = std::chrono::sys_days(std::chrono::year{t.year} / t.month / t.day);
    const std::chrono::seconds of_day =
        std::chrono::hours{t.hour} + std::chrono::minutes{t.minute} + std::chrono::seconds{t.second};
    return Instant{Duration(days.time_since_epoch() + of_day).count()} - 9h;
  }
  CivilTime to_local(Instant t) const override {
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::milliseconds{(t + 9h).ms});
    const std::chrono::year_month_day date{std::chrono::sys_days(days)};
    return {static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())),
            static_cast<int>(static_cast<unsigned>(date.day()))};
  }
  Duration offset(Instant) const override { return 9h; }
  std::string_view name() const override { return "nine"; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const NineHours zone;
  for (const bool looks_back : {false, true}) {
    const auto time = parse_time(text, {.now = Instant{1'796'000'000'000}, .zone = &zone, .looks_back = looks_back});
    if (!time) continue;
    ASSERT(time->ms >= 0);
    ASSERT(parse_time(format_time(*time), {}).value() == *time);
    if (*time < Instant{253'402'000'000'000}) ASSERT(parse_time(format_time(*time, zone), {}).value() == *time);
  }
  if (const auto duration = parse_duration(text)) {
    ASSERT(*duration >= 0ms && *duration <= kLongestDuration);
    ASSERT(parse_duration(format_duration(*duration)).value() == *duration);
  }
  if (const auto minutes = parse_time_of_day(text)) ASSERT(*minutes >= 0 && *minutes < 1440);
  return 0;
}

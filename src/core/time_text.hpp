#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/ports/zone.hpp"

namespace notify {

struct TimeContext {
  Instant now{};
  const Zone* zone = nullptr;  // for times without a zone; none: they are refused
  bool looks_back = false;     // "2h" means two hours ago (--since 2h)
};

// Accepts RFC 3339 with a zone (2026-11-29T13:26:09.123+09:00; a space may stand for the T), the same without
// a zone and, if wanted, without seconds or without a time of day (midnight), read in the context's zone;
// @seconds since 1970 with an optional fraction; a duration from now ("+2h", "90m", "3d"; "-2h" looks back);
// "now"; "today 08:00", "tomorrow 08:00", "yesterday 08:00". Years 1970-9999; fractions are cut to
// milliseconds.
Result<Instant> parse_time(std::string_view text, const TimeContext& context);

// "08:00" or "23:59" → minutes since midnight. "24:00" is refused.
Result<int> parse_time_of_day(std::string_view text);

// 2026-11-29T13:26:09.123Z, always with milliseconds so that it sorts as text.
std::string format_time(Instant t);
// The same with the zone's offset: 2026-11-29T22:26:09.123+09:00.
std::string format_time(Instant t, const Zone& zone);

}  // namespace notify

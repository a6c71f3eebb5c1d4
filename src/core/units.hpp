#pragma once

// Durations, rates and times of day as people write them, on the command line and in the configuration.

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// "250ms", "10s", "15m", "1h30m", "3d", "2w"; units from large to small, each once. No bare numbers: nobody
// remembers whether they are seconds. At most ten years.
Result<Duration> parse_duration(std::string_view text);

// The shortest text that parse_duration reads back as the same value: "1h30m", "0s".
std::string format_duration(Duration duration);

// "50/s", "100/m", "3/1d", "20/10s".
Result<Rate> parse_rate(std::string_view text);
std::string format_rate(const Rate& rate);

// "20:40" as minutes of the day, 00:00 to 23:59.
Result<int> parse_time_of_day(std::string_view text);

}  // namespace notify

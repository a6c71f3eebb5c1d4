#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// Longest duration accepted, about a hundred years: added to any instant of ours it cannot overflow.
inline constexpr Duration kLongestDuration = 36500 * 24h;

// "250ms", "10s", "90m", "24h", "3d", "2w", and several of them from large to small: "1h30m". No sign, no
// fraction, no bare number.
Result<Duration> parse_duration(std::string_view text);

// The text that parse_duration reads back as the same value, in days and smaller: "1m30s", "8d", "0s".
// Negative durations get a minus sign.
std::string format_duration(Duration duration);

}  // namespace notify

#pragma once

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"

namespace notify {

// "50/s", "100/m", "20/10s", "3/1d": how many in which time.
Result<Rate> parse_rate(std::string_view text);
std::string format_rate(const Rate& rate);

}  // namespace notify

#pragma once

#include <optional>
#include <string_view>

#include "core/instant.hpp"

namespace notify {

// An HTTP-date in one of its three forms (RFC 9110 5.6.7): IMF-fixdate, RFC 850, asctime. `now` resolves the two-digit
// years of RFC 850. Nothing when it is none.
std::optional<Instant> parse_http_date(std::string_view text, Instant now);

// The wait that a Retry-After header (RFC 9110 10.2.3) asks for, within [0, max]: delay-seconds (a fraction is rounded
// up to the millisecond) or an HTTP-date, measured from `now`. Past dates and negative numbers are 0; what cannot be
// read is nothing.
std::optional<Duration> parse_retry_after(std::string_view text, Instant now, Duration max);

}  // namespace notify

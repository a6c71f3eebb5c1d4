#pragma once

// Judges one HTTP request by what could be observed of it. Pure.

#include <string_view>
#include <vector>

#include "core/instant.hpp"
#include "core/outcome.hpp"
#include "core/ports/http.hpp"

namespace notify {

// What a vendor documents beyond the defaults. The lists are looked at in this order, before the default table.
struct StatusRules {
  std::vector<int> not_sent{};  // certainly not processed, though the default would be unknown: 503 as overload
  std::vector<int> permanent{};
  std::vector<int> unknown{};
  // The answer's body decides whether the vendor accepted: a success whose body is incomplete is unknown.
  bool body_decides = false;
  Duration max_retry_after = std::chrono::hours(24);
};

// The outcome of a call. With a status, the vendor has answered and the status decides, whatever the transport says.
// Without one, only proof that the request did not leave completely makes it kNotSent; everything else is kUnknown.
// `now` (wall clock) is for Retry-After dates, used when the answer carries no Date of its own.
//
// A driver whose vendor tells success by the body looks at evidence.body after this and may change kSent.
Outcome classify_http(const HttpEvidence& evidence, const StatusRules& rules, Instant now);

// For channels whose recipients are servers of their own: what is wrong with one of them is not the lane's trouble, so that
// a receiver that refuses us does not hold up the others. Only what every request will meet still halts the lane.
void spare_the_lane(const HttpEvidence& evidence, Outcome& outcome) noexcept;

// The first value of a header; the name in lower case. Empty when there is none.
std::string_view header_value(const HttpEvidence& evidence, std::string_view name) noexcept;

}  // namespace notify

#include "core/outcome.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace notify {

const char* outcome_name(OutcomeClass cls) noexcept {
  switch (cls) {
    case OutcomeClass::kSent: return "sent";
    case OutcomeClass::kPermanent: return "permanent";
    case OutcomeClass::kNotSent: return "not-sent";
    case OutcomeClass::kUnknown: return "unknown";
  }
  return "?";
}

bool is_shortage(int error_number) noexcept {
  constexpr std::array kShortages{EMFILE, ENFILE, ENOMEM, ENOBUFS};
  return std::find(kShortages.begin(), kShortages.end(), error_number) != kShortages.end();
}

Outcome shortage_outcome(std::string detail) {
  constexpr Duration kTryAgainAfter{1000};
  Outcome outcome;
  outcome.cls = OutcomeClass::kNotSent;
  outcome.not_begun = true;
  outcome.shortage = true;
  outcome.retry_after = kTryAgainAfter;
  outcome.reason = "local-shortage";
  outcome.detail = std::move(detail);
  return outcome;
}

}  // namespace notify

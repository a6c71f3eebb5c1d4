#include "core/outcome.hpp"

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

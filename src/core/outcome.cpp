#include "core/outcome.hpp"

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

}  // namespace notify

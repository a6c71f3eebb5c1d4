#include "core/inbox_state.hpp"

namespace notify {
namespace {

using S = InboxState;
using E = InboxEvent;

constexpr std::array kTransitions{
    InboxTransition{S::kNone, E::kClaim, S::kSending},
    InboxTransition{S::kNone, E::kSkip, S::kSkipped},
    InboxTransition{S::kSending, E::kAccepted, S::kSent},
    InboxTransition{S::kSending, E::kRefused, S::kFailed},
    InboxTransition{S::kSending, E::kUnknownFinal, S::kError},
    InboxTransition{S::kSending, E::kUnknownRetry, S::kSending},
    InboxTransition{S::kSending, E::kResume, S::kSending},
    InboxTransition{S::kSending, E::kRelease, S::kNone},
    InboxTransition{S::kSending, E::kStale, S::kError},
    InboxTransition{S::kSending, E::kEvidenceAccepted, S::kSent},
    // A late result of the same claim still lands.
    InboxTransition{S::kError, E::kAccepted, S::kSent},
    InboxTransition{S::kError, E::kRefused, S::kFailed},
    InboxTransition{S::kError, E::kEvidenceAccepted, S::kSent},
    InboxTransition{S::kError, E::kEvidenceRefused, S::kFailed},
    InboxTransition{S::kError, E::kEvidenceAbsent, S::kNone},
    InboxTransition{S::kFailed, E::kReplay, S::kNone},
    InboxTransition{S::kSkipped, E::kReplay, S::kNone},
    InboxTransition{S::kError, E::kReplayDuplicates, S::kNone},
};

}  // namespace

std::span<const InboxTransition> inbox_transitions() noexcept { return kTransitions; }

std::optional<InboxState> next(InboxState from, InboxEvent event) noexcept {
  for (const auto& t : kTransitions)
    if (t.from == from && t.event == event) return t.to;
  return std::nullopt;
}

std::string_view name(InboxState state) noexcept {
  switch (state) {
    case S::kNone: return "NONE";
    case S::kSending: return "SENDING";
    case S::kSent: return "SENT";
    case S::kFailed: return "FAILED";
    case S::kError: return "ERROR";
    case S::kSkipped: return "SKIPPED";
  }
  return "?";
}

std::optional<InboxState> parse_inbox_state(std::string_view text) noexcept {
  for (InboxState state : kInboxStates)
    if (state != S::kNone && name(state) == text) return state;
  return std::nullopt;
}

}  // namespace notify

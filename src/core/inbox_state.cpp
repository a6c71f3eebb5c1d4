#include "core/inbox_state.hpp"

namespace notify {
namespace {

constexpr std::array kInboxTransitions{
    InboxTransition{InboxState::kNone, InboxEvent::kClaim, InboxState::kSending},
    InboxTransition{InboxState::kNone, InboxEvent::kSkip, InboxState::kSkipped},
    InboxTransition{InboxState::kSending, InboxEvent::kAccepted, InboxState::kSent},
    InboxTransition{InboxState::kSending, InboxEvent::kRefused, InboxState::kFailed},
    InboxTransition{InboxState::kSending, InboxEvent::kUnknownFinal, InboxState::kError},
    InboxTransition{InboxState::kSending, InboxEvent::kUnknownRetry, InboxState::kSending},
    InboxTransition{InboxState::kSending, InboxEvent::kResume, InboxState::kSending},
    InboxTransition{InboxState::kSending, InboxEvent::kRelease, InboxState::kNone},
    InboxTransition{InboxState::kSending, InboxEvent::kStale, InboxState::kError},
    InboxTransition{InboxState::kSending, InboxEvent::kEvidenceAccepted, InboxState::kSent},
    // A late result of the same claim still lands.
    InboxTransition{InboxState::kError, InboxEvent::kAccepted, InboxState::kSent},
    InboxTransition{InboxState::kError, InboxEvent::kRefused, InboxState::kFailed},
    InboxTransition{InboxState::kError, InboxEvent::kEvidenceAccepted, InboxState::kSent},
    InboxTransition{InboxState::kError, InboxEvent::kEvidenceRefused, InboxState::kFailed},
    InboxTransition{InboxState::kError, InboxEvent::kEvidenceAbsent, InboxState::kNone},
    InboxTransition{InboxState::kFailed, InboxEvent::kReplay, InboxState::kNone},
    InboxTransition{InboxState::kSkipped, InboxEvent::kReplay, InboxState::kNone},
    InboxTransition{InboxState::kError, InboxEvent::kReplayDuplicates, InboxState::kNone},
};

}  // namespace

std::span<const InboxTransition> inbox_transitions() noexcept { return kInboxTransitions; }

std::optional<InboxState> next(InboxState from, InboxEvent event) noexcept {
  for (const auto& t : kInboxTransitions)
    if (t.from == from && t.event == event) return t.to;
  return std::nullopt;
}

std::string_view name(InboxState state) noexcept {
  switch (state) {
    case InboxState::kNone: return "NONE";
    case InboxState::kSending: return "SENDING";
    case InboxState::kSent: return "SENT";
    case InboxState::kFailed: return "FAILED";
    case InboxState::kError: return "ERROR";
    case InboxState::kSkipped: return "SKIPPED";
  }
  return "?";
}

std::optional<InboxState> parse_inbox_state(std::string_view text) noexcept {
  for (InboxState state : kInboxStates)
    if (state != InboxState::kNone && name(state) == text) return state;
  return std::nullopt;
}

}  // namespace notify

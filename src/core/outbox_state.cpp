#include "core/outbox_state.hpp"

namespace notify {
namespace {

constexpr std::array kOutboxTransitions{
    OutboxTransition{OutboxState::kPending, OutboxEvent::kClaim, OutboxState::kPublishing},
    OutboxTransition{OutboxState::kPending, OutboxEvent::kSkip, OutboxState::kSkipped},
    OutboxTransition{OutboxState::kPending, OutboxEvent::kExpire, OutboxState::kExpired},
    OutboxTransition{OutboxState::kPending, OutboxEvent::kGiveUp, OutboxState::kFailed},
    OutboxTransition{OutboxState::kPublishing, OutboxEvent::kConfirm, OutboxState::kPublished},
    OutboxTransition{OutboxState::kPublishing, OutboxEvent::kBackoff, OutboxState::kPending},
    OutboxTransition{OutboxState::kPublishing, OutboxEvent::kClaimLost, OutboxState::kPending},
    OutboxTransition{OutboxState::kPublishing, OutboxEvent::kRelease, OutboxState::kPending},
    OutboxTransition{OutboxState::kPublished, OutboxEvent::kReplay, OutboxState::kPending},
    OutboxTransition{OutboxState::kFailed, OutboxEvent::kReplay, OutboxState::kPending},
    OutboxTransition{OutboxState::kExpired, OutboxEvent::kReplay, OutboxState::kPending},
    OutboxTransition{OutboxState::kSkipped, OutboxEvent::kReplay, OutboxState::kPending},
};

}  // namespace

std::span<const OutboxTransition> outbox_transitions() noexcept { return kOutboxTransitions; }

std::optional<OutboxState> next(OutboxState from, OutboxEvent event) noexcept {
  for (const auto& t : kOutboxTransitions)
    if (t.from == from && t.event == event) return t.to;
  return std::nullopt;
}

std::string_view name(OutboxState state) noexcept {
  switch (state) {
    case OutboxState::kPending: return "PENDING";
    case OutboxState::kPublishing: return "PUBLISHING";
    case OutboxState::kPublished: return "PUBLISHED";
    case OutboxState::kSkipped: return "SKIPPED";
    case OutboxState::kExpired: return "EXPIRED";
    case OutboxState::kFailed: return "FAILED";
  }
  return "?";
}

std::optional<OutboxState> parse_outbox_state(std::string_view text) noexcept {
  for (OutboxState state : kOutboxStates)
    if (name(state) == text) return state;
  return std::nullopt;
}

}  // namespace notify

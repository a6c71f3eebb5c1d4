#include "core/outbox_state.hpp"

namespace notify {
namespace {

using S = OutboxState;
using E = OutboxEvent;

constexpr std::array kTransitions{
    OutboxTransition{S::kPending, E::kClaim, S::kPublishing},
    OutboxTransition{S::kPending, E::kSkip, S::kSkipped},
    OutboxTransition{S::kPending, E::kExpire, S::kExpired},
    OutboxTransition{S::kPending, E::kGiveUp, S::kFailed},
    OutboxTransition{S::kPublishing, E::kConfirm, S::kPublished},
    OutboxTransition{S::kPublishing, E::kBackoff, S::kPending},
    OutboxTransition{S::kPublishing, E::kClaimLost, S::kPending},
    OutboxTransition{S::kPublishing, E::kRelease, S::kPending},
    OutboxTransition{S::kPublished, E::kReplay, S::kPending},
    OutboxTransition{S::kFailed, E::kReplay, S::kPending},
    OutboxTransition{S::kExpired, E::kReplay, S::kPending},
    OutboxTransition{S::kSkipped, E::kReplay, S::kPending},
};

}  // namespace

std::span<const OutboxTransition> outbox_transitions() noexcept { return kTransitions; }

std::optional<OutboxState> next(OutboxState from, OutboxEvent event) noexcept {
  for (const auto& t : kTransitions)
    if (t.from == from && t.event == event) return t.to;
  return std::nullopt;
}

std::string_view name(OutboxState state) noexcept {
  switch (state) {
    case S::kPending: return "PENDING";
    case S::kPublishing: return "PUBLISHING";
    case S::kPublished: return "PUBLISHED";
    case S::kSkipped: return "SKIPPED";
    case S::kExpired: return "EXPIRED";
    case S::kFailed: return "FAILED";
  }
  return "?";
}

std::optional<OutboxState> parse_outbox_state(std::string_view text) noexcept {
  for (OutboxState state : kOutboxStates)
    if (name(state) == text) return state;
  return std::nullopt;
}

}  // namespace notify

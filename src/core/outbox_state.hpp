#pragma once

// The outbox state machine: which event leads from which state to which. The only place in the code that
// knows; the schema's triggers repeat the pairs (a test compares them).

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace notify {

enum class OutboxState { kPending, kPublishing, kPublished, kSkipped, kExpired, kFailed };
inline constexpr std::array kOutboxStates{OutboxState::kPending, OutboxState::kPublishing, OutboxState::kPublished,
                                          OutboxState::kSkipped, OutboxState::kExpired,    OutboxState::kFailed};

enum class OutboxEvent {
  kClaim,      // a relay took the row
  kConfirm,    // the transport confirmed it
  kBackoff,    // the publish was refused or its outcome is unknown
  kClaimLost,  // the lease ended or the holder is dead
  kRelease,    // not yet begun when the relay stopped or failed
  kSkip,       // opted out, guard, cancelled
  kExpire,     // past its expiry, or expiring before it may go
  kGiveUp,     // older than give_up_after with at least one failed publish
  kReplay,     // an operator named it
};
inline constexpr std::array kOutboxEvents{OutboxEvent::kClaim,     OutboxEvent::kConfirm, OutboxEvent::kBackoff,
                                          OutboxEvent::kClaimLost, OutboxEvent::kRelease, OutboxEvent::kSkip,
                                          OutboxEvent::kExpire,    OutboxEvent::kGiveUp,  OutboxEvent::kReplay};

struct OutboxTransition {
  OutboxState from;
  OutboxEvent event;
  OutboxState to;
};

std::span<const OutboxTransition> outbox_transitions() noexcept;

// The state after the event, or nothing when the event is illegal in that state.
std::optional<OutboxState> next(OutboxState from, OutboxEvent event) noexcept;

std::string_view name(OutboxState state) noexcept;  // "PENDING", as stored and shown
std::optional<OutboxState> parse_outbox_state(std::string_view text) noexcept;

}  // namespace notify

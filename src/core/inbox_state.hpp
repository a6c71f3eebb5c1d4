#pragma once

// The inbox state machine. "None" is the absence of a row: the message was never claimed, or its claim was
// given back. The only place in the code that knows the legal transitions; the schema's triggers repeat them.

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace notify {

enum class InboxState { kNone, kSending, kSent, kFailed, kError, kSkipped };
inline constexpr std::array kInboxStates{InboxState::kNone,   InboxState::kSending, InboxState::kSent,
                                         InboxState::kFailed, InboxState::kError,   InboxState::kSkipped};

enum class InboxEvent {
  kClaim,             // the worker inserts the row just before the call
  kAccepted,          // the vendor accepted
  kRefused,           // the vendor refused for good
  kUnknownFinal,      // unknown outcome on an at-most-once channel, or the key's window is over
  kUnknownRetry,      // unknown outcome on an at-least-once channel: taken up again with the same key
  kResume,            // one UPDATE to a new token takes a resting claim up again
  kRelease,           // certainly not sent and no unknown attempt before
  kStale,             // past stale_after, or its process is dead
  kSkip,              // no call was made: opted out, guard, cancelled, dropped, expired
  kEvidenceAccepted,  // receipt or look-up shows acceptance
  kEvidenceRefused,   // receipt or look-up shows refusal
  kEvidenceAbsent,    // the vendor proves that it never arrived
  kReplay,            // an operator named it
  kReplayDuplicates,  // an operator named it and accepts a possible second delivery
};
inline constexpr std::array kInboxEvents{
    InboxEvent::kClaim,        InboxEvent::kAccepted,         InboxEvent::kRefused,         InboxEvent::kUnknownFinal,
    InboxEvent::kUnknownRetry, InboxEvent::kResume,           InboxEvent::kRelease,         InboxEvent::kStale,
    InboxEvent::kSkip,         InboxEvent::kEvidenceAccepted, InboxEvent::kEvidenceRefused, InboxEvent::kEvidenceAbsent,
    InboxEvent::kReplay,       InboxEvent::kReplayDuplicates};

struct InboxTransition {
  InboxState from;
  InboxEvent event;
  InboxState to;
};

std::span<const InboxTransition> inbox_transitions() noexcept;
std::optional<InboxState> next(InboxState from, InboxEvent event) noexcept;

std::string_view name(InboxState state) noexcept;  // "SENDING", as stored and shown; "NONE" is never stored
std::optional<InboxState> parse_inbox_state(std::string_view text) noexcept;

}  // namespace notify

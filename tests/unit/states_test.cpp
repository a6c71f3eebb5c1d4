// Every state × event of both machines, against a table written down once more here: what GUARANTEES draws.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "core/inbox_state.hpp"
#include "core/outbox_state.hpp"

namespace notify {
namespace {

TEST(OutboxState, EveryStateAndEvent) {
  using S = OutboxState;
  using E = OutboxEvent;
  const std::map<std::pair<S, E>, S> legal{
      {{S::kPending, E::kClaim}, S::kPublishing},   {{S::kPublishing, E::kConfirm}, S::kPublished},
      {{S::kPublishing, E::kBackoff}, S::kPending}, {{S::kPublishing, E::kClaimLost}, S::kPending},
      {{S::kPublishing, E::kRelease}, S::kPending}, {{S::kPending, E::kSkip}, S::kSkipped},
      {{S::kPending, E::kExpire}, S::kExpired},     {{S::kPending, E::kGiveUp}, S::kFailed},
      {{S::kPublished, E::kReplay}, S::kPending},   {{S::kFailed, E::kReplay}, S::kPending},
      {{S::kExpired, E::kReplay}, S::kPending},     {{S::kSkipped, E::kReplay}, S::kPending},
  };
  for (const S state : kOutboxStates) {
    for (const E event : kOutboxEvents) {
      const auto expected = legal.find({state, event});
      const std::optional<S> got = next(state, event);
      if (expected == legal.end()) {
        EXPECT_FALSE(got) << name(state) << " event " << static_cast<int>(event);
      } else {
        EXPECT_EQ(got, expected->second) << name(state) << " event " << static_cast<int>(event);
      }
    }
  }
  EXPECT_EQ(outbox_transitions().size(), legal.size());
}

TEST(InboxState, EveryStateAndEvent) {
  using S = InboxState;
  using E = InboxEvent;
  const std::map<std::pair<S, E>, S> legal{
      {{S::kNone, E::kClaim}, S::kSending},          {{S::kNone, E::kSkip}, S::kSkipped},
      {{S::kSending, E::kAccepted}, S::kSent},       {{S::kSending, E::kRefused}, S::kFailed},
      {{S::kSending, E::kUnknownFinal}, S::kError},  {{S::kSending, E::kUnknownRetry}, S::kSending},
      {{S::kSending, E::kResume}, S::kSending},      {{S::kSending, E::kRelease}, S::kNone},
      {{S::kSending, E::kStale}, S::kError},         {{S::kSending, E::kEvidenceAccepted}, S::kSent},
      {{S::kError, E::kAccepted}, S::kSent},         {{S::kError, E::kRefused}, S::kFailed},
      {{S::kError, E::kEvidenceAccepted}, S::kSent}, {{S::kError, E::kEvidenceRefused}, S::kFailed},
      {{S::kError, E::kEvidenceAbsent}, S::kNone},   {{S::kError, E::kReplayDuplicates}, S::kNone},
      {{S::kFailed, E::kReplay}, S::kNone},          {{S::kSkipped, E::kReplay}, S::kNone},
  };
  for (const S state : kInboxStates) {
    for (const E event : kInboxEvents) {
      const auto expected = legal.find({state, event});
      const std::optional<S> got = next(state, event);
      if (expected == legal.end()) {
        EXPECT_FALSE(got) << name(state) << " event " << static_cast<int>(event);
      } else {
        EXPECT_EQ(got, expected->second) << name(state) << " event " << static_cast<int>(event);
      }
    }
  }
  EXPECT_EQ(inbox_transitions().size(), legal.size());
}

TEST(InboxState, SentIsFinalForEver) {
  for (const InboxEvent event : kInboxEvents) EXPECT_FALSE(next(InboxState::kSent, event));
}

TEST(States, NamesReadBack) {
  for (const OutboxState state : kOutboxStates) EXPECT_EQ(parse_outbox_state(name(state)), state);
  for (const InboxState state : kInboxStates) {
    if (state == InboxState::kNone) continue;
    EXPECT_EQ(parse_inbox_state(name(state)), state);
  }
  EXPECT_FALSE(parse_inbox_state("NONE"));
  EXPECT_FALSE(parse_outbox_state("pending"));
}

}  // namespace
}  // namespace notify

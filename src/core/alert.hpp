#pragma once

// What alerts are about. Each kind has its subject; while an alert is open, another of the same kind and subject only
// counts.
//
//   kind             subject            closed when                            raised by
//   expired          CHANNEL: REASON    nothing new for repeat_after           relay, work
//   gave-up          CHANNEL: REASON    nothing new for repeat_after           relay
//   publish-failing  CHANNEL: REASON    nothing new, and its message is out    relay
//   error, stale     CHANNEL: REASON    no message of theirs is ERROR          work, reconcile
//   parked           CHANNEL: REASON    no message of theirs is parked         work, reconcile
//   release-failed   CHANNEL: REASON    nothing new for repeat_after           work
//   undelivered      CHANNEL            nothing new for repeat_after           reconcile
//   lane-halted      CHANNEL            the channel is open again              work
//   backlog          oldest             nothing unsent is that old             reconcile
//   run-missing      COMMAND            it ran, or nothing is due              reconcile
//   parked-growth    total              nothing new for repeat_after           reconcile
//   republished      total              nothing new for repeat_after           reconcile
//   counters         NAME               nothing new for repeat_after           reconcile

#include <set>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/store.hpp"

namespace notify {

// Messages of this kind carry alerts. They never raise any themselves.
inline constexpr std::string_view kAlertMessageKind = "notifyctl.alert";

struct AlertSubject {
  std::string_view channel{};  // or what the alert is about when that is no channel
  std::string_view reason{};   // may be empty
};

// "CHANNEL: REASON", of at most 200 bytes: another reason is another alert.
std::string alert_subject(std::string_view channel, std::string_view reason);
AlertSubject split_alert_subject(std::string_view subject) noexcept;

// Raises an alert about one message, in the transaction of the retreat that it reports. `detail` is for people; empty:
// the reason.
Result<void> raise_alert(AlertTable& alerts, std::string_view kind, const Envelope& envelope, std::string_view reason,
                         std::string_view detail, Instant now);

// Inside Store::write: closes the alerts of messages (error, stale, parked) that are about none any more. `channels`: only
// those of these; empty: all.
Result<void> close_settled_alerts(Store& store, const std::set<std::string>& channels, Instant now);

}  // namespace notify

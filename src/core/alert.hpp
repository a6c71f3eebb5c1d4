#pragma once

// What alerts are about. Each kind has its subject (see AlertKind); while an alert is open, another of the same kind
// and subject only counts.

#include <set>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/store.hpp"

namespace notify {

// Messages of this kind carry alerts. They never raise any themselves.
inline constexpr std::string_view kAlertMessageKind = "notifyctl.alert";

// When an alert is over.
enum class AlertEnd {
  kQuiet,      // nothing new for repeat_after
  kSettled,    // no message of its channel and reason is in that state any more
  kCondition,  // whoever raises it looks again, and closes it
};

struct AlertKind {
  std::string_view name{};
  bool of_channel = false;  // its subject is "CHANNEL: REASON" or "CHANNEL"
  AlertEnd end = AlertEnd::kQuiet;
};

// Asserts that there is such a kind.
const AlertKind& alert_kind(std::string_view name) noexcept;

struct AlertSubject {
  std::string_view channel{};  // or what the alert is about when that is no channel
  std::string_view reason{};   // may be empty
};

// "CHANNEL: REASON", of at most 200 bytes: another reason is another alert.
std::string alert_subject(std::string_view channel, std::string_view reason);
AlertSubject split_alert_subject(std::string_view subject) noexcept;

// The channel that an alert is about; empty when it is about none.
std::string_view alert_channel(std::string_view kind, std::string_view subject) noexcept;
// "SUBJECT: DETAIL", for people: a detail that begins with the subject's reason says it once.
std::string alert_text(std::string_view subject, std::string_view detail);

// Raises an alert about one message, in the transaction of the retreat that it reports. `detail` is for people; empty:
// the reason.
Result<void> raise_alert(AlertTable& alerts, std::string_view kind, const Envelope& envelope, std::string_view reason,
                         std::string_view detail, Instant now);

// Inside Store::write: closes the alerts of messages (error, stale, parked) that are about none any more. `channels`: only
// those of these; empty: all.
Result<void> close_settled_alerts(Store& store, const std::set<std::string>& channels, Instant now);

}  // namespace notify

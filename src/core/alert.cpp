#include "core/alert.hpp"

#include <algorithm>
#include <array>

#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLongestSubject = 200;
constexpr std::string_view kDivider = ": ";

constexpr auto kKinds = std::to_array<AlertKind>({
    {"expired", true, AlertEnd::kQuiet},
    {"gave-up", true, AlertEnd::kQuiet},
    {"publish-failing", true, AlertEnd::kQuiet},  // and its message is out
    {"release-failed", true, AlertEnd::kQuiet},
    {"undelivered", true, AlertEnd::kQuiet},
    {"error", true, AlertEnd::kSettled},
    {"stale", true, AlertEnd::kSettled},
    {"parked", true, AlertEnd::kSettled},
    {"lane-halted", true, AlertEnd::kCondition},
    {"surge", false, AlertEnd::kCondition},        // subject: the command
    {"run-missing", false, AlertEnd::kCondition},  // subject: the command
    {"backlog", false, AlertEnd::kCondition},
    {"broadcast-failed", false, AlertEnd::kQuiet},  // subject: its key
    {"parked-growth", false, AlertEnd::kQuiet},
    {"republished", false, AlertEnd::kQuiet},
    {"counters", false, AlertEnd::kQuiet},  // subject: the counter
    {"restored", false, AlertEnd::kQuiet},
});

const AlertKind* find_kind(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const AlertKind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

}  // namespace

const AlertKind& alert_kind(std::string_view name) noexcept {
  const AlertKind* const found = find_kind(name);
  ASSERT(found != nullptr);
  return *found;
}

std::string alert_subject(std::string_view channel, std::string_view reason) {
  std::string subject(channel);
  if (!reason.empty()) subject.append(kDivider).append(reason);
  return safe_text(subject, kLongestSubject);
}

AlertSubject split_alert_subject(std::string_view subject) noexcept {
  const std::size_t divider = subject.find(kDivider);
  if (divider == std::string_view::npos) return {subject, {}};
  return {subject.substr(0, divider), subject.substr(divider + kDivider.size())};
}

std::string_view alert_channel(std::string_view kind, std::string_view subject) noexcept {
  const AlertKind* const known = find_kind(kind);
  return known != nullptr && known->of_channel ? split_alert_subject(subject).channel : std::string_view();
}

std::string alert_text(std::string_view subject, std::string_view detail) {
  const std::string_view reason = split_alert_subject(subject).reason;
  if (!reason.empty() && detail.starts_with(reason)) {
    const std::string_view rest = detail.substr(reason.size());
    if (rest.empty() || rest.starts_with(kDivider)) return std::string(subject).append(rest);
  }
  return std::string(subject).append(detail.empty() ? std::string_view() : kDivider).append(detail);
}

Result<void> raise_alert(AlertTable& alerts, std::string_view kind, const Envelope& envelope, std::string_view reason,
                         std::string_view detail, Instant now) {
  if (envelope.kind == kAlertMessageKind) return {};
  return alerts.raise(kind, alert_subject(envelope.channel, reason), envelope.message_id,
                      detail.empty() ? reason : detail, now);
}

Result<void> close_settled_alerts(Store& store, const std::set<std::string>& channels, Instant now) {
  TRY_ASSIGN(const std::vector<Alert> open, store.alerts().open_alerts());
  for (const Alert& alert : open) {
    if (alert_kind(alert.kind).end != AlertEnd::kSettled) continue;
    const AlertSubject subject = split_alert_subject(alert.subject);
    if (!channels.empty() && !channels.contains(std::string(subject.channel))) continue;
    TRY_ASSIGN(const bool any, alert.kind == "parked" ? store.parked().any(subject.channel, subject.reason)
                                                      : store.inbox().any_error(subject.channel, subject.reason));
    if (!any) TRY(store.alerts().close(alert.kind, alert.subject, now));
  }
  return {};
}

}  // namespace notify

#include "core/alert.hpp"

#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLongestSubject = 200;
constexpr std::string_view kDivider = ": ";

}  // namespace

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

Result<void> raise_alert(AlertTable& alerts, std::string_view kind, const Envelope& envelope, std::string_view reason,
                         std::string_view detail, Instant now) {
  if (envelope.kind == kAlertMessageKind) return {};
  return alerts.raise(kind, alert_subject(envelope.channel, reason), envelope.message_id,
                      detail.empty() ? reason : detail, now);
}

Result<void> close_settled_alerts(Store& store, const std::set<std::string>& channels, Instant now) {
  TRY_ASSIGN(const std::vector<Alert> open, store.alerts().open_alerts());
  for (const Alert& alert : open) {
    const AlertSubject subject = split_alert_subject(alert.subject);
    if (!channels.empty() && !channels.contains(std::string(subject.channel))) continue;
    bool any = true;
    if (alert.kind == "error" || alert.kind == "stale") {
      TRY_ASSIGN(any, store.inbox().any_error(subject.channel, subject.reason));
    } else if (alert.kind == "parked") {
      TRY_ASSIGN(any, store.parked().any(subject.channel, subject.reason));
    }
    if (!any) TRY(store.alerts().close(alert.kind, alert.subject, now));
  }
  return {};
}

}  // namespace notify

#include "core/alert_watch.hpp"

#include <algorithm>

#include "core/alert.hpp"
#include "core/duration.hpp"

namespace notify {
namespace {

constexpr std::string_view kParkedBefore = "parked";

std::string rounded(Duration duration) {
  return format_duration(std::chrono::duration_cast<std::chrono::minutes>(duration));
}

class Watch {
 public:
  Watch(const ReconcilePorts& ports, const Config& config, const StatusReport& report)
      : ports_(ports), config_(config), report_(report), now_(report.now) {}

  Result<void> look() {
    TRY(close_what_is_over());
    TRY(backlog());
    TRY(run_missing("relay", relay_due_));
    TRY(run_missing("work", report_.queue.ready > 0));
    return parked_growth();
  }

  // Outside of the transaction: who runs now, and whether the relay has something to do.
  Result<void> prepare() {
    TRY_ASSIGN(const std::vector<OpenRun> open, ports_.store.runs().open_runs());
    for (const OpenRun& run : open)
      if (ports_.holders.alive(run.id)) running_.push_back(run.command);
    TRY_ASSIGN(const std::optional<Instant> ready, ports_.store.outbox().next_ready(now_));
    relay_due_ = ready && *ready <= now_;
    return {};
  }

 private:
  AlertTable& alerts() const { return ports_.store.alerts(); }

  Result<void> close_what_is_over() {
    TRY(close_settled_alerts(ports_.store, {}, now_));
    TRY_ASSIGN(const std::vector<Alert> open, alerts().open_alerts());
    for (const Alert& alert : open) {
      TRY_ASSIGN(const bool is_over, over(alert));
      if (is_over) TRY(alerts().close(alert.kind, alert.subject, now_));
    }
    return {};
  }

  Result<bool> over(const Alert& alert) {
    if (alert_kind(alert.kind).end != AlertEnd::kQuiet) return false;
    if (now_ - alert.last_at < config_.alerts.repeat_after) return false;
    return alert.kind == "publish-failing" ? is_out(alert.message_id) : Result<bool>(true);
  }

  Result<bool> is_out(const std::string& message_id) {
    TRY_ASSIGN(const std::optional<std::int64_t> id, ports_.store.outbox().find(message_id));
    if (!id) return true;
    TRY_ASSIGN(const std::optional<OutboxState> state, ports_.store.outbox().state(*id));
    return state != OutboxState::kPending && state != OutboxState::kPublishing;
  }

  Result<void> keep(bool holds, std::string_view kind, std::string_view subject, const std::string& detail) {
    return holds ? alerts().keep_open(kind, subject, detail, now_) : alerts().close(kind, subject, now_);
  }

  Result<void> backlog() {
    const Duration age = report_.oldest_unsent.value_or(Duration{0});
    return keep(age > config_.alerts.backlog_age, "backlog", "oldest",
                "the oldest unsent message has been due for " + rounded(age));
  }

  // Never for a command that never ran here: a machine that only enqueues, or that has just been set up, is no alarm.
  Result<void> run_missing(std::string_view command, bool due) {
    const auto last = std::find_if(report_.last_run.begin(), report_.last_run.end(),
                                   [&](const LastRun& run) { return run.command == command; });
    const bool ran = last != report_.last_run.end() && last->succeeded_at.has_value();
    const bool runs = std::find(running_.begin(), running_.end(), command) != running_.end();
    const Duration since = ran ? now_ - *last->succeeded_at : Duration{0};
    return keep(due && !runs && since > config_.alerts.run_missing, "run-missing", command,
                "notifyctl " + std::string(command) + " has not finished a run for " + rounded(since) +
                    ", and there is something for it to do");
  }

  Result<void> parked_growth() {
    const std::int64_t total = report_.parked.total;
    TRY_ASSIGN(const std::optional<std::int64_t> before, ports_.store.upkeep().recall(kParkedBefore));
    if (before && total - *before > config_.alerts.parked_growth) {
      TRY(alerts().raise(
          "parked-growth", "total", {},
          std::to_string(total - *before) + " more parked since the last run, " + std::to_string(total) + " altogether",
          now_));
    }
    return ports_.store.upkeep().remember(kParkedBefore, total);
  }

  const ReconcilePorts& ports_;
  const Config& config_;
  const StatusReport& report_;
  Instant now_;
  std::vector<std::string> running_{};
  bool relay_due_ = false;
};

}  // namespace

Result<void> watch_alerts(const ReconcilePorts& ports, const Config& config) {
  TRY_ASSIGN(const StatusReport report, ports.reports.status(ports.clock.now()));
  Watch watch(ports, config, report);
  TRY(watch.prepare());
  return ports.store.write([&] { return watch.look(); });
}

}  // namespace notify

#include "core/lane_book.hpp"

#include <algorithm>
#include <utility>

namespace notify {
namespace {

constexpr Duration kFirstProbe = 15s;
constexpr Duration kLongestProbe = 5min;
constexpr Duration kLongestHold = 1h;

// Calls permitted at one instant may reach the vendor a little apart from each other.
constexpr Duration kNetworkJitter = 250ms;
// Permits may be taken this much ahead, since claims are committed in groups.
constexpr Duration kPermitAhead = 10ms;

void open_again(Lane& lane, Instant now) noexcept {
  lane.halted = false;
  lane.reported_at.reset();
  lane.opened_at = now;
  lane.probe_interval = Duration{0};
  lane.hold_until.reset();
  lane.reason.clear();
}

}  // namespace

bool lane_open(const Lane& lane, Instant now) noexcept {
  if (lane.halted) return false;
  if (lane.paused && (!lane.paused_until || now < *lane.paused_until)) return false;
  return !lane.hold_until || *lane.hold_until <= now;
}

std::optional<Instant> lane_reopens(const Lane& lane, Instant now) noexcept {
  std::optional<Instant> at;
  if (lane.paused && (!lane.paused_until || now < *lane.paused_until)) {
    if (!lane.paused_until) return std::nullopt;
    at = lane.paused_until;
  }
  if (lane.halted) at = std::max(at.value_or(lane.probe_at), lane.probe_at);
  if (lane.hold_until && now < *lane.hold_until) at = std::max(at.value_or(*lane.hold_until), *lane.hold_until);
  return at;
}

bool lane_takes_probe(const Lane& lane, Instant now) noexcept {
  Lane as_if_open = lane;
  as_if_open.halted = false;
  return lane.halted && lane_open(as_if_open, now);
}

bool lane_probe_due(const Lane& lane, Instant now) noexcept {
  return now >= lane.probe_at && lane_takes_probe(lane, now);
}

void lane_note_probe(Lane& lane, Instant now) noexcept {
  lane.probe_interval = std::min(std::max(lane.probe_interval * 2, kFirstProbe), kLongestProbe);
  lane.probe_at = now + lane.probe_interval;
}

bool concerns_lane(const Outcome& outcome) noexcept {
  return outcome.cls == OutcomeClass::kNotSent && (outcome.halt_channel || outcome.lane_wide);
}

LaneChange lane_note_outcome(Lane& lane, const Outcome& outcome, bool probe, Instant now) {
  const bool wait = outcome.lane_wide && outcome.cls != OutcomeClass::kSent;
  if (!wait) lane.refused_in_a_row = outcome.connect_refused ? lane.refused_in_a_row + 1 : 0;
  if (wait || outcome.halt_channel || lane.refused_in_a_row >= kRefusedInARow) {
    const bool was_halted = std::exchange(lane.halted, true);
    lane.reason = outcome.reason;
    if (!was_halted) {
      lane.probe_interval = wait ? Duration{0} : kFirstProbe;
      lane.probe_at = now + lane.probe_interval;
    }
    if (wait) {
      const Duration asked = std::clamp(outcome.retry_after.value_or(kFirstProbe), Duration{1000}, kLongestHold);
      lane.hold_until = std::max(lane.hold_until.value_or(now), now + asked);
    }
    return was_halted ? LaneChange::kNone : LaneChange::kHalted;
  }

  // The vendor answered the probe, or at least took the request: whatever closed the lane is over. What was on its way
  // when the lane was closed proves nothing, and neither do failures that never reached the vendor.
  const bool reached = outcome.cls == OutcomeClass::kSent || outcome.status > 0;
  if (!lane.halted || !probe || !reached || lane.reported_at) return LaneChange::kNone;
  open_again(lane, now);
  return LaneChange::kReopened;
}

LaneChange lane_note_report(Lane& lane, const LaneReport& report, Instant now) {
  if (!report.broken) {
    if (!lane.halted || !lane.reported_at || report.called_at <= *lane.reported_at) return LaneChange::kNone;
    open_again(lane, now);
    return LaneChange::kReopened;
  }
  const bool stale = report.called_at <= lane.opened_at || now - report.called_at > kReportSpeaks;
  if (stale || lane.reported_at) return LaneChange::kNone;
  // Each probe is a message that the vendor accepts and perhaps fails to deliver: they go as rarely as probes ever do.
  lane.halted = true;
  lane.reported_at = now;
  lane.reason = report.reason;
  lane.probe_interval = kLongestProbe;
  lane.probe_at = now + kLongestProbe;
  return LaneChange::kHalted;
}

void lane_mend_clock(Lane& lane, const std::optional<Rate>& rate, Instant now) noexcept {
  if (lane.hold_until && *lane.hold_until > now + kLongestHold) lane.hold_until.reset();
  if (lane.probe_at > now + kLongestProbe) lane.probe_at = now;
  // Permits are taken a little ahead, and other processes read the clock a little earlier or later.
  const std::int64_t now_us = now.ms * 1000;
  if (rate && lane.rate_next_us > now_us + lane_spacing_us(*rate) + 1'000'000) lane.rate_next_us = now_us;
}

std::int64_t lane_spacing_us(const Rate& rate) noexcept {
  // N + 1 calls span N spacings; they must not fit into the span in which N are allowed.
  const Duration span = std::max(rate.per, Duration{60s});
  const std::int64_t permitted = std::max<std::int64_t>(1, rate.count * span.count() / rate.per.count());
  const std::int64_t span_us = (span + kNetworkJitter).count() * 1000;
  return (span_us + permitted - 1) / permitted;
}

Instant lane_next_permit(const Lane& lane) noexcept { return Instant{(lane.rate_next_us + 999) / 1000} - kPermitAhead; }

bool lane_take_permit(Lane& lane, const Rate& rate, Instant now) noexcept {
  if (lane_next_permit(lane) > now) return false;
  lane.rate_next_us = std::max(lane.rate_next_us, now.ms * 1000) + lane_spacing_us(rate);
  return true;
}

}  // namespace notify

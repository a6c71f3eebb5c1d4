#pragma once

// The worker's view of its lanes (channels): who may go now, how many calls are out, and what an outcome means
// for the whole lane. Pure bookkeeping over rows of notification_lane; no I/O.

#include <cstdint>
#include <optional>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/side_tables.hpp"

namespace notify {

// A configured channel with its driver; both outlive the worker.
struct WorkLane {
  const ChannelConfig* config = nullptr;
  Channel* driver = nullptr;  // nullptr: could not be made; the lane is closed
  Error trouble{};            // why there is no driver
};

// Connects refused in a row after which the lane counts as down.
inline constexpr int kRefusedInARow = 5;

// What an outcome did to its lane.
enum class LaneChange { kNone, kHalted, kReopened };

// Whether the lane takes messages at `now`: not paused by an operator, not halted, not held by a Retry-After.
bool lane_open(const Lane& lane, Instant now) noexcept;

// When a lane that is closed may open again or be probed; empty: only an operator opens it.
std::optional<Instant> lane_reopens(const Lane& lane, Instant now) noexcept;

// A halted lane lets one message through at probe_at, or when what it was asked to wait is over; the next probe comes
// later, at most 5 minutes later. takes: whether it may go at all now.
bool lane_takes_probe(const Lane& lane, Instant now) noexcept;
bool lane_probe_due(const Lane& lane, Instant now) noexcept;
void lane_note_probe(Lane& lane, Instant now) noexcept;

// Takes the outcome of a call into the lane's state. Trouble that concerns every message halts the lane; a Retry-After
// puts the probe off. Only the outcome of a probe opens it again.
LaneChange lane_note_outcome(Lane& lane, const Outcome& outcome, bool probe, Instant now);

// The wall clock may have been set back since the lane was written: no hold, probe or permit that no rule can have put so
// far ahead counts. So a step back holds a lane up for an hour at the most, and a rate for one spacing
// and a second.
void lane_mend_clock(Lane& lane, const std::optional<Rate>& rate, Instant now) noexcept;

// A vendor reported later that the lane was broken, or delivered, when a call was made at `called_at`. Reports come late:
// what was called more than an hour ago, or before the lane was last opened, halts nothing. Vendors who report such trouble
// have accepted the message, so a lane that a report halted opens by the report of a later call, not by an acceptance.
struct LaneReport {
  bool broken = false;
  Instant called_at{};
  std::string reason{};
};
inline constexpr Duration kReportSpeaks = 1h;
LaneChange lane_note_report(Lane& lane, const LaneReport& report, Instant now);

// Spacing between calls that keeps any span of max(per, 60 s), seen at the vendor, within the limit.
std::int64_t lane_spacing_us(const Rate& rate) noexcept;

// Whether a call may start now under `rate`; takes the permit when it may.
bool lane_take_permit(Lane& lane, const Rate& rate, Instant now) noexcept;
Instant lane_next_permit(const Lane& lane) noexcept;

// True when the outcome says something about the lane rather than about the message: the message then goes
// back without losing one of its tries.
bool concerns_lane(const Outcome& outcome) noexcept;

}  // namespace notify

#pragma once

#include <span>

#include "core/error.hpp"
#include "core/lane_book.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/store.hpp"

namespace notify {

// At the start of a run: raises a lane-halted alert for each lane that has no driver, and closes the one that an
// earlier run raised for a lane that has one now. A lane that the breaker halted keeps its alert: only an answer of
// its vendor opens it. Another process may have what this one lacks, so the shared state of the lane is not touched.
Result<void> note_closed_lanes(Store& store, Clock& clock, std::span<const WorkLane> lanes);

}  // namespace notify

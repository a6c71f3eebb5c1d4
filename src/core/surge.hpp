#pragma once

// The surge guard: a mistake that would write to everybody is held before it does. Off unless configured.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/ports/outbox_table.hpp"

namespace notify {

// How many messages may still be handed on, and by which measure.
struct SurgeRoom {
  std::int64_t messages = INT64_MAX;
  std::string measure{};  // "500 in one run", for the alert
};

// `handed_on`: by this run so far. `held`: an earlier run has held messages and nobody has let them go; what cron's runs
// let through one after the other would only be a mistake at a slower pace. `volume`: as OutboxTable::volume() gives it, looked at for the hourly measures only.
SurgeRoom surge_room(const SurgeConfig& config, std::int64_t handed_on, bool held,
                     const std::vector<VolumeSpan>& volume, Instant now);

}  // namespace notify

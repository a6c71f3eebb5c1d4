#pragma once

#include <cstdint>
#include <optional>

#include "core/error.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/prune_table.hpp"
#include "core/ports/store.hpp"

namespace notify {

struct PruneOptions {
  std::optional<Duration> older_than{};   // remove what was finished longer ago
  std::optional<Duration> scrub_after{};  // empty the content of what was finished longer ago
  std::optional<Duration> keep_keys{};    // forget keys of what was removed longer ago; empty: never
  bool dry_run = false;
};

struct PruneSummary {
  std::int64_t removed = 0;
  std::int64_t scrubbed = 0;
  std::int64_t keys_removed = 0;
};

// In small transactions, so that nobody waits; an interrupted run is completed by the next one.
Result<PruneSummary> prune(Store& store, PruneTable& table, Clock& clock, CrashPoints& crash_points,
                           const PruneOptions& options);

}  // namespace notify

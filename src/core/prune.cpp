#include "core/prune.hpp"

#include <algorithm>
#include <span>

namespace notify {
namespace {

constexpr std::size_t kPrunedPerTransaction = 100;  // several rows each

class Pruner {
 public:
  Pruner(Store& store, PruneTable& table, Clock& clock, CrashPoints& crash_points, bool dry_run)
      : store_(store), table_(table), clock_(clock), crash_points_(crash_points), dry_run_(dry_run) {}

  using Change = Result<bool> (PruneTable::*)(std::int64_t, Instant, Instant);

  // Everything that was finished before the cutoff; how many messages that were.
  Result<std::int64_t> each(Instant cutoff, bool unscrubbed, Change change) {
    std::int64_t total = 0;
    PruneTable::Page page;
    do {
      TRY_ASSIGN(page, table_.finished_before(page.last, cutoff, unscrubbed));
      if (dry_run_) {
        total += static_cast<std::int64_t>(page.finished.size());
        continue;
      }
      std::span<const std::int64_t> left(page.finished);
      while (!left.empty()) {
        const auto group = left.first(std::min(left.size(), kPrunedPerTransaction));
        left = left.subspan(group.size());
        TRY_ASSIGN(const std::int64_t changed, one_group(group, cutoff, change));
        total += changed;
      }
    } while (page.more);
    return total;
  }

  Result<std::int64_t> forget(Instant cutoff, Result<int> (PruneTable::*some)(Instant)) {
    std::int64_t total = 0;
    for (int forgotten = 1; forgotten > 0; total += forgotten) {
      TRY(store_.write([&]() -> Result<void> {
        TRY_ASSIGN(forgotten, (table_.*some)(cutoff));
        return {};
      }));
    }
    return total;
  }

 private:
  Result<std::int64_t> one_group(std::span<const std::int64_t> group, Instant cutoff, Change change) {
    std::int64_t changed = 0;
    TRY(store_.write([&]() -> Result<void> {
      changed = 0;
      const Instant now = clock_.now();
      TRY(table_.begin());
      for (const std::int64_t id : group) {
        TRY_ASSIGN(const bool done, (table_.*change)(id, cutoff, now));
        changed += done ? 1 : 0;
      }
      TRY(table_.end());
      crash_points_.reach(CrashPoint::kPruneBeforeCommit);
      return {};
    }));
    crash_points_.reach(CrashPoint::kPruneAfterCommit);
    return changed;
  }

  Store& store_;
  PruneTable& table_;
  Clock& clock_;
  CrashPoints& crash_points_;
  bool dry_run_;
};

}  // namespace

Result<PruneSummary> prune(Store& store, PruneTable& table, Clock& clock, CrashPoints& crash_points,
                           const PruneOptions& options) {
  Pruner pruner(store, table, clock, crash_points, options.dry_run);
  const Instant now = clock.now();
  PruneSummary summary;
  if (options.older_than) {
    const Instant cutoff = now - *options.older_than;
    TRY_ASSIGN(summary.removed, pruner.each(cutoff, false, &PruneTable::remove));
    if (!options.dry_run) {
      TRY(pruner.forget(cutoff, &PruneTable::forget_alerts));
      TRY(pruner.forget(cutoff, &PruneTable::forget_receipts));
    }
  }
  if (options.scrub_after) {
    const Instant cutoff = now - *options.scrub_after;
    TRY_ASSIGN(summary.scrubbed, pruner.each(cutoff, true, &PruneTable::scrub));
    if (!options.dry_run) TRY(pruner.forget(cutoff, &PruneTable::scrub_broadcasts));
  }
  if (!options.dry_run) TRY(pruner.forget(now, &PruneTable::forget_credentials));
  if (options.older_than && options.keep_keys) {
    const Instant cutoff = now - *options.keep_keys;
    if (options.dry_run) {
      TRY_ASSIGN(summary.keys_removed, table.count_keys(cutoff));
    } else {
      TRY_ASSIGN(summary.keys_removed, pruner.forget(cutoff, &PruneTable::forget_keys));
    }
  }
  return summary;
}

}  // namespace notify

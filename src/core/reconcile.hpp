#pragma once

// reconcile looks for what nobody else will end: claims of the dead, evidence that came later, messages that are nowhere,
// counters that drifted, conditions that somebody should know of. One process at a time does it (SingleJob::kReconcile);
// every step is made of bounded transactions and can be repeated from its beginning.

#include <cstdint>
#include <span>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/evidence.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/events.hpp"
#include "core/ports/holders.hpp"
#include "core/ports/random.hpp"
#include "core/ports/store.hpp"
#include "core/ports/transport.hpp"
#include "core/receipts.hpp"
#include "core/report.hpp"

namespace notify {

// Counts, as the command prints them.
struct ReconcileSummary {
  std::int64_t recovered = 0;    // outbox rows taken back from dead or frozen relays
  std::int64_t errors = 0;       // claims that became ERROR
  std::int64_t resumed = 0;      // claims that will be taken up again with the same key
  std::int64_t receipts = 0;     // receipts that were new
  std::int64_t known = 0;        // receipts that had been taken before
  std::int64_t rejected = 0;     // lines that are no receipts
  std::int64_t unknown = 0;      // receipts that belong to no message (yet); kept
  std::int64_t settled = 0;      // messages settled by a receipt or a look-up
  std::int64_t republished = 0;  // messages that were nowhere
  std::int64_t mended = 0;       // counters that were wrong
  std::int64_t alerts = 0;       // alerts that somebody was told of
};

// What reconcile works with; everything outlives it.
struct ReconcilePorts {
  Store& store;
  Reports& reports;
  Transport& transport;
  Holders& holders;
  Clock& clock;
  Random& random;
  CrashPoints& crash_points;
  Events& events;
};

class Reconciler {
 public:
  // `holder` is this process's run id, whose kernel lock is held.
  Reconciler(ReconcilePorts ports, const Config& config, std::int64_t holder);

  // Dead processes and stale claims.
  Result<void> recover();

  // New receipts, in one transaction; then those that wait, in several.
  Result<void> take(std::span<const Receipt> receipts);
  Result<void> apply_waiting();

  // ERROR messages of a channel about which its vendor should be asked now; and the vendor's answer.
  Result<std::vector<InboxRow>> to_look_up(const ChannelConfig& channel);
  Result<void> answered(const InboxRow& row, const ChannelConfig& channel, const LookUpAnswer& answer);

  // The counters against the tables, and PUBLISHED rows that are nowhere. Both scan: small databases are looked at
  // each time, large ones once a day, or when their accounts do not balance, or with `thorough`.
  Result<void> verify(bool thorough);
  Result<void> republish(bool thorough);

  // Raises the alerts that come of looking, closes those whose condition is over.
  Result<void> watch();

  ReconcileSummary& summary() noexcept { return summary_; }
  const ReconcilePorts& ports() const noexcept { return ports_; }

 private:
  Result<void> end_other_runs();
  Result<bool> scan_is_due(std::string_view what, bool thorough);
  Result<void> settle_by_answer(const InboxRow& row, const ChannelConfig& channel, const LookUpAnswer& answer,
                                std::int64_t& settled);

  ReconcilePorts ports_;
  const Config& config_;
  std::int64_t holder_;
  Evidence evidence_;
  Receipts receipts_;
  ReconcileSummary summary_{};
};

}  // namespace notify

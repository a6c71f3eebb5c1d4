#pragma once

// What becomes of the claims of processes that died. A run that is open but whose kernel lock is free is dead;
// everything it held is taken back at once, whatever its leases say. The claims of the living end by time.

#include <cstdint>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/holders.hpp"
#include "core/ports/store.hpp"
#include "core/ports/transport.hpp"

namespace notify {

// Registers this process as a claiming run and takes its kernel lock before anybody can see the row, so that
// it never looks dead while it lives, and raises the fence against restored backups. Returns the run id: the holder of all its claims.
Result<std::int64_t> begin_run(Store& store, Holders& holders, Clock& clock, std::string_view command,
                               std::int64_t pid);

// Outbox rows of dead relays and rows past their lease become PENDING again. `copy_may_be_out` when the
// transport is not part of the store's transaction: then a publish may have happened. Returns rows changed.
Result<int> recover_relays(Store& store, Holders& holders, Clock& clock, std::int64_t self, bool copy_may_be_out);

struct WorkRecovery {
  int errors = 0;   // claims that became ERROR, each with an alert
  int resumed = 0;  // claims of at-least-once channels that will be taken up again with the same key
  int leases = 0;   // queue leases given back
};

// The same for dead workers: their claims end as ERROR or, where the vendor honours the key, rest to be
// resumed; their leases are given back. Also ends claims past stale_after.
Result<WorkRecovery> recover_workers(Store& store, Transport& transport, Holders& holders, Clock& clock,
                                     const Config& config, std::int64_t self);

}  // namespace notify

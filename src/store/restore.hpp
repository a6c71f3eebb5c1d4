#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

class SqliteStore;

struct RestoreReport {
  bool detected = false;      // the fence file had said so
  std::int64_t in_doubt = 0;  // messages that became ERROR (restored)
  Instant backup_at{};        // the newest instant in the database: what was accepted later is not in it
  std::string generation{};   // of the messages from now on
};

struct RestoreOptions {
  std::string path{};
  // Go on although the fence file does not say that the database is an old copy (the file was rolled back as well).
  bool undetected_too = false;
  Instant now{};
};

// Makes a database that was restored from a backup usable again. What the backup calls unsent may have been sent after
// it was made: every message that is not SENT becomes PUBLISHED with an inbox row ERROR (restored), to be settled by
// evidence or replayed by name. The queue is emptied, and new messages get a generation of their own, so that their ids
// are none that were used after the backup. Until it has ended everything else refuses the database; when it dies it is
// simply run again. No other process may be using the database (the caller has looked). Without a restore and without
// `undetected_too` it changes nothing.
Result<RestoreReport> take_over_restored(const RestoreOptions& options);

}  // namespace notify

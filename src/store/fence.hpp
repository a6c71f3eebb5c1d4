#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "store/sqlite/database.hpp"

namespace notify {

// The fence file "<database>-fence" holds the number of the newest run that may have had an effect outside of the database.
// Numbers of runs only grow, and a run that lasts takes new ones while it calls vendors (RunTable::mark()), so a database
// that has never heard of that number is an older copy of itself: what it calls unsent may have been sent since. A rollback
// of the whole machine takes the fence file back too and cannot be seen.

// Durable when it returns. Never lowers what is there. Call it outside of a transaction, before the run's first effect.
Result<void> raise_fence(const std::string& database_path, std::int64_t run_id);

// For a database that is just being made: a fence file that lies there belonged to another one. Inside its transaction.
void forget_fence(const std::string& database_path) noexcept;

struct FenceState {
  std::optional<std::int64_t> fence{};  // empty: no such file
  std::int64_t newest_run = 0;          // that the database knows of
  bool has_run = false;                 // a run has ended well in it, so that there must have been a fence file
  bool copy = false;                    // and yet it is not in WAL mode, as copies that VACUUM INTO makes are
  bool restored() const noexcept { return copy || (fence ? *fence > newest_run : has_run); }
};

Result<FenceState> read_fence(sqlite::Database& database);

// kConfig with the way out when the database was restored from a backup, or came here without its fence file.
Result<void> require_fence(sqlite::Database& database);

}  // namespace notify

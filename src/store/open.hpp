#pragma once

// Opening and creating the database. The only entrance to the store for the composition root.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "store/sqlite_store.hpp"

namespace notify {

struct OpenOptions {
  std::string path{};
  bool create = false;         // make the file and its tables when they are missing (enqueue, init)
  bool create_parent = false;  // make the parent directory, 0700 (for the default path only)
  bool read_only = false;      // reports: never writes a page, creates nothing, migrates nothing
  Duration busy_timeout{10'000};
  // Services leave a gap of this length between their commits, so that scripts get the write lock quickly;
  // nothing: no gap (short commands).
  std::optional<Duration> commit_gap{};
  // Off for short commands: two syncs instead of five when the last connection closes.
  bool checkpoint_on_close = false;
  // Test hook: pretends that the file lies on a file system with this statfs type.
  std::optional<long> fake_filesystem{};
};

// Fails with kConfig when the tables are missing (and not `create`), belong to a newer schema, when the journal
// mode is not WAL or the file lies on a network file system; kPermission names file, owner and current user.
// An older schema is migrated, unless read_only. A file made here is 0600 and in WAL mode.
Result<std::unique_ptr<SqliteStore>> open_store(const OpenOptions& options);

struct InitOptions {
  std::string path{};
  bool create_parent = false;
  bool wal = false;                // put an existing file of somebody else into WAL mode
  std::optional<std::string> source{};  // [a-z0-9-]{1,60}; default "notification-outbox"; fixed once set
  Duration busy_timeout{10'000};
  std::optional<long> fake_filesystem{};
};

struct InitReport {
  bool created_file = false;
  bool created_schema = false;  // the file was there, our tables were not
  int migrated_from = 0;        // an older schema's version; 0: nothing to migrate
  int schema = 0;
  std::string source{};
  std::string generation{};
  std::string journal_mode{};   // unless "wal", the caller says that it must be
};

// Idempotent. kConflict when the database has another source than the one asked for.
Result<InitReport> init_database(const InitOptions& options);

// "3.40.1"
std::string sqlite_library_version();

}  // namespace notify

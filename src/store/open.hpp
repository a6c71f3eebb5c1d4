#pragma once

// Opening and creating the database. The only entrance to the store for the composition root.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "store/sqlite_store.hpp"

namespace notify {

inline constexpr std::string_view kDefaultSource = "notification-outbox";

struct OpenOptions {
  std::string path{};
  bool create = false;         // make file and tables when the file is missing or empty (enqueue)
  bool create_parent = false;  // make the parent directory, 0700 (for the default path only)
  bool read_only = false;      // reports: writes, creates and migrates nothing
  Duration busy_timeout{10'000};
  // Services leave a gap of this length between their commits, so that scripts get the write lock quickly
  // (kServiceCommitGap); nothing: no gap (short commands).
  std::optional<Duration> commit_gap{};
  bool allow_fuse = false;
  // For imports that have looked at every row themselves: without the triggers that look at it once more an insert
  // costs little more than half.
  bool trusted_inserts = false;
  // Test hook: pretends that the file lies on a file system with this statfs type.
  std::optional<long> fake_filesystem{};
};

inline constexpr Duration kServiceCommitGap{2};

// Fails with kNotFound when the file is missing (and not `create`), kConfig when it has no notification tables or those of
// a newer schema, when its journal mode is not WAL or it lies on a network file system; kPermission names file, owner
// and current user. An older schema is migrated, unless read_only. A file made here is 0600 and in WAL mode.
// SqliteStore::path() is the file's true path (symbolic links resolved): use it for the files beside it.
Result<std::unique_ptr<SqliteStore>> open_store(const OpenOptions& options);

struct InitOptions {
  std::string path{};
  bool create_parent = false;
  bool wal = false;                     // put an existing file of somebody else into WAL mode
  bool after_restore = false;           // even one that is a copy of a database that was in use
  std::optional<std::string> source{};  // [a-z0-9-]{1,60}; fixed once set
  Duration busy_timeout{10'000};
  bool allow_fuse = false;
  std::optional<long> fake_filesystem{};
};

struct InitReport {
  std::string path{};  // symbolic links resolved
  bool created_file = false;
  bool created_schema = false;  // our tables were not there
  bool was_copy = false;        // of a database that was in use, as VACUUM INTO makes them
  int migrated_from = 0;        // an older schema's version; 0: nothing was migrated
  int schema = 0;
  std::string source{};
  std::string generation{};
  std::string journal_mode{};  // unless "wal", the database cannot be used yet, and the caller says so
};

// Makes file and tables, or brings them up to date; doing it again changes nothing. A file that is somebody else's keeps
// its mode, and its journal mode without `wal`. kConflict when the database has another source than the one asked for.
Result<InitReport> init_database(const InitOptions& options);

// "3.40.1"
std::string sqlite_library_version();

}  // namespace notify

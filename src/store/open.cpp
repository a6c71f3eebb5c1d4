#include "store/open.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "store/fence.hpp"
#include "store/filesystem.hpp"
#include "store/message_ids.hpp"
#include "store/migrations.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/failure.hpp"

namespace notify {
namespace {

using sqlite::ConnectOptions;
using sqlite::Database;

struct Location {
  std::string path{};  // symbolic links resolved
  bool created = false;
  FileSystem filesystem{};
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

tl::unexpected<Error> cannot_create(const std::string& path, int error_number) {
  const Code code = system_code(error_number, Code::kCannotCreate);
  std::string hint = "make its directory, or name another file with --db";
  if (code == Code::kDiskFull) hint = "make room on this file system, then run the command again";
  if (code == Code::kPermission)
    hint = "run notifyctl as a user who may write the directory, or name another file with --db";
  return fail(code, "cannot create " + path + ": " + system_reason(error_number), std::move(hint));
}

Result<void> make_directories(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || path == "." || path == "/") return cannot_create(path, errno);
  TRY(make_directories(parent_of(path)));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return cannot_create(path, errno);
  return {};
}

void sync_path(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  static_cast<void>(::fsync(fd));  // some file systems cannot sync directories
  ::close(fd);
}

// True: made by us; false: somebody was faster. Only a file that did not exist is ever opened and closed here: closing
// any descriptor of a database that SQLite has open would drop this process's locks on it.
Result<bool> make_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return false;
  if (fd < 0) return cannot_create(path, errno);
  const bool good = ::fchmod(fd, 0600) == 0;
  const int error_number = errno;
  ::close(fd);
  if (!good) return cannot_create(path, error_number);
  sync_path(parent_of(path));  // the name must survive a power failure as the commits do
  return true;
}

Result<std::string> true_path(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) {
    if (errno == EACCES) return fail(sqlite::permission_denied("cannot open", path));
    return fail(Code::kNotFound, "cannot open " + path + ": " + system_reason(errno));
  }
  return std::string(resolved);
}

struct Wish {
  const std::string& path;
  bool create = false;
  bool create_parent = false;
  bool allow_fuse = false;
  std::optional<long> fake_filesystem{};
};

// Finds the file, or makes it where that is wished and allowed.
Result<Location> locate(const Wish& wish) {
  ASSERT(!wish.path.empty());
  Location location;
  struct stat info {};
  if (::stat(wish.path.c_str(), &info) != 0) {
    if (errno == EACCES) return fail(sqlite::permission_denied("cannot open", wish.path));
    if (errno != ENOENT) {
      return fail(errno == EIO ? Code::kIo : Code::kConfig, "cannot open " + wish.path + ": " + system_reason(errno),
                  "is the path of the database right? --db, NOTIFYCTL_DB and the configuration name it");
    }
    if (!wish.create) {
      return fail(Code::kNotFound, "cannot open " + wish.path + ": " + system_reason(errno), "run: notifyctl init");
    }
    const std::string parent = parent_of(wish.path);
    if (wish.create_parent) TRY(make_directories(parent));
    if (::access(parent.c_str(), F_OK) != 0) return cannot_create(wish.path, errno);
    TRY_ASSIGN(const FileSystem there, filesystem_of(parent, wish.fake_filesystem));
    TRY(require_local(there, wish.path, wish.allow_fuse));
    TRY_ASSIGN(location.created, make_file(wish.path));
    if (::stat(wish.path.c_str(), &info) != 0) return cannot_create(wish.path, errno);
  }
  if (!S_ISREG(info.st_mode)) return fail(Code::kConfig, "cannot use " + wish.path + ": it is not a regular file");
  TRY_ASSIGN(location.path, true_path(wish.path));
  TRY_ASSIGN(location.filesystem, filesystem_of(location.path, wish.fake_filesystem));
  TRY(require_local(location.filesystem, location.path, wish.allow_fuse));
  return location;
}

bool may(const std::string& path, int mode) { return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0; }

// Says no before SQLite makes files beside the database that its owner could not write. Reading through files that exist
// already leaves nothing behind. (As root, SQLite gives such files to the database's owner.)
Result<void> check_access(const std::string& path, bool read_only) {
  if (may(path, R_OK | W_OK)) return {};
  const bool can_look = read_only && may(path, R_OK) && may(path + "-wal", R_OK) && may(path + "-shm", R_OK);
  if (can_look) return {};
  return fail(sqlite::permission_denied("cannot open", path));
}

// Nobody's database yet: made by us or by a process that started at the same moment, or an empty file.
Result<bool> is_blank(Database& database) {
  TRY_ASSIGN(const std::int64_t objects,
             database.integer("SELECT count(*) FROM sqlite_master -- may scan: the schema"));
  return objects == 0;
}

Result<std::string> journal_mode(Database& database) { return database.text("PRAGMA journal_mode"); }

// Needs the file for itself for a moment; SQLite does not always wait for that.
Result<void> switch_to_wal(Database& database, Duration busy_timeout) {
  const auto deadline = std::chrono::steady_clock::now() + busy_timeout;
  while (true) {
    database.forget_busy();
    const Result<std::string> mode = database.text("PRAGMA journal_mode = WAL");
    if (mode && *mode == "wal") return {};
    if (mode) return fail(Code::kConfig, "cannot use " + database.path() + ": its journal mode stays " + *mode);
    if (!database.was_busy() || std::chrono::steady_clock::now() >= deadline) return fail(mode.error());
    sqlite::nap(true);
  }
}

// Whether it was in use, and is not in WAL mode any more.
Result<bool> is_copy(Database& database) {
  TRY_ASSIGN(const int version, schema_version(database));
  if (version == 0) return false;
  TRY_ASSIGN(const FenceState state, read_fence(database));
  return state.copy;
}

Result<void> require_wal(Database& database) {
  TRY_ASSIGN(const std::string mode, journal_mode(database));
  if (mode == "wal") return {};
  return fail(Code::kConfig, "cannot use " + database.path() + ": its journal mode is " + mode + ", it must be WAL",
              "run: notifyctl --db " + database.path() + " init --wal");
}

tl::unexpected<Error> no_tables(const std::string& path) {
  return fail(Code::kConfig, "cannot use " + path + ": it has no notification tables",
              "run: notifyctl --db " + path + " init");
}

Result<void> require_schema(Database& database, bool read_only) {
  TRY_ASSIGN(const int version, schema_version(database));
  if (version == 0) return no_tables(database.path());
  if (version > newest_schema()) return newer_schema(database.path(), version);
  if (version == newest_schema()) return {};
  if (read_only) {
    return fail(Code::kConfig, "cannot use " + database.path() + ": its tables are of an older version",
                "run: notifyctl --db " + database.path() + " init");
  }
  TRY(migrate(database, std::string(kDefaultSource)));
  return {};
}

bool valid_source(std::string_view source) {
  return !source.empty() && source.size() <= 60 &&
         source.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> open_store(const OpenOptions& options) {
  TRY_ASSIGN(const Location location, locate({options.path, options.create && !options.read_only, options.create_parent,
                                              options.allow_fuse, options.fake_filesystem}));
  TRY(check_access(location.path, options.read_only));
  TRY_ASSIGN(std::unique_ptr<Database> database,
             Database::connect(location.path, {options.read_only, options.busy_timeout, !options.trusted_inserts}));
  TRY_ASSIGN(const bool blank, is_blank(*database));
  if (blank && options.create && !options.read_only) {
    TRY(switch_to_wal(*database, options.busy_timeout));
    TRY(migrate(*database, std::string(kDefaultSource)));
  } else {
    TRY(require_schema(*database, options.read_only));
    if (!options.read_only) {  // who only looks may look at anything
      TRY(require_fence(*database));
      TRY(require_wal(*database));
    }
  }
  return std::make_unique<SqliteStore>(
      std::move(database), StoreSettings{options.busy_timeout, options.commit_gap, location.filesystem.name});
}

Result<InitReport> init_database(const InitOptions& options) {
  if (options.source && !valid_source(*options.source)) {
    return fail(Code::kUsage, "invalid source \"" + *options.source + "\": it must match [a-z0-9-]{1,60}",
                "small letters, digits and - only, for example \"shop\"");
  }
  TRY_ASSIGN(const Location location,
             locate({options.path, true, options.create_parent, options.allow_fuse, options.fake_filesystem}));
  TRY(check_access(location.path, false));
  TRY_ASSIGN(const std::unique_ptr<Database> database,
             Database::connect(location.path, {false, options.busy_timeout, true}));
  TRY_ASSIGN(const bool blank, is_blank(*database));
  InitReport report;
  if (!blank && options.wal) {
    TRY_ASSIGN(report.was_copy, is_copy(*database));
  }
  if (report.was_copy && !options.after_restore) TRY(require_fence(*database));
  if (blank || options.wal) TRY(switch_to_wal(*database, options.busy_timeout));
  TRY_ASSIGN(const Migrated migrated, migrate(*database, options.source.value_or(std::string(kDefaultSource))));
  if (migrated.from != migrated.to)
    TRY(database->execute("PRAGMA wal_checkpoint(PASSIVE)"));  // the file alone is whole

  report.path = location.path;
  report.created_file = location.created;
  report.created_schema = migrated.from == 0;
  report.migrated_from = migrated.from == migrated.to ? 0 : migrated.from;
  report.schema = migrated.to;
  TRY_ASSIGN(report.journal_mode, journal_mode(*database));
  TRY_ASSIGN(const MessageIds ids, MessageIds::load(*database));
  report.source = ids.source();
  report.generation = ids.newest_generation();
  if (options.source && *options.source != report.source) {
    return fail(
        Code::kConflict,
        "cannot change the source of " + location.path + ": it is " + report.source + ", and part of every message id",
        "leave --source out, or make another database");
  }
  return report;
}

std::string sqlite_library_version() { return sqlite3_libversion(); }

}  // namespace notify

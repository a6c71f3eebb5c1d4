#include "store/fence.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "store/sqlite/statement.hpp"

namespace notify {
namespace {

constexpr std::string_view kMark = "notifyctl-fence ";
constexpr std::size_t kLength = 36;  // the mark, 19 digits, a line end: within one sector, so never half written

std::string fence_path(const std::string& database_path) { return database_path + "-fence"; }

// An open file that closes itself.
class File {
 public:
  explicit File(int fd) noexcept : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

bool is_ours(const std::string& path) noexcept {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

tl::unexpected<Error> failed(const std::string& what, const std::string& path, int error_number) {
  const Code code = system_code(error_number, Code::kIo);
  return fail(code, what + " " + path + ": " + system_reason(error_number),
              code == Code::kPermission
                  ? (is_ours(path) ? "chmod 600 " + path : "run notifyctl as the user who owns the database")
              : error_number == EMFILE ? "raise the limit on open files: ulimit -n, or LimitNOFILE= of the service"
                                       : "");
}

// A file made by root beside somebody else's database belongs to that somebody.
void give_to_owner_of(int fd, const std::string& database_path) noexcept {
  struct stat database {};
  if (::geteuid() != 0 || ::stat(database_path.c_str(), &database) != 0) return;
  if (::fchown(fd, database.st_uid, database.st_gid) != 0) return;  // then its owner gets a clear kPermission
}

Result<std::int64_t> read_number(int fd, const std::string& path) {
  char text[kLength + 1] = {};
  const ssize_t got = ::pread(fd, text, kLength, 0);
  if (got < 0) return failed("cannot read", path, errno);
  if (got == 0) return 0;  // just made, by somebody who died before he wrote
  const std::string_view line(text, static_cast<std::size_t>(got));
  std::int64_t number = 0;
  const char* const end = line.data() + kLength - 1;
  const bool whole = line.size() == kLength && line.starts_with(kMark) && line.back() == '\n';
  const auto [stop, error] = std::from_chars(line.data() + kMark.size(), end, number);
  if (!whole || error != std::errc{} || stop != end) {
    return fail(Code::kConfig, "cannot use " + path + ": it is not a fence file",
                "if a backup was restored: notifyctl init --after-restore");
  }
  return number;
}

Result<void> write_number(int fd, const std::string& path, std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text(kMark);
  text.append(kLength - 1 - kMark.size() - digits.size(), '0').append(digits).append(1, '\n');
  const ssize_t put = ::pwrite(fd, text.data(), kLength, 0);
  if (put != static_cast<ssize_t>(kLength)) return failed("cannot write", path, put < 0 ? errno : ENOSPC);
  if (::fdatasync(fd) != 0) return failed("cannot write", path, errno);
  return {};
}

void sync_directory_of(const std::string& path) noexcept {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const File directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) static_cast<void>(::fsync(directory.fd()));  // some file systems cannot sync directories
}

}  // namespace

Result<void> raise_fence(const std::string& database_path, std::int64_t run_id) {
  const std::string path = fence_path(database_path);
  bool made = false;
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) {
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    made = true;
  }
  const File file(fd);
  if (!file) return failed("cannot open", path, errno);
  if (made) {
    ::fchmod(file.fd(), 0600);  // whatever the umask was
    give_to_owner_of(file.fd(), database_path);
  }
  // Two runs that begin together write one after the other, so that the larger number stays.
  while (::flock(file.fd(), LOCK_EX) != 0)
    if (errno != EINTR) return failed("cannot lock", path, errno);
  TRY_ASSIGN(const std::int64_t there, read_number(file.fd(), path));
  if (there >= run_id) return {};
  TRY(write_number(file.fd(), path, run_id));
  if (made) sync_directory_of(path);
  return {};
}

void forget_fence(const std::string& database_path) noexcept { ::unlink(fence_path(database_path).c_str()); }

Result<FenceState> read_fence(sqlite::Database& database) {
  FenceState state;
  // The file first: a run that begins meanwhile is in the database before it is in the file.
  const std::string path = fence_path(database.path());
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno != ENOENT) return failed("cannot open", path, errno);
  if (file) {
    TRY_ASSIGN(state.fence, read_number(file.fd(), path));
  }
  TRY_ASSIGN(sqlite::Use query, database.use(R"sql(
    SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'notification_run'), 0),
           EXISTS (SELECT 1 FROM notification_meta WHERE key = 'fence')
           -- may scan: sqlite_sequence has two rows)sql"));
  TRY(query.row());
  state.newest_run = query.integer(0);
  state.has_run = query.flag(1);
  if (state.has_run) {
    TRY_ASSIGN(const std::string mode, database.text("PRAGMA journal_mode"));
    state.copy = mode != "wal";
  }
  return state;
}

Result<void> require_fence(sqlite::Database& database) {
  TRY_ASSIGN(const FenceState state, read_fence(database));
  if (!state.restored()) return {};
  const std::string path = fence_path(database.path());
  const bool older = state.fence && *state.fence > state.newest_run;
  if (state.copy && !older) {
    return fail(
        Code::kConfig,
        "cannot use " + database.path() +
            ": it is a copy of a database that was in use (it is not in WAL mode), and what it calls unsent may "
            "have been sent",
        "if a backup was restored: notifyctl init --after-restore; if it is the original, whose mode was changed: "
        "sqlite3 " +
            database.path() + " 'PRAGMA journal_mode=WAL'");
  }
  if (!state.fence) {
    return fail(Code::kConfig,
                "cannot use " + database.path() + ": " + path +
                    " is missing, so it cannot be told whether this is an old copy of the database",
                "if the database was moved, move its -fence file along; if a backup was restored: "
                "notifyctl init --after-restore");
  }
  return fail(Code::kConfig,
              "cannot use " + database.path() + ": it is an older copy of itself (its newest run is " +
                  std::to_string(state.newest_run) + ", " + path + " knows of run " + std::to_string(*state.fence) +
                  "), and what it calls unsent may have been sent",
              "stop everything that uses it, then run: notifyctl init --after-restore");
}

}  // namespace notify

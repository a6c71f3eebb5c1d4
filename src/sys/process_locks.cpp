#include "sys/process_locks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sys/files.hpp"

namespace notify {
namespace {

// Jobs lock bytes far above every run id.
constexpr std::int64_t kFirstJobByte = std::int64_t{1} << 62;

std::int64_t byte_of(SingleJob job) noexcept { return kFirstJobByte + static_cast<std::int64_t>(job); }

struct flock lock_of(std::int64_t byte, short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

bool same_file(int fd, const std::string& path) noexcept {
  struct stat ours {};
  struct stat theirs {};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

}  // namespace

ProcessLocks::ProcessLocks(const std::string& database_path)
    : path_(resolved_path(database_path) + "-procs"), database_path_(database_path) {}

ProcessLocks::~ProcessLocks() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> ProcessLocks::open_file() {
  if (fd_ >= 0) return {};
  Fd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) {
    fd = Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd) {
      ::fchmod(fd.get(), 0600);  // whatever the umask was
      give_to_owner_of(fd.get(), database_path_);
    } else if (errno == EEXIST) {
      fd = Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    }
  }
  if (!fd) return fail(file_error("cannot open the lock file '" + path_ + "'", errno));
  fd_ = fd.release();
  return {};
}

// Whether the byte could be locked; false when somebody else has it.
Result<bool> ProcessLocks::lock_byte(std::int64_t byte) {
  struct flock lock = lock_of(byte, F_WRLCK);
  while (::fcntl(fd_, F_OFD_SETLK, &lock) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EACCES) return false;
    return fail(file_error("cannot lock '" + path_ + "'", errno));
  }
  held_.insert(byte);
  return true;
}

Result<void> ProcessLocks::hold(std::int64_t run_id) {
  ASSERT(run_id >= 0 && run_id < kFirstJobByte);
  const std::lock_guard guard(mutex_);
  TRY(open_file());
  TRY_ASSIGN(const bool locked, lock_byte(run_id));
  if (!locked) return fail(Code::kBusy, "run " + std::to_string(run_id) + " is held by another process");
  return {};
}

bool ProcessLocks::alive(std::int64_t run_id) {
  if (run_id < 0 || run_id >= kFirstJobByte) return true;
  const std::lock_guard guard(mutex_);
  if (held_.contains(run_id)) return true;  // the kernel does not report our own locks
  if (fd_ < 0) {
    // Nobody holds a byte of a file that does not exist. Never created here: asking must leave nothing behind.
    fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd_ < 0) return errno != ENOENT;
  }
  struct flock lock = lock_of(run_id, F_WRLCK);
  if (::fcntl(fd_, F_OFD_GETLK, &lock) != 0) return true;
  return lock.l_type != F_UNLCK;
}

bool ProcessLocks::anyone() {
  const std::lock_guard guard(mutex_);
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd_ < 0) return errno != ENOENT;
  struct flock lock = lock_of(0, F_WRLCK);
  lock.l_len = kFirstJobByte;
  return ::fcntl(fd_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

Result<bool> ProcessLocks::try_job(SingleJob job) {
  const std::lock_guard guard(mutex_);
  TRY(open_file());
  return lock_byte(byte_of(job));
}

void ProcessLocks::release_job(SingleJob job) {
  const std::lock_guard guard(mutex_);
  if (held_.erase(byte_of(job)) == 0) return;
  struct flock lock = lock_of(byte_of(job), F_UNLCK);
  ::fcntl(fd_, F_OFD_SETLK, &lock);
}

Result<void> ProcessLocks::refresh() {
  const std::lock_guard guard(mutex_);
  if (fd_ < 0 || same_file(fd_, path_)) return {};
  const Fd old(std::exchange(fd_, -1));
  const std::set<std::int64_t> bytes = std::exchange(held_, {});
  TRY(open_file());
  for (const std::int64_t byte : bytes) {
    TRY_ASSIGN(const bool locked, lock_byte(byte));
    if (!locked) return fail(Code::kBusy, "a lock of this process in '" + path_ + "' was taken by another");
  }
  return {};
}

}  // namespace notify

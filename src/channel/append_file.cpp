#include "channel/append_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/outcome.hpp"

namespace notify {
namespace {

// Symbolic links are not followed: in a directory that others may write to, one could lead anywhere.
constexpr int kOpenFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

// How often a file may be rotated away between open() and flock() before we give up.
constexpr int kMaxReopens = 10;

AppendResult unchanged(std::string what, int error) {
  return {AppendState::kUnchanged, std::move(what) + ": " + std::system_category().message(error), is_shortage(error)};
}
AppendResult unchanged(std::string what) { return {AppendState::kUnchanged, std::move(what)}; }
AppendResult uncertain(std::string what, int error) {
  return {AppendState::kUncertain, std::move(what) + ": " + std::system_category().message(error)};
}
constexpr auto ok = [] { return AppendResult{AppendState::kDurable, {}}; };

// errno of the failed call, or 0. `written` says how much got into the file in any case.
int write_all(int fd, std::string_view bytes, off_t& written) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return EIO;
    written += n;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int sync_data(int fd) {
  while (::fdatasync(fd) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

bool ends_within_line(int fd, off_t size) {
  char last = '\n';
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

// Gives the file its former length back. Only if nobody else appended meanwhile: programs that do not take
// the lock may, and their lines are not ours to cut off.
AppendResult take_back(int fd, off_t before, off_t written, std::string what, int error) {
  what += ": " + std::system_category().message(error);
  struct stat now {};
  if (::fstat(fd, &now) != 0) return uncertain(what + "; then cannot look at it", errno);
  if (now.st_size != before + written)
    return {AppendState::kUncertain, what + "; not taken back, as another program has written to it since"};
  if (written > 0) {
    if (::ftruncate(fd, before) != 0) return uncertain(what + "; then cannot shorten it", errno);
    if (::fsync(fd) != 0) return uncertain(what + "; then cannot sync it", errno);
  }
  return unchanged(what);
}

}  // namespace

AppendResult append_lines(int fd, std::string_view lines) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return unchanged("cannot look at it", errno);
  const off_t before = status.st_size;
  std::string mended;
  if (ends_within_line(fd, before)) {
    mended.append(1, '\n').append(lines);
    lines = mended;
  }
  off_t written = 0;
  if (const int error = write_all(fd, lines, written); error != 0)
    return take_back(fd, before, written, "cannot write to it", error);
  if (const int error = sync_data(fd); error != 0) return take_back(fd, before, written, "cannot sync it", error);
  return ok();
}

AppendResult AppendFile::append(std::string_view lines) {
  if (AppendResult locked = lock(); locked.state != AppendState::kDurable) return locked;
  AppendResult result = append_lines(fd_, lines);
  ::flock(fd_, LOCK_UN);
  return result;
}

AppendResult AppendFile::lock() {
  for (int tries = 0; tries < kMaxReopens; ++tries) {
    if (fd_ < 0) {
      if (AppendResult opened = open(); opened.state != AppendState::kDurable) return opened;
    }
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return {AppendState::kBusy, "another process holds its lock"};
      return unchanged("cannot lock it", errno);
    }
    if (is_named()) return ok();
    close();
  }
  return unchanged("it is replaced again and again while being opened");
}

AppendResult AppendFile::open() {
  fd_ = ::open(path_.c_str(), kOpenFlags);
  if (fd_ < 0 && errno == ENOENT) return create();
  if (fd_ < 0 && errno == ELOOP) return unchanged("it is a symbolic link: configure the path that it leads to");
  if (fd_ < 0) return unchanged("cannot open it", errno);
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close();
    return unchanged("it is not a regular file");
  }
  return ok();
}

AppendResult AppendFile::create() {
  fd_ = ::open(path_.c_str(), kOpenFlags | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (fd_ < 0 && errno == EEXIST) return open();  // somebody was faster
  if (fd_ < 0) return unchanged("cannot create it", errno);
  ::fchmod(fd_, S_IRUSR | S_IWUSR);  // whatever the umask
  // A synced line in a file whose name is lost in a power cut would be lost as well.
  const std::string directory = std::filesystem::path(path_).parent_path();
  const int dir = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = dir < 0 || ::fsync(dir) != 0 ? errno : 0;
  if (dir >= 0) ::close(dir);
  if (error == 0 || error == EACCES) return ok();  // a directory that may be written but not read
  close();
  return unchanged("cannot sync its directory", error);
}

bool AppendFile::is_named() const {
  struct stat ours {};
  struct stat named {};
  return ::fstat(fd_, &ours) == 0 && ::lstat(path_.c_str(), &named) == 0 && ours.st_dev == named.st_dev &&
         ours.st_ino == named.st_ino;
}

void AppendFile::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace notify

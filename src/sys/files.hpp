#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

// Owns a descriptor. All descriptors of the program are close-on-exec.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept;
  void reset() noexcept;

 private:
  int fd_ = -1;
};

// What to do when there are no descriptors left.
inline constexpr const char* kMoreDescriptors =
    "raise the limit on open files: ulimit -n, or LimitNOFILE= of the service";

// The Error of a failed system call on a file: its code from errno (kPermission, kDiskFull, kNotFound, kIo …), its
// message "what: reason".
Error file_error(std::string_view what, int error_number);
// The same for input, which may be closed (EBADF: see prepare_process).
Error input_error(std::string_view what, int error_number);

// The path behind symbolic links, as SQLite resolves the database's: its companions ("-wal", "-procs") lie beside that
// file. What does not exist yet is resolved as far as its directory; what cannot be resolved comes back unchanged.
std::string resolved_path(const std::string& path);

// A file that is written piece by piece under a name of its own and then takes its place whole: after a crash there is
// the one before, or all of this one. Removed unless put() succeeds.
class NewFile {
 public:
  // Made in the directory of `path`.
  static Result<NewFile> beside(const std::string& path, mode_t mode = 0600);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  Result<void> write(std::string_view bytes);
  int fd() const noexcept { return fd_.get(); }
  // Syncs, renames, syncs the directory. `path` is in the same directory.
  Result<void> put(const std::string& path);

 private:
  NewFile(Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}
  Fd fd_;
  std::string name_;
};

// Puts `bytes` at `path` so that after a crash there is either the old file or the whole new one: writes a file beside
// it, syncs, renames, syncs the directory. An existing file's place is taken, a symbolic link's too.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes, mode_t mode = 0600);

// A file or directory made by root beside somebody else's database belongs to that somebody, so that the service is not
// locked out by what an operator did. Nothing for other users.
void give_to_owner_of(int fd, const std::string& database_path) noexcept;

// The whole file; kBadInput when it is larger than `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

// A file that holds one secret. kPermission when group or others may read or write it. One newline (LF or CRLF) at its
// end is not part of the secret. An empty secret is kConfig. Error messages name the file, never its content.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace notify

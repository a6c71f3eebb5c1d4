#pragma once

// A file that several processes append whole lines to.

#include <string>
#include <string_view>
#include <utility>

namespace notify {

enum class AppendState {
  kDurable,    // all of it is in the file and on the disk
  kUnchanged,  // nothing of it is in the file, and that is on the disk too
  kUncertain,  // some of it may be in the file
  kBusy,       // another process holds the file's lock; nothing was tried
};

struct AppendResult {
  AppendState state = AppendState::kUncertain;
  std::string error{};    // why it is not durable: "cannot open it: Permission denied"
  bool shortage = false;  // kUnchanged because this process or machine has no descriptors left
};

// One thread at a time. Processes are kept apart by an exclusive flock(2) on the file itself, which the
// kernel drops when its holder dies.
class AppendFile {
 public:
  explicit AppendFile(std::string path) : path_(std::move(path)) {}
  ~AppendFile() { close(); }
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // Appends `lines` (whole lines, each with its line end) by one write and one fdatasync. The file is created
  // with mode 0600, and opened again when the path has come to name another one (rotation). When the write
  // fails, the file gets its former length back. A line that some process left unfinished is ended first.
  // Blocks for the disk, never for another process.
  AppendResult append(std::string_view lines);

 private:
  AppendResult lock();  // kDurable: fd_ is the file that the path names, and locked
  AppendResult open();
  AppendResult create();
  bool is_named() const;  // does the path still name the file behind fd_?
  void close() noexcept;

  std::string path_;
  int fd_ = -1;
};

// The part of append() that knows nothing of paths: `fd` is open for reading and appending, and locked.
AppendResult append_lines(int fd, std::string_view lines);

}  // namespace notify

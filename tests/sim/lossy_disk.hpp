#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>

#include "core/ports/random.hpp"

namespace notify::sim {

// A disk below SQLite that may lose what was written and not synced, and that can refuse a call. While the object lives
// it is SQLite's default VFS, over the one that was the default before; nothing is really synced, so it is fast. One
// thread.
class LossyDisk {
 public:
  LossyDisk();
  ~LossyDisk();
  LossyDisk(const LossyDisk&) = delete;
  LossyDisk& operator=(const LossyDisk&) = delete;

  // The power fails in two steps. From cut() on nothing is written any more: close every connection now.
  void cut();
  // What was written since the last sync of its file is undone, but for a random part: disks write in any order, and whole
  // sectors only.
  void restore(Random& random);

  // The n-th write, truncation or sync from now on fails, once, as a full or broken disk does; 0: none does.
  void fail_at(int nth, int sqlite_error = SQLITE_FULL);
  bool has_failed() const noexcept;  // since the last fail_at

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify::sim

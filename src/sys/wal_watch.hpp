#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/ports/loop.hpp"

namespace notify {

// Wakes the loop when another connection may have committed to a SQLite database in WAL mode, by watching the file
// "<database>-wal" with inotify; no wake-ups while nothing is written. Never opens the database. Survives that the WAL
// is deleted and made again. Where inotify is not to be had it calls once a second instead.
//
// SQLite writes the WAL, syncs it, and only then makes the commit visible, in shared memory where nothing can be
// watched. So after a write `changed` is called several times, at growing distances over about a second. A caller
// should look at PRAGMA data_version and be ready to find nothing. Own commits wake as well.
class WalWatch {
 public:
  WalWatch(Loop& loop, const std::string& database_path, std::function<void()> changed);
  ~WalWatch();
  WalWatch(const WalWatch&) = delete;
  WalWatch& operator=(const WalWatch&) = delete;

  // A change has been seen: the quick looks are left out. The slow ones still come, because the writes told of until
  // now may belong to a second commit, which is not visible yet.
  void settled();
  // False: inotify was not to be had, it calls once a second.
  bool watching() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify

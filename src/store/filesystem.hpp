#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"

namespace notify {

// Where a database may live. Its log works through shared memory and byte locks, which network file systems do not have or
// only pretend to have: two hosts that share one destroy it.
struct FileSystem {
  long type = 0;       // f_type of statfs(2)
  std::string name{};  // "ext4", "nfs", "0x…" when unknown
  bool network = false;
  bool fuse = false;  // may be anything, a network file system among others
};

FileSystem describe_filesystem(long type);

// Of an existing file or directory; `fake` replaces the answer (for tests).
Result<FileSystem> filesystem_of(const std::string& path, std::optional<long> fake);

// Fails with kConfig when the database may not live there. Overlay file systems are let through: containers have them, and
// one host's processes see one file; a lower layer must not be shared by running containers.
Result<void> require_local(const FileSystem& filesystem, const std::string& path, bool allow_fuse);

}  // namespace notify

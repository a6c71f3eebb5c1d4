#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify::sqlite {

struct Failure {
  int rc = 0;            // extended result code
  int system_errno = 0;  // of the system call that failed, if any
  std::string_view why{};
  std::string_view what{};  // "cannot write to"
  const std::string& path;
};

// What a failed operation means for people: what failed on which file, why, and what to do. For permissions the file
// that is in the way (of database, -wal, -shm and directory) is named with its owner and the current user.
Error describe_failure(const Failure& failure);

// The kPermission error for a file which this process may not open.
Error permission_denied(std::string_view what, const std::string& path);

}  // namespace notify::sqlite

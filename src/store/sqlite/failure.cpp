#include "store/sqlite/failure.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace notify::sqlite {
namespace {

std::string parent_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool accessible(const std::string& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 || errno == ENOENT;
}

std::string owner_text(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path + " cannot be looked at";
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), " belongs to user id %lu (mode %04o), this is user id %lu",
                static_cast<unsigned long>(info.st_uid), info.st_mode & 07777U, static_cast<unsigned long>(geteuid()));
  return path + text.data();
}

// The first file that this process may not read and write; the database itself when all may be.
std::string culprit(const std::string& path) {
  for (const std::string& file : {path, path + "-wal", path + "-shm"})
    if (!accessible(file, R_OK | W_OK)) return file;
  const std::string directory = parent_directory(path);
  return accessible(directory, W_OK | X_OK) ? path : directory;
}

bool is_own(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && info.st_uid == geteuid();
}

bool no_space(int error_number) { return error_number == ENOSPC || error_number == EDQUOT; }

Error disk_full(const Failure& failure) {
  // Reading needs no room: what failed is the write that a commit or the index of the log asked for.
  return {Code::kDiskFull,
          "cannot write to " + failure.path + ": no space left",
          "make room on this file system, then run the command again; what was acknowledged before is safe",
          {},
          {}};
}

}  // namespace

Error permission_denied(std::string_view what, const std::string& path) {
  struct statvfs filesystem {};
  if (::statvfs(path.c_str(), &filesystem) == 0 && (filesystem.f_flag & ST_RDONLY) != 0) {
    return {Code::kPermission, std::string(what) + " " + path + ": its file system is mounted read-only",
            "mount it for writing; status, list and show work as it is"};
  }
  const std::string file = culprit(path);
  if (accessible(file, R_OK | W_OK) && accessible(parent_directory(path), W_OK)) {
    return {Code::kPermission,
            std::string(what) + " " + path + ": the file system or the file is read-only",
            "make it writable, or put the database elsewhere with --db",
            {},
            {}};
  }
  if (is_own(file)) {
    return {Code::kPermission,
            std::string(what) + " " + path + ": " + file + " is read-only for its owner",
            "chmod u+w " + file,
            {},
            {}};
  }
  return {Code::kPermission, std::string(what) + " " + path + ": " + owner_text(file),
          "run notifyctl as the user who owns the database; it needs write access to the file and its directory"};
}

Error describe_failure(const Failure& failure) {
  const std::string subject = std::string(failure.what) + " " + failure.path + ": ";
  const std::string why(failure.why);
  switch (failure.rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::kBusy, subject + "another program keeps the database locked",
              "try again; a program that leaves a transaction open holds up all others"};
    case SQLITE_FULL: return disk_full(failure);
    case SQLITE_IOERR:
      if (no_space(failure.system_errno)) return disk_full(failure);
      if (failure.system_errno == EACCES || failure.system_errno == EPERM || failure.system_errno == EROFS)
        return permission_denied(failure.what, failure.path);
      return {
          Code::kIo,
          subject + why + (failure.system_errno != 0 ? " (error " + std::to_string(failure.system_errno) + ")" : ""),
          "look at the disk and the system log"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return permission_denied(failure.what, failure.path);
    case SQLITE_CANTOPEN:
      if (no_space(failure.system_errno)) return disk_full(failure);
      if (access(failure.path.c_str(), F_OK) != 0 && errno == ENOENT)
        return {Code::kNotFound, subject + "there is no such file", "run: notifyctl init"};
      if (failure.system_errno == EMFILE || failure.system_errno == ENFILE)
        return {Code::kIo, subject + "too many open files",
                "raise the limit on open files: ulimit -n, or LimitNOFILE= of the service"};
      return permission_denied(failure.what, failure.path);
    case SQLITE_CORRUPT:
      return {Code::kIo, subject + "the database is damaged: " + why,
              "stop all programs that use it, keep a copy, restore a backup, then: notifyctl init --after-restore"};
    case SQLITE_NOTADB:
      return {Code::kConfig, subject + "the file is not an SQLite database", "give another file with --db"};
    case SQLITE_PROTOCOL:
      return {Code::kIo, subject + "its locks do not work",
              "keep the database on a local file system; network file systems cannot hold it"};
    case SQLITE_NOMEM:  // as passing as a full disk: what waits to be written is kept
      return {Code::kIo, subject + "out of memory", "give this process more (ulimit -v, MemoryMax= of the service)"};
    case SQLITE_TOOBIG: return {Code::kBadInput, subject + why, {}};
    default: return {Code::kInternal, subject + why + " (SQLite " + std::to_string(failure.rc) + ")", {}};
  }
}

}  // namespace notify::sqlite

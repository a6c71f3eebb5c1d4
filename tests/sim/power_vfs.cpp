#include "sim/power_vfs.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace notify::sim {
namespace {

// What a region held before it was written.
struct Undo {
  off_t offset = 0;
  std::string bytes{};
  off_t size = 0;  // of the file
};

std::map<std::string, std::vector<Undo>>& unsynced() {
  static auto& all = *new std::map<std::string, std::vector<Undo>>();
  return all;
}

bool off = false;

struct File {
  sqlite3_file base;
  const std::string* path;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& file_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

void remember(File& file, sqlite3_int64 offset, int amount) {
  Undo undo;
  undo.offset = static_cast<off_t>(offset);
  sqlite3_int64 size = 0;
  file.real()->pMethods->xFileSize(file.real(), &size);
  undo.size = static_cast<off_t>(size);
  const sqlite3_int64 there = std::min<sqlite3_int64>(amount, std::max<sqlite3_int64>(0, size - offset));
  undo.bytes.resize(static_cast<std::size_t>(there));
  if (there > 0) file.real()->pMethods->xRead(file.real(), undo.bytes.data(), static_cast<int>(there), offset);
  unsynced()[*file.path].push_back(std::move(undo));
}

int on_close(sqlite3_file* f) { return file_of(f).real()->pMethods->xClose(file_of(f).real()); }
int on_read(sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
  return file_of(f).real()->pMethods->xRead(file_of(f).real(), to, n, at);
}
int on_write(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  if (off) return SQLITE_OK;
  remember(file_of(f), at, n);
  return file_of(f).real()->pMethods->xWrite(file_of(f).real(), from, n, at);
}
int on_truncate(sqlite3_file* f, sqlite3_int64 size) {
  if (off) return SQLITE_OK;
  sqlite3_int64 now = 0;
  file_of(f).real()->pMethods->xFileSize(file_of(f).real(), &now);
  remember(file_of(f), size, static_cast<int>(std::max<sqlite3_int64>(0, now - size)));
  return file_of(f).real()->pMethods->xTruncate(file_of(f).real(), size);
}
int on_sync(sqlite3_file* f, int) {
  if (!off) unsynced()[*file_of(f).path].clear();  // the machine's memory stands for its disk
  return SQLITE_OK;
}
int on_size(sqlite3_file* f, sqlite3_int64* size) {
  return file_of(f).real()->pMethods->xFileSize(file_of(f).real(), size);
}
int on_lock(sqlite3_file* f, int how) { return file_of(f).real()->pMethods->xLock(file_of(f).real(), how); }
int on_unlock(sqlite3_file* f, int how) { return file_of(f).real()->pMethods->xUnlock(file_of(f).real(), how); }
int on_reserved(sqlite3_file* f, int* out) {
  return file_of(f).real()->pMethods->xCheckReservedLock(file_of(f).real(), out);
}
int on_control(sqlite3_file* f, int op, void* arg) {
  return file_of(f).real()->pMethods->xFileControl(file_of(f).real(), op, arg);
}
int on_sector(sqlite3_file* f) { return file_of(f).real()->pMethods->xSectorSize(file_of(f).real()); }
int on_device(sqlite3_file* f) { return file_of(f).real()->pMethods->xDeviceCharacteristics(file_of(f).real()); }
int on_shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
  return file_of(f).real()->pMethods->xShmMap(file_of(f).real(), page, size, extend, out);
}
int on_shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  return file_of(f).real()->pMethods->xShmLock(file_of(f).real(), offset, n, flags);
}
void on_shm_barrier(sqlite3_file* f) { file_of(f).real()->pMethods->xShmBarrier(file_of(f).real()); }
int on_shm_unmap(sqlite3_file* f, int del) { return file_of(f).real()->pMethods->xShmUnmap(file_of(f).real(), del); }

const sqlite3_io_methods kMethods{2,         on_close,   on_read,     on_write,       on_truncate,  on_sync,
                                  on_size,   on_lock,    on_unlock,   on_reserved,    on_control,   on_sector,
                                  on_device, on_shm_map, on_shm_lock, on_shm_barrier, on_shm_unmap, nullptr,
                                  nullptr};

sqlite3_vfs* real_vfs = nullptr;

int on_open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
  File& file = file_of(f);
  file.base.pMethods = nullptr;
  const int rc = real_vfs->xOpen(real_vfs, name, file.real(), flags, out);
  if (rc != SQLITE_OK) return rc;
  static const std::string& kNameless = *new std::string();
  file.path = name == nullptr ? &kNameless : &unsynced().try_emplace(name).first->first;
  file.base.pMethods = &kMethods;
  return SQLITE_OK;
}

// What is deleted stays deleted: SQLite deletes a log only after it was checkpointed and synced.
int on_delete(sqlite3_vfs*, const char* name, int sync) {
  if (off) return SQLITE_OK;
  unsynced()[name].clear();
  return real_vfs->xDelete(real_vfs, name, sync);
}

void undo(const std::string& path, const std::vector<Undo>& writes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;  // deleted meanwhile
  for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
    const ssize_t put = ::pwrite(fd, write->bytes.data(), write->bytes.size(), write->offset);
    if (put != static_cast<ssize_t>(write->bytes.size()) || ::ftruncate(fd, write->size) != 0)
      throw std::runtime_error("cannot take back a write to " + path);
  }
  ::close(fd);
}

}  // namespace

void install_power_vfs() {
  if (real_vfs != nullptr) return;
  real_vfs = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs vfs = *real_vfs;
  vfs.zName = "power";
  vfs.szOsFile = static_cast<int>(sizeof(File)) + real_vfs->szOsFile;
  vfs.xOpen = on_open;
  vfs.xDelete = on_delete;
  sqlite3_vfs_register(&vfs, 1);
}

void power_off() { off = true; }

void power_on() {
  for (auto& [path, writes] : unsynced()) {
    undo(path, writes);
    writes.clear();
  }
  off = false;
}

}  // namespace notify::sim

#include "sim/lossy_disk.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace notify::sim {
namespace {

constexpr sqlite3_int64 kSector = 512;

// A change that has not been synced: enough to take it back, and to make it again.
struct Change {
  sqlite3_int64 at = 0;
  std::string before{};           // what was there, up to the end of the file
  std::string after{};            // a write; a truncation has none
  sqlite3_int64 size_before = 0;  // of the file
};

struct Image {
  std::vector<Change> unsynced{};
};

}  // namespace

struct LossyDisk::Impl {
  sqlite3_vfs vfs{};
  sqlite3_vfs* system = nullptr;
  sqlite3_io_methods methods{};
  std::map<std::string, Image> images{};  // the database and its log, by path
  bool is_cut = false;
  int fail_in = 0;
  int error = SQLITE_FULL;
  bool failed = false;

  Impl();
  // SQLITE_OK, or the error of a call that may not be done.
  int refused();
  void restore(const std::string& path, Image& image, Random& random);
};

namespace {

// SQLite allocates it, and the file below right behind it.
struct File {
  sqlite3_file base;
  LossyDisk::Impl* disk;
  Image* image;  // null: a file that is passed through
  sqlite3_file* below() noexcept { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& file_of(sqlite3_file* file) noexcept { return *reinterpret_cast<File*>(file); }
sqlite3_file* below(sqlite3_file* file) noexcept { return file_of(file).below(); }
LossyDisk::Impl& disk_of(sqlite3_vfs* vfs) noexcept { return *static_cast<LossyDisk::Impl*>(vfs->pAppData); }

sqlite3_int64 size_of(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  file->pMethods->xFileSize(file, &size);
  return size;
}

std::string read(sqlite3_file* file, sqlite3_int64 at, sqlite3_int64 length) {
  const sqlite3_int64 there = std::clamp<sqlite3_int64>(size_of(file) - at, 0, length);
  std::string bytes(static_cast<std::size_t>(there), '\0');
  if (there > 0) file->pMethods->xRead(file, bytes.data(), static_cast<int>(there), at);
  return bytes;
}

int close_file(sqlite3_file* file) { return below(file)->pMethods->xClose(below(file)); }

int read_file(sqlite3_file* file, void* to, int length, sqlite3_int64 at) {
  return below(file)->pMethods->xRead(below(file), to, length, at);
}

int write_file(sqlite3_file* file, const void* from, int length, sqlite3_int64 at) {
  File& self = file_of(file);
  if (self.image != nullptr) {
    if (const int rc = self.disk->refused(); rc != SQLITE_OK) return rc;
    self.image->unsynced.push_back({at, read(below(file), at, length),
                                    std::string(static_cast<const char*>(from), static_cast<std::size_t>(length)),
                                    size_of(below(file))});
  }
  return below(file)->pMethods->xWrite(below(file), from, length, at);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  File& self = file_of(file);
  if (self.image != nullptr) {
    if (const int rc = self.disk->refused(); rc != SQLITE_OK) return rc;
    const sqlite3_int64 before = size_of(below(file));
    self.image->unsynced.push_back({size, read(below(file), size, before), {}, before});
  }
  return below(file)->pMethods->xTruncate(below(file), size);
}

int sync_file(sqlite3_file* file, int flags) {
  File& self = file_of(file);
  if (self.image == nullptr) return below(file)->pMethods->xSync(below(file), flags);
  if (const int rc = self.disk->refused(); rc != SQLITE_OK) return rc;
  self.image->unsynced.clear();
  return SQLITE_OK;
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  LossyDisk::Impl& disk = disk_of(vfs);
  File& self = file_of(file);
  self.disk = &disk;
  self.image = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0 ? &disk.images[name] : nullptr;
  const int rc = disk.system->xOpen(disk.system, name, self.below(), flags, flags_out);
  // Without methods SQLite does not close what it could not open.
  file->pMethods = self.below()->pMethods != nullptr ? &disk.methods : nullptr;
  return rc;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  LossyDisk::Impl& disk = disk_of(vfs);
  const auto image = disk.images.find(name);
  if (image != disk.images.end()) {
    if (disk.is_cut) return SQLITE_IOERR_DELETE;
    image->second.unsynced.clear();
  }
  return disk.system->xDelete(disk.system, name, sync_directory);
}

}  // namespace

LossyDisk::Impl::Impl() : system(sqlite3_vfs_find(nullptr)) {
  methods.iVersion = 2;  // shared memory, but no mapping of the file itself
  methods.xClose = close_file;
  methods.xRead = read_file;
  methods.xWrite = write_file;
  methods.xTruncate = truncate_file;
  methods.xSync = sync_file;
  methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
    return below(f)->pMethods->xFileSize(below(f), size);
  };
  methods.xLock = [](sqlite3_file* f, int lock) { return below(f)->pMethods->xLock(below(f), lock); };
  methods.xUnlock = [](sqlite3_file* f, int lock) { return below(f)->pMethods->xUnlock(below(f), lock); };
  methods.xCheckReservedLock = [](sqlite3_file* f, int* held) {
    return below(f)->pMethods->xCheckReservedLock(below(f), held);
  };
  methods.xFileControl = [](sqlite3_file* f, int op, void* arg) {
    return below(f)->pMethods->xFileControl(below(f), op, arg);
  };
  methods.xSectorSize = [](sqlite3_file*) { return static_cast<int>(kSector); };
  methods.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };  // nothing is promised
  methods.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** at) {
    return below(f)->pMethods->xShmMap(below(f), page, size, extend, at);
  };
  methods.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
    return below(f)->pMethods->xShmLock(below(f), offset, n, flags);
  };
  methods.xShmBarrier = [](sqlite3_file* f) { below(f)->pMethods->xShmBarrier(below(f)); };
  methods.xShmUnmap = [](sqlite3_file* f, int remove) { return below(f)->pMethods->xShmUnmap(below(f), remove); };

  vfs = *system;  // the rest asks the system, and needs nothing of ours
  vfs.pNext = nullptr;
  vfs.zName = "lossy-disk";
  vfs.szOsFile = system->szOsFile + static_cast<int>(sizeof(File));
  vfs.pAppData = this;
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xAccess = [](sqlite3_vfs* v, const char* name, int flags, int* out) {
    return disk_of(v).system->xAccess(disk_of(v).system, name, flags, out);
  };
  vfs.xFullPathname = [](sqlite3_vfs* v, const char* name, int size, char* out) {
    return disk_of(v).system->xFullPathname(disk_of(v).system, name, size, out);
  };
}

int LossyDisk::Impl::refused() {
  if (is_cut) return SQLITE_IOERR;
  if (fail_in == 0 || --fail_in > 0) return SQLITE_OK;
  failed = true;
  return error;
}

void LossyDisk::Impl::restore(const std::string& path, Image& image, Random& random) {
  std::vector<Change> changes = std::exchange(image.unsynced, {});
  if (changes.empty()) return;
  std::string memory(static_cast<std::size_t>(system->szOsFile), '\0');
  auto* file = reinterpret_cast<sqlite3_file*>(memory.data());
  const int kind = path.ends_with("-wal") ? SQLITE_OPEN_WAL : SQLITE_OPEN_MAIN_DB;
  if (system->xOpen(system, path.c_str(), file, SQLITE_OPEN_READWRITE | kind, nullptr) != SQLITE_OK)
    throw std::runtime_error("lossy disk: cannot open " + path);
  const auto write = [file](const std::string& bytes, sqlite3_int64 at) {
    if (!bytes.empty()) file->pMethods->xWrite(file, bytes.data(), static_cast<int>(bytes.size()), at);
  };
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    write(change->before, change->at);
    file->pMethods->xTruncate(file, change->size_before);
  }
  for (const Change& change : changes) {
    const auto luck = random.next64() % 8;
    if (change.after.empty() || luck > 2) continue;  // most is lost
    const sqlite3_int64 whole = static_cast<sqlite3_int64>(change.after.size());
    const sqlite3_int64 torn = luck == 0 ? whole : std::min(whole, kSector * static_cast<sqlite3_int64>(luck));
    write(change.after.substr(0, static_cast<std::size_t>(torn)), change.at);
  }
  file->pMethods->xClose(file);
}

LossyDisk::LossyDisk() : impl_(std::make_unique<Impl>()) { sqlite3_vfs_register(&impl_->vfs, 1); }

LossyDisk::~LossyDisk() {
  sqlite3_vfs_unregister(&impl_->vfs);
  sqlite3_vfs_register(impl_->system, 1);
}

void LossyDisk::cut() { impl_->is_cut = true; }

void LossyDisk::restore(Random& random) {
  for (auto& [path, image] : impl_->images) impl_->restore(path, image, random);
  impl_->is_cut = false;
}

void LossyDisk::fail_at(int nth, int sqlite_error) {
  impl_->fail_in = nth;
  impl_->error = sqlite_error;
  impl_->failed = false;
}

bool LossyDisk::has_failed() const noexcept { return impl_->failed; }

}  // namespace notify::sim

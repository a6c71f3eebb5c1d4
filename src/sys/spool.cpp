#include "sys/spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

namespace notify {
namespace {

constexpr std::size_t kBlock = 256 * 1024;

Result<Fd> open_list(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(file_error("cannot open the list of recipients '" + path + "'", errno));
  return fd;
}

// Up to `max` bytes; fewer only at the end.
Result<std::string> read_at(const Fd& fd, const std::string& path, std::int64_t offset, std::size_t max) {
  std::string bytes(max, '\0');
  std::size_t have = 0;
  while (have < max) {
    const ssize_t got = ::pread(fd.get(), bytes.data() + have, max - have, offset + static_cast<std::int64_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_error("cannot read the list of recipients '" + path + "'", errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

std::string hex(const Sha256& digest) { return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()}); }

}  // namespace

Result<std::string> FileSpool::read(const std::string& name, std::int64_t offset, std::size_t max) {
  TRY_ASSIGN(const Fd fd, open_list(path_of(name)));
  return read_at(fd, path_of(name), offset, max);
}

Result<bool> FileSpool::intact(const std::string& name) {
  TRY_ASSIGN(const Fd fd, open_list(path_of(name)));
  Sha256Hasher hasher;
  for (std::int64_t offset = 0;;) {
    TRY_ASSIGN(const std::string bytes, read_at(fd, path_of(name), offset, kBlock));
    if (bytes.empty()) return hex(hasher.finish()) == name;
    hasher.update(bytes);
    offset += static_cast<std::int64_t>(bytes.size());
  }
}

// Also what a writer that died has left.
Result<void> FileSpool::sweep(const std::set<std::string>& needed, Duration age) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(directory_, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (needed.contains(entry->path().filename().string())) continue;
    std::error_code gone;  // another process may sweep, too
    const auto written = entry->last_write_time(gone);
    if (!gone && now - written > age) fs::remove(entry->path(), gone);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return fail(file_error("cannot look into '" + directory_ + "'", error.value()));
  return {};
}

Result<FileSpool::Writer> FileSpool::write() {
  if (::mkdir(directory_.c_str(), 0700) == 0) {
    const Fd made(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (made) give_to_owner_of(made.get(), database_);
  } else if (errno != EEXIST) {
    return fail(file_error("cannot create the directory '" + directory_ + "'", errno));
  }
  TRY_ASSIGN(NewFile file, NewFile::beside(path_of("new")));
  give_to_owner_of(file.fd(), database_);
  return Writer(directory_, std::move(file));
}

Result<void> FileSpool::Writer::add(std::string_view bytes) {
  hasher_.update(bytes);
  bytes_ += static_cast<std::int64_t>(bytes.size());
  return file_.write(bytes);
}

const std::string& FileSpool::Writer::seal() {
  if (name_.empty()) name_ = hex(hasher_.finish());
  return name_;
}

Result<void> FileSpool::Writer::keep() { return file_.put(directory_ + "/" + seal()); }

}  // namespace notify

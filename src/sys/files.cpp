#include "sys/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sys/terminal.hpp"

namespace notify {
namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> sync_directory(const std::string& path) {
  const Fd directory(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0)
    return fail(file_error("cannot sync the directory of '" + path + "'", errno));
  return {};
}

Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes) {
  std::string bytes;
  for (;;) {
    const std::size_t have = bytes.size();
    const std::size_t want = std::min<std::size_t>(64 * 1024, max_bytes + 1 - have);
    bytes.resize(have + want);
    const ssize_t n = ::read(fd, bytes.data() + have, want);
    bytes.resize(have + static_cast<std::size_t>(n > 0 ? n : 0));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(file_error("cannot read '" + path + "'", errno));
    if (n == 0) return bytes;
    if (bytes.size() > max_bytes)
      return fail(Code::kBadInput, "'" + path + "' is larger than " + std::to_string(max_bytes) + " bytes");
  }
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() noexcept { return std::exchange(fd_, -1); }

void Fd::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Error file_error(std::string_view what, int error_number) {
  const bool missing = error_number == ENOENT || error_number == ENOTDIR;
  const bool few = error_number == EMFILE || error_number == ENFILE;
  return {system_code(error_number, missing ? Code::kNotFound : Code::kIo),
          std::string(what) + ": " + system_reason(error_number),
          few ? kMoreDescriptors : "",
          {},
          {}};
}

Error input_error(std::string_view what, int error_number) {
  if (error_number != EBADF) return file_error(what, error_number);
  return {Code::kIo, std::string(what) + ": it is closed", "give a file, or a pipe: … | notifyctl …", {}, {}};
}

std::string resolved_path(const std::string& path) {
  const auto resolve = [](const std::string& name) {
    char* found = ::realpath(name.c_str(), nullptr);
    std::string copy = found != nullptr ? found : "";
    std::free(found);
    return copy;
  };
  if (std::string all = resolve(path); !all.empty()) return all;
  const std::string directory = resolve(directory_of(path));
  if (directory.empty()) return path;
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return directory == "/" ? "/" + name : directory + '/' + name;
}

Result<NewFile> NewFile::beside(const std::string& path, mode_t mode) {
  std::string name = path + ".XXXXXX";
  Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) {
    Error error = file_error("cannot create a file beside '" + path + "'", errno);
    if (error.code == Code::kNotFound) error.code = Code::kCannotCreate;
    error.hint = error.code == Code::kDiskFull ? "make room on this file system"
                                               : "the directory must exist, and this user must be able to write it";
    return fail(std::move(error));
  }
  NewFile file(std::move(fd), name);
  // fchmod and not open's mode, so that the umask has no say.
  if (::fchmod(file.fd_.get(), mode) != 0) return fail(file_error("cannot write '" + path + "'", errno));
  return file;
}

NewFile::~NewFile() {
  if (fd_ && !name_.empty()) ::unlink(name_.c_str());
}

Result<void> NewFile::write(std::string_view bytes) {
  if (!write_all(fd_.get(), bytes)) return fail(file_error("cannot write '" + name_ + "'", errno));
  return {};
}

Result<void> NewFile::put(const std::string& path) {
  if (::fsync(fd_.get()) != 0) return fail(file_error("cannot write '" + path + "'", errno));
  if (::rename(name_.c_str(), path.c_str()) != 0)
    return fail(file_error("cannot put '" + path + "' in its place", errno));
  fd_.reset();
  return sync_directory(path);
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes, mode_t mode) {
  TRY_ASSIGN(NewFile file, NewFile::beside(path, mode));
  TRY(file.write(bytes));
  return file.put(path);
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail(file_error("cannot open '" + path + "'", errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(file_error("cannot look at '" + path + "'", errno));
  // Reading a named pipe waits until somebody writes to it, maybe for ever. One that the shell hands over has a writer.
  if (S_ISFIFO(info.st_mode) && !path.starts_with("/dev/") && !path.starts_with("/proc/"))
    return fail(Code::kConfig, "cannot read '" + path + "': it is a named pipe");
  if (!S_ISREG(info.st_mode) && ::fcntl(fd.get(), F_SETFL, 0) != 0)  // wait for that writer
    return fail(file_error("cannot read '" + path + "'", errno));
  return read_all(fd.get(), path, max_bytes);
}

Result<std::string> read_secret_file(const std::string& path) {
  constexpr std::size_t kMaxSecret = 64 * 1024;  // private keys are a few KiB
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail(file_error("cannot open the secret file '" + path + "'", errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(file_error("cannot look at the secret file '" + path + "'", errno));
  if (!S_ISREG(info.st_mode)) return fail(Code::kConfig, "the secret file '" + path + "' is not a regular file");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(Code::kPermission, "the secret file '" + path + "' may be read by others than its owner",
                "chmod 600 " + path);
  TRY_ASSIGN(std::string secret, read_all(fd.get(), path, kMaxSecret));
  if (!secret.empty() && secret.back() == '\n') secret.pop_back();
  if (!secret.empty() && secret.back() == '\r') secret.pop_back();
  if (secret.empty()) return fail(Code::kConfig, "the secret file '" + path + "' is empty");
  return secret;
}

void give_to_owner_of(int fd, const std::string& database_path) noexcept {
  struct stat database {};
  if (::geteuid() != 0 || ::stat(database_path.c_str(), &database) != 0) return;
  if (::fchown(fd, database.st_uid, database.st_gid) != 0) return;  // then the owner sees a clear kPermission
}

}  // namespace notify

#include "cmd/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.hpp"
#include "sys/terminal.hpp"

namespace notify {
namespace {

constexpr std::size_t kBuffered = 64 * 1024;

void wait_until_writable(int fd) {
  pollfd item{fd, POLLOUT, 0};
  (void)poll(&item, 1, -1);
}

}  // namespace

void Output::write(std::string_view text) {
  if (abandoned_ || error_ != 0) return;
  buffer_ += text;
  if (buffer_.size() >= kBuffered) (void)flush();
}

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

Result<void> Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0 && !abandoned_) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_until_writable(fd_);  // somebody gave us a non-blocking descriptor
    } else if (errno == EPIPE) {
      abandoned_ = true;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  if (error_ == 0) return {};
  Error error = file_error("cannot write the output", error_);
  if (error.code != Code::kDiskFull) error.code = Code::kIo;
  error.hint = error.code == Code::kDiskFull ? "make room where the output goes; the run itself is not undone by this"
                                             : "look at where the output goes; the run itself is not undone by this";
  return fail(std::move(error));
}

bool Output::is_terminal() const noexcept { return notify::is_terminal(fd_); }

int Output::width() const noexcept { return terminal_width(fd_); }

}  // namespace notify

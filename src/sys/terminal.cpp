#include "sys/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "core/safe_text.hpp"
#include "sys/environment.hpp"

namespace notify {
namespace {

constexpr std::string_view kClear = "\r\x1b[K";

// The first `columns` characters; a wide (East Asian) character is counted as two columns, so that the line never
// wraps and leaves a trail.
std::string_view cut_to_columns(std::string_view text, int columns) noexcept {
  int used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    used += length >= 3 ? 2 : 1;
    if (used > columns) break;
    at += length;
  }
  return text.substr(0, at);
}

}  // namespace

bool write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool is_terminal(int fd) noexcept { return ::isatty(fd) == 1; }

int terminal_width(int fd) noexcept {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool wants_colour(int fd) {
  if (!is_terminal(fd)) return false;
  if (!environment_variable("NO_COLOR").value_or("").empty()) return false;
  const std::string terminal = environment_variable("TERM").value_or("");
  return !terminal.empty() && terminal != "dumb";
}

ProgressLine::ProgressLine(int fd) : fd_(fd), active_(is_terminal(fd)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(std::string_view text) {
  if (!active_) return;
  const std::lock_guard lock(mutex_);
  const std::string safe = safe_text(text, 1024);
  const std::string_view line = cut_to_columns(safe, terminal_width(fd_) - 1);
  if (line == shown_) return;
  shown_ = line;
  write_all(fd_, std::string(kClear) + shown_);
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_.empty()) return;
  shown_.clear();
  write_all(fd_, kClear);
}

void ProgressLine::write_line(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (shown_.empty()) {
    write_all(fd_, line);
    return;
  }
  // One write, so that nothing is seen in between.
  std::string all(kClear);
  all += line;
  all += shown_;
  write_all(fd_, all);
}

}  // namespace notify

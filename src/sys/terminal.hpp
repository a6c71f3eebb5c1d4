#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace notify {

bool is_terminal(int fd) noexcept;
// Columns; 80 when it cannot be told.
int terminal_width(int fd) noexcept;
// A terminal that shows colours, and nobody has said NO_COLOR (no-color.org: set and not empty) or TERM=dumb.
bool wants_colour(int fd);

// One line on a terminal that is written over and over: progress. Writes nothing when the descriptor is no terminal.
// Thread-safe. Cut to the terminal's width. The caller decides how often.
class ProgressLine {
 public:
  explicit ProgressLine(int fd);
  ~ProgressLine();  // clears it
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool active() const noexcept { return active_; }
  void show(std::string_view text);
  void clear();
  // Writes a whole line (with its newline) to the descriptor of the progress line without the two mixing.
  void write_line(std::string_view line);

 private:
  int fd_;
  bool active_;
  std::mutex mutex_;
  std::string shown_{};
};

// All bytes to a descriptor, over interruptions and short writes. False: it failed (errno).
bool write_all(int fd, std::string_view bytes) noexcept;

}  // namespace notify

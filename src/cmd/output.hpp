#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

// A buffered writer over a descriptor that remembers what went wrong. Nothing that is printed is lost without
// a word: the first error is kept and flush() returns it. A reader that has gone away (`| head -1`) is no
// error: what follows is thrown away, and abandoned() tells those who would produce much for nobody.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  ~Output() { (void)flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  void line(std::string_view text);  // with its line end
  Result<void> flush();

  bool abandoned() const noexcept { return abandoned_; }
  bool is_terminal() const noexcept;
  // Columns of the terminal, 80 when it is none.
  int width() const noexcept;
  int fd() const noexcept { return fd_; }

 private:
  int fd_;
  std::string buffer_{};
  int error_ = 0;
  bool abandoned_ = false;
};

}  // namespace notify

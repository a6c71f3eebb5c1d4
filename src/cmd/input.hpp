#pragma once

#include <string>
#include <string_view>

#include "cmd/context.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "sys/files.hpp"

namespace notify {

// A file that is read from its beginning to its end, or standard input.
class Input {
 public:
  // "-": standard input.
  static Result<Input> open(const std::string& path, Context& context);

  int fd() const noexcept { return fd_; }
  bool is_standard_input() const noexcept { return !owned_; }
  // For messages: the path, or "standard input".
  const std::string& name() const noexcept { return name_; }

  // Whether nothing has come for `patience` (negative: waits until something has). A file is always ready.
  bool pauses(Duration patience) const;

  // The next bytes, valid until the next call; empty at the end.
  Result<std::string_view> read();

 private:
  Input(int fd, Fd owned, std::string name);
  int fd_;
  Fd owned_;
  std::string name_;
  std::string block_;
};

// All of it. kBadInput when it has more than `max` bytes.
Result<std::string> read_whole(Input& input, std::size_t max);

// Says what is wrong with one line of the input: "FILE:LINE: field: reason" on standard error; with --json
// {"line":N,"error":{…}} to `json`: among the data where each line has an answer there, else standard error.
void report_line(Context& context, Output& json, std::string_view source, std::int64_t line, const Error& error);

}  // namespace notify

#pragma once

// Lines of JSON: splitting a stream of bytes into lines, and reading one line into the fields of a request.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/enqueue.hpp"
#include "core/error.hpp"

namespace notify {

inline constexpr std::size_t kLongestLine = 2 * 1024 * 1024;

// One line as the splitter hands it out, without its line end (LF or CRLF) and without a byte order mark
// before it.
struct InputLine {
  std::int64_t number = 0;  // from 1, blank lines counted
  std::string_view text{};  // valid until the next call on the splitter
  bool too_long = false;    // text is only the beginning; the rest up to the line's end was skipped
  bool unended = false;     // the input ended without a line end
};

// Splits chunks into lines in bounded memory. push() gives a chunk, then next() is called until it returns
// false; after the last chunk finish(), then next() again. Blank lines are counted and left out.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest = kLongestLine) : longest_(longest) {}

  void push(std::string_view chunk) { chunk_ = chunk; }  // must stay until next() has returned false
  void finish() { finished_ = true; }
  bool next(InputLine& line);

 private:
  bool next_with_blank(InputLine& line);
  void keep(std::string_view piece);

  std::size_t longest_;
  std::string_view chunk_{};
  std::string partial_{};    // the beginning of a line whose end has not come yet
  bool handed_out_ = false;  // partial_ was the last line and is to be emptied
  bool too_long_ = false;    // partial_ is full; what follows up to the line's end is thrown away
  bool finished_ = false;
  std::int64_t number_ = 0;
};

// The name of a wide encoding that the input seems to be in ("UTF-16"), from its first bytes; empty for
// UTF-8.
std::string_view wide_encoding(std::string_view beginning);

// Reads lines into fields. Members are named like the options: channel, to, key, kind, category, subject,
// body, html, alt, data, template, vars, not_before, expires, priority, correlation. Unknown and duplicate
// members, null, wrong types, invalid UTF-8 (with its position), NUL, depth over limits::kJsonDepth and
// anything after the object are errors.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Views in `fields` are valid until the next call.
  Result<void> read(std::string_view line, EnqueueFields& fields);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify

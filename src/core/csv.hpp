#pragma once

// RFC 4180: fields divided by commas, records by line ends (CRLF or LF), quotes around what holds either.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace notify {

struct CsvRecord {
  std::int64_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields{};
  std::string problem{};  // not empty: the record is broken, its fields are not to be used
};

// Splits a stream into records in bounded memory. push() gives a chunk, then next() is called until it returns false; at
// the end finish(), then next() again. Empty lines are left out, and a byte order mark at the beginning. A record that is
// too long is a problem, and reading goes on after its line.
class CsvSplitter {
 public:
  explicit CsvSplitter(std::size_t longest) : longest_(longest) {}

  void push(std::string_view chunk) { chunk_ = chunk; }  // must stay until next() has returned false
  void finish() { finished_ = true; }
  bool next(CsvRecord& record);

 private:
  enum class State { kFieldStart, kPlain, kQuoted, kQuoteInQuoted, kSkip };

  bool take(char c);  // true: the record is complete
  bool end_of_record();
  void add(char c);
  void broken(std::string_view problem);

  std::size_t longest_;
  std::string_view chunk_{};
  bool finished_ = false;
  State state_ = State::kFieldStart;
  CsvRecord record_{};
  std::string field_{};
  std::size_t size_ = 0;  // bytes of the record so far
  bool quoted_ = false;   // the record had a quoted field: it is not empty
  bool after_return_ = false;
  std::int64_t line_ = 1;
  std::size_t mark_ = 0;  // bytes of a byte order mark seen at the very beginning
};

}  // namespace notify

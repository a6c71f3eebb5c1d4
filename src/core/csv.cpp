#include "core/csv.hpp"

#include <utility>

#include "core/text_encoding.hpp"

namespace notify {
bool CsvSplitter::next(CsvRecord& record) {
  while (!chunk_.empty()) {
    const char c = chunk_.front();
    chunk_.remove_prefix(1);
    if (mark_ < kByteOrderMark.size()) {
      if (c == kByteOrderMark[mark_]) {
        ++mark_;
        continue;
      }
      // A part of a mark is text.
      for (std::size_t i = 0; i < mark_; ++i) (void)take(kByteOrderMark[i]);
      mark_ = kByteOrderMark.size();
    }
    if (!take(c)) continue;
    record = std::exchange(record_, {});
    return true;
  }
  if (!finished_) return false;
  finished_ = false;
  if (state_ == State::kQuoted) broken("a quote is never closed");
  if (state_ == State::kSkip) state_ = State::kPlain;
  if (!end_of_record()) return false;
  record = std::exchange(record_, {});
  return true;
}

bool CsvSplitter::take(char c) {
  if (record_.line == 0) record_.line = line_;
  if (c == '\n') ++line_;
  // A carriage return belongs to the line end after it, and to nothing else.
  const bool returned = std::exchange(after_return_, false);
  if (returned && c != '\n') broken("a carriage return without a line feed");

  switch (state_) {
    case State::kSkip:
      if (c != '\n') return false;
      state_ = State::kPlain;
      return end_of_record();
    case State::kQuoted:
      if (c == '"')
        state_ = State::kQuoteInQuoted;
      else
        add(c);
      return false;
    case State::kQuoteInQuoted:
      if (c == '"') {
        add(c);
        state_ = State::kQuoted;
        return false;
      }
      if (c != ',' && c != '\n' && c != '\r') {
        broken("text after a closing quote");
        return false;
      }
      break;
    case State::kFieldStart:
      if (c == '"') {
        quoted_ = true;
        state_ = State::kQuoted;
        return false;
      }
      break;
    case State::kPlain:
      if (c == '"') {
        broken("a quote inside a field that does not begin with one");
        return false;
      }
      break;
  }
  if (c == '\n') return end_of_record();
  if (c == '\r') {
    after_return_ = true;
    return false;
  }
  if (c == ',') {
    record_.fields.push_back(std::exchange(field_, {}));
    ++size_;
    state_ = State::kFieldStart;
    return false;
  }
  state_ = State::kPlain;
  add(c);
  return false;
}

// False: it was an empty line.
bool CsvSplitter::end_of_record() {
  const bool empty = record_.problem.empty() && record_.fields.empty() && field_.empty() && !quoted_;
  if (!empty) record_.fields.push_back(std::move(field_));
  field_.clear();
  size_ = 0;
  quoted_ = after_return_ = false;
  state_ = State::kFieldStart;
  if (empty) record_ = {};
  return !empty;
}

void CsvSplitter::add(char c) {
  if (++size_ > longest_) return broken("the record is longer than " + std::to_string(longest_) + " bytes");
  field_ += c;
}

void CsvSplitter::broken(std::string_view problem) {
  if (record_.problem.empty()) record_.problem = problem;
  field_.clear();
  record_.fields.clear();
  state_ = State::kSkip;
}

}  // namespace notify

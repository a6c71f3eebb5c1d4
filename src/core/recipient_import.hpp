#pragma once

// recipient import: a stream of lines of JSON into the table of recipients, in constant memory.
//
//   {"id":"42","locale":"ko","endpoints":{"sms":"+821012345678","push":["token-1","token-2"]},"groups":["students"]}

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/jsonl.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/store.hpp"

namespace notify {

// Reads one line. Unknown and duplicate members, wrong types and whatever check_recipient() finds are errors with the
// member's name as Error.field.
Result<RecipientChange> read_recipient_line(JsonReader& reader, std::string_view line);

struct RecipientImportSummary {
  std::int64_t lines = 0;  // all but blank ones
  std::int64_t imported = 0;
  std::int64_t rejected = 0;
};

// Give it bytes as they come, and finish() at their end. Good lines are committed in transactions of a few hundred rows;
// no lock is held in between. Bad lines go to `rejected`, in order.
class RecipientImport {
 public:
  using Rejected = std::function<void(std::int64_t line, const Error& error)>;

  RecipientImport(Store& store, Clock& clock, Rejected rejected);

  // Errors: nothing more can be taken; what was committed stays, and running the same file again is harmless.
  Result<void> feed(std::string_view bytes);
  Result<void> finish();

  const RecipientImportSummary& summary() const noexcept { return summary_; }

 private:
  Result<void> take_lines();
  Result<void> commit();

  Store& store_;
  Clock& clock_;
  Rejected rejected_;
  LineSplitter splitter_{};
  JsonReader reader_{};
  std::vector<RecipientChange> group_{};
  std::size_t rows_ = 0;  // that the group will write
  RecipientImportSummary summary_{};
};

}  // namespace notify

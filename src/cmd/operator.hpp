#pragma once

// What the operators' commands (replay, cancel, park) have in common: which messages, the question before it, and what is
// said afterwards.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/context.hpp"
#include "core/operate.hpp"
#include "store/open.hpp"
#include "sys/process_locks.hpp"

namespace notify {

// An open database and what core needs to work on it.
class OperatorDesk {
 public:
  static Result<std::unique_ptr<OperatorDesk>> open(Context& context);

  SqliteStore& store() noexcept { return *store_; }
  OperatorPorts ports() noexcept {
    return {*store_, store_->operators(), *locks_, context_.clock(), context_.crash_points()};
  }

 private:
  explicit OperatorDesk(Context& context) : context_(context) {}
  Context& context_;
  std::unique_ptr<SqliteStore> store_{};
  std::unique_ptr<ProcessLocks> locks_{};
};

// The ids of the command line. "-" stands for those on standard input, one a line: an id, or an object with a member
// "message_id" as `list --json` prints them. The first place of each counts.
Result<std::vector<std::string>> read_ids(const std::vector<std::string>& words, Context& context);

// Asks on the terminal, and whether the answer is yes. Without one, or when standard input was read for ids, `yes` (--yes) is
// needed: a usage error says so.
Result<bool> confirmed(Context& context, const std::string& question, bool yes, bool input_is_taken);

// A text of the operator's for the history: valid UTF-8 of one line and at most limits::kDetail bytes.
Result<void> check_why(std::string_view option, std::string_view text, std::size_t longest);

struct OperatorWords {
  std::string_view member{};     // of the JSON summary: "replayed"
  std::string_view done{};       // "replayed 3 messages"
  std::string_view unchanged{};  // "2 were waiting already"
};

// {"selected":…,"replayed":…,"unchanged":…,"refused":…,"refusals":[…]}
nlohmann::ordered_json operation_json(const OperatorSummary& summary, const OperatorWords& words);

// Says what was refused, and the summary (JSON always with --json, words on a terminal). The exit status: 0, 1 when some were
// refused, 75 when `busy_is_retry` and nothing but busy ones were; with --json an error object says the same. `more`:
// members for the JSON object.
Result<int> report_operation(Context& context, const OperatorSummary& summary, const OperatorWords& words,
                             bool busy_is_retry = false, const nlohmann::ordered_json* more = nullptr);

// "1 message", "12 messages"
std::string messages(std::int64_t count);

}  // namespace notify

#include "cmd/operator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "cmd/errors.hpp"
#include "cmd/input.hpp"
#include "cmd/render.hpp"
#include "core/json_text.hpp"
#include "core/jsonl.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"
#include "sys/terminal.hpp"

namespace notify {
namespace {

constexpr Duration kCommitGap = 1ms;
constexpr std::size_t kRefusalsShown = 20;

// One line of input: an id, or what `list --json` prints.
Result<std::string> id_of(const InputLine& line) {
  std::string_view text = line.text;
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  if (!text.starts_with('{')) {
    TRY(check_utf8("id", text));
    return std::string(text);
  }
  std::string id;
  JsonReader reader;
  TRY(reader.object(text, [&](std::string_view name, JsonValue& value) -> Result<void> {
    if (name != "message_id") return {};
    TRY_ASSIGN(const std::string_view found, value.string(name));
    id = found;
    return {};
  }));
  if (id.empty()) return fail(Code::kBadInput, "no message_id");
  return id;
}

Result<void> read_lines(Input input, std::vector<std::string>& ids) {
  LineSplitter lines;
  const auto take = [&]() -> Result<void> {
    InputLine line;
    while (lines.next(line)) {
      auto id = line.too_long ? Result<std::string>(fail(Code::kBadInput, "the line is too long")) : id_of(line);
      if (!id) {
        Error error = with_context(std::move(id).error(), input.name() + ", line " + std::to_string(line.number));
        error.code = Code::kBadInput;
        return fail(std::move(error));
      }
      ids.push_back(std::move(*id));
    }
    return {};
  };
  while (true) {
    TRY_ASSIGN(const std::string_view bytes, input.read());
    if (bytes.empty()) break;
    lines.push(bytes);
    TRY(take());
  }
  lines.finish();
  return take();
}

std::string read_answer(int input) {
  std::string answer;
  char c = 0;
  while (answer.size() < 16) {
    const ssize_t got = ::read(input, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') break;
    answer += c;
  }
  return answer;
}

// The refusals as one error: the only one with its reason, or how many there are.
Error refusal_error(const OperatorSummary& summary, bool busy_is_retry) {
  Error error{Code::kPartial,
              {},
              "notifyctl show ID tells where a message is; notifyctl list outbox --key-prefix … finds keys"};
  if (busy_is_retry && summary.busy == summary.refused) {
    error.code = Code::kBusy;
    error.hint = "try again when the call is over; notifyctl show ID tells";
  }
  if (summary.refused == 1 && !summary.refusals.empty())
    error.message = summary.refusals.front().message_id + ": " + summary.refusals.front().reason;
  else
    error.message = std::to_string(summary.refused) + " of " + messages(summary.selected) + " were refused";
  return error;
}

void say_refusals(Context& context, const OperatorSummary& summary, const std::string& hint) {
  const std::size_t shown = std::min(summary.refusals.size(), kRefusalsShown);
  for (std::size_t i = 0; i < shown; ++i)
    context.err().line("notifyctl: " + printable(summary.refusals[i].message_id) + ": " +
                       printable(summary.refusals[i].reason));
  const std::int64_t more = summary.refused - static_cast<std::int64_t>(shown);
  if (more > 0) context.err().line("notifyctl: and " + std::to_string(more) + " more were refused");
  context.err().line("hint: " + hint);
}

}  // namespace

nlohmann::ordered_json operation_json(const OperatorSummary& summary, const OperatorWords& words) {
  using Json = nlohmann::ordered_json;
  Json json{{"selected", summary.selected},
            {std::string(words.member), summary.done},
            {"unchanged", summary.unchanged},
            {"refused", summary.refused},
            {"refusals", Json::array()}};
  for (const Refusal& refusal : summary.refusals)
    json["refusals"].push_back(
        {{"message_id", refusal.message_id}, {"reason", refusal.reason}, {"busy", refusal.busy}});
  return json;
}

std::string messages(std::int64_t count) { return std::to_string(count) + (count == 1 ? " message" : " messages"); }

Result<std::unique_ptr<OperatorDesk>> OperatorDesk::open(Context& context) {
  std::unique_ptr<OperatorDesk> desk(new OperatorDesk(context));
  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.commit_gap = kCommitGap;
  TRY_ASSIGN(desk->store_, open_store(open));
  desk->locks_ = std::make_unique<ProcessLocks>(desk->store_->path());
  return desk;
}

Result<std::vector<std::string>> read_ids(const std::vector<std::string>& words, Context& context) {
  std::vector<std::string> ids;
  for (const std::string& word : words) {
    if (word == "-") {
      TRY_ASSIGN(Input input, Input::open(word, context));
      TRY(read_lines(std::move(input), ids));
    } else if (word.empty()) {
      return fail(Code::kUsage, "an id is empty", "a variable that was not set?");
    } else {
      ids.push_back(word);
    }
  }
  if (ids.empty() && !words.empty())
    return fail(Code::kBadInput, "standard input has no ids",
                "one a line, or the lines of notifyctl list --json; did the program before it fail?");
  std::unordered_set<std::string> seen;
  std::erase_if(ids, [&](const std::string& id) { return !seen.insert(id).second; });
  return ids;
}

Result<bool> confirmed(Context& context, const std::string& question, bool yes, bool input_is_taken) {
  if (yes) return true;
  if (input_is_taken || !is_terminal(context.input()) || !context.err().is_terminal())
    return fail(Code::kUsage, "nobody can be asked whether to " + question + ", and --yes was not given",
                "look with --dry-run, then add --yes");
  context.err().write("notifyctl: " + question + "? [y/N] ");
  TRY(context.err().flush());
  const std::string answer = read_answer(context.input());
  return answer == "y" || answer == "Y" || answer == "yes";
}

Result<void> check_why(std::string_view option, std::string_view text, std::size_t longest) {
  Result<void> checked = check_utf8(option, text);
  if (checked) checked = check_line(option, "the text", text, longest);
  if (checked) return {};
  return refuse_option(option, std::move(checked).error());
}

Result<int> report_operation(Context& context, const OperatorSummary& summary, const OperatorWords& words,
                             bool busy_is_retry, const nlohmann::ordered_json* more) {
  const Error error = refusal_error(summary, busy_is_retry);
  if (context.json()) {
    nlohmann::ordered_json json = operation_json(summary, words);
    if (more != nullptr) json.update(*more);
    context.out().line(to_text(json));
    if (summary.refused > 0) return fail(error);
    return 0;
  }
  if (context.out().is_terminal() && !context.globals().quiet) {
    std::string text = std::string(words.done) + " " + messages(summary.done);
    if (summary.unchanged > 0) text += ", " + std::to_string(summary.unchanged) + " " + std::string(words.unchanged);
    if (summary.refused > 0) text += ", " + std::to_string(summary.refused) + " refused";
    context.out().line(text);
  }
  if (summary.refused == 0) return 0;
  say_refusals(context, summary, error.hint);
  return exit_status(error.code);
}

}  // namespace notify

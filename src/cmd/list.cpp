#include "cmd/list.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/reading.hpp"
#include "cmd/render.hpp"
#include "core/inbox_state.hpp"
#include "core/near_miss.hpp"
#include "core/outbox_state.hpp"
#include "core/report.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::array<std::string_view, 6> kSubjects{"outbox", "queue", "inbox", "parked", "alerts", "broadcasts"};
constexpr std::array kSubjectValues{ListSubject::kOutbox, ListSubject::kQueue,  ListSubject::kInbox,
                                    ListSubject::kParked, ListSubject::kAlerts, ListSubject::kBroadcasts};
constexpr std::int64_t kShownByDefault = 100;
constexpr std::size_t kRowsOfOneTable = 1000;

ListSubject subject_of(const std::string& name) {
  const auto found = std::find(kSubjects.begin(), kSubjects.end(), name);
  return kSubjectValues.at(static_cast<std::size_t>(found - kSubjects.begin()));
}

std::vector<std::string> states_of(ListSubject subject) {
  std::vector<std::string> states;
  if (subject == ListSubject::kOutbox)
    for (const OutboxState state : kOutboxStates) states.emplace_back(name(state));
  if (subject == ListSubject::kInbox)
    for (const InboxState state : kInboxStates)
      if (state != InboxState::kNone) states.emplace_back(name(state));
  if (subject == ListSubject::kQueue) states = {"READY", "DELAYED", "LEASED"};
  if (subject == ListSubject::kAlerts) states = {"OPEN", "CLOSED"};
  if (subject == ListSubject::kBroadcasts) states = {"OPEN", "DONE", "CANCELLED", "FAILED"};
  return states;
}

// A state that does not exist would show an empty list, as if all were well.
Result<std::string> checked_state(const std::string& given, ListSubject subject) {
  if (given.empty()) return given;
  std::string state = given;
  std::transform(state.begin(), state.end(), state.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::vector<std::string> states = states_of(subject);
  if (std::find(states.begin(), states.end(), state) != states.end()) return state;
  std::string hint = did_you_mean(given, states);
  if (hint.empty()) {
    for (const std::string& known : states) hint += (hint.empty() ? "one of: " : " ") + known;
    if (states.empty()) hint = "parked messages have reasons: --reason";
  }
  return fail(Code::kUsage, "--state: \"" + given + "\" is not a state here", std::move(hint));
}

Result<ListFilter> filter_of(const ListOptions& options, ListSubject subject, Context& context) {
  ListFilter filter;
  filter.channel = options.channel;
  filter.kind = options.kind;
  filter.reason = options.reason;
  filter.key_prefix = options.key_prefix;
  filter.newest_first = !options.oldest_first;
  TRY_ASSIGN(filter.state, checked_state(options.state, subject));
  if (options.since) {
    TRY_ASSIGN(filter.since, context.time_option("--since", *options.since, true));
  }
  if (options.until) {
    TRY_ASSIGN(filter.until, context.time_option("--until", *options.until, true));
  }
  return filter;
}

nlohmann::ordered_json row_json(const ListRow& row, const std::string& to, Context& context) {
  using Json = nlohmann::ordered_json;
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  const auto time = [&](const std::optional<Instant>& t) { return t ? Json(context.show_time(*t)) : Json(); };
  return Json{{"message_id", row.message_id},
              {"outbox_id", row.outbox_id == 0 ? Json() : Json(row.outbox_id)},
              {"key", text(row.key)},
              {"channel", row.channel},
              {"to", to},
              {"kind", row.kind},
              {"status", row.status},
              {"reason", text(row.reason)},
              {"detail", text(row.detail)},
              {"attempts", row.attempts},
              {"priority", row.priority},
              {"ready_at", time(row.ready_at)},
              {"expires_at", time(row.expires_at)},
              {"correlation", text(row.correlation)},
              {"reference", text(row.reference)},
              {"created_at", context.show_time(row.created_at)},
              {"updated_at", context.show_time(row.updated_at)}};
}

// Text comes in tables of a thousand rows, so that a list of millions needs no memory.
class Printer {
 public:
  Printer(Context& context, ListSubject subject, bool reveal)
      : context_(context), subject_(subject), reveal_(reveal), table_(columns()) {}

  void add(const ListRow& row) {
    ++rows_;
    const std::string to = reveal_ || subject_ == ListSubject::kBroadcasts ? row.to : mask_address(row.to);
    if (context_.json()) return context_.out().line(to_text(row_json(row, row.to.empty() ? row.to : to, context_)));
    if (subject_ == ListSubject::kAlerts)
      table_.add({row.kind, row.key, row.status, row.reason, std::to_string(row.attempts), row.message_id, row.detail,
                  context_.show_time(row.updated_at)});
    else if (subject_ == ListSubject::kBroadcasts)
      table_.add({row.message_id, row.key, row.channel, to, row.kind, row.status, row.reason,
                  context_.show_time(row.created_at)});
    else
      table_.add({row.message_id, row.key, row.channel, to, row.kind, row.status, row.reason,
                  std::to_string(row.attempts), context_.show_time(row.created_at)});
    if (++in_table_ == kRowsOfOneTable) print_table();
  }

  void print_table() {
    if (in_table_ == 0) return;
    const auto width = static_cast<std::size_t>(context_.out().is_terminal() ? context_.out().width() : 10'000);
    std::string text = table_.text(width);
    if (headed_) text.erase(0, text.find('\n') + 1);
    headed_ = true;
    context_.out().write(text);
    table_ = Table(columns());
    in_table_ = 0;
  }

  std::int64_t rows() const noexcept { return rows_; }

 private:
  std::vector<Table::Column> columns() const {
    if (subject_ == ListSubject::kAlerts)
      return {{"KIND", false},        {"SUBJECT", true}, {"STATE"},        {"TOLD"},
              {"COUNT", false, true}, {"MESSAGE", true}, {"DETAIL", true}, {"LAST"}};
    if (subject_ == ListSubject::kBroadcasts)
      return {{"BROADCAST"},  {"KEY", true}, {"CHANNEL", true}, {"TO"},
              {"KIND", true}, {"STATUS"},    {"REASON", true},  {"CREATED"}};
    return {{"MESSAGE", true}, {"KEY", true},    {"CHANNEL", true},      {"TO", true}, {"KIND", true},
            {"STATUS"},        {"REASON", true}, {"TRIES", false, true}, {"CREATED"}};
  }

  Context& context_;
  ListSubject subject_;
  bool reveal_;
  Table table_;
  std::size_t in_table_ = 0;
  std::int64_t rows_ = 0;
  bool headed_ = false;
};

}  // namespace

Page list_page() {
  Page page;
  page.synopsis = {"SUBJECT [--channel NAME] [--state STATE] [--since TIME] [filters]"};
  page.description =
      "Lists one kind of thing: `outbox` (every message that was accepted), `queue` (between relay and "
      "worker), `inbox` "
      "(claimed, sent, failed, unknown), `parked` (set aside, with the reason), `alerts` or `broadcasts`. Newest "
      "first; "
      "the filters "
      "are combined.\n\n"
      "Without `--limit` a table ends after 100 rows, and standard error says so; on a terminal it is fitted to the "
      "width. With "
      "`--json` every row "
      "is one JSON object on a line of its own, without a limit.\n\n"
      "TRIES (in JSON `attempts`) are, in the outbox, publishes that failed; in the queue and among the parked, calls "
      "that "
      "certainly sent nothing; in the inbox, calls to the vendor. COUNT of an alert (`attempts`) is how often it was "
      "raised.\n\n"
      "Addresses are masked unless `--reveal` is given.";
  page.examples = {
      {"What is parked, and why?", "notifyctl list parked"},
      {"Whose outcome is unknown since this morning?", "notifyctl list inbox --state ERROR --since \"today 00:00\""},
      {"Keys of what failed on one channel", "notifyctl list outbox --state FAILED --channel sms --json | jq -r .key"}};
  page.exits = {{0, "done, also when there is nothing to list"},
                {65, "there is no database"},
                {78, "the database is not usable"}};
  page.see_also = {"notifyctl-show(1)", "notifyctl-status(1)"};
  return page;
}

void register_options(OptionSet& set, ListOptions& options) {
  set.positional("SUBJECT", &options.subject, "what to list").one_of({kSubjects.begin(), kSubjects.end()}).required();
  set.add("--channel", &options.channel, "NAME", "only this channel").completes(Completion::kChannel);
  set.add("--kind", &options.kind, "KIND", "only this kind");
  set.add("--state", &options.state, "STATE", "only this state, as PENDING, SENT, ERROR, LEASED, OPEN");
  set.add("--reason", &options.reason, "REASON", "only this reason");
  set.add("--since", &options.since, "TIME", "made at or after; 2h or -2h: two hours ago; yesterday 08:00; now");
  set.add("--until", &options.until, "TIME", "made before; the same forms");
  set.add("--key-prefix", &options.key_prefix, "TEXT", "only keys that begin so");
  set.add("--limit", &options.limit, "N", "at most so many rows; 0: all").between(0, INT64_MAX);
  set.flag("--oldest-first", options.oldest_first, "turn the order round");
  set.flag("--reveal", options.reveal, "show addresses as they are");
}

Result<int> run(const ListOptions& options, Context& context) {
  const ListSubject subject = subject_of(options.subject);
  TRY_ASSIGN(ListFilter filter, filter_of(options, subject, context));
  const std::int64_t shown = options.limit.value_or(context.json() ? 0 : kShownByDefault);
  filter.limit = shown == 0 ? 0 : shown + (options.limit ? 0 : 1);  // one more tells whether there is more

  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));
  Printer printer(context, subject, options.reveal);
  bool more = false;
  TRY(store->list(subject, filter, context.clock().now(), [&](const ListRow& row) {
    more = shown != 0 && printer.rows() == shown;
    if (!more) printer.add(row);
    return !more && !context.out().abandoned();
  }));
  printer.print_table();
  if (more && !context.globals().quiet) {
    TRY(context.out().flush());
    context.err().line("notifyctl: there are more than these " + std::to_string(shown) + "; --limit 0 lists all");
    TRY(context.err().flush());
  }
  return 0;
}

}  // namespace notify

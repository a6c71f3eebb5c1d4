#include "cmd/park.hpp"

#include "cmd/operator.hpp"
#include "cmd/show.hpp"
#include "core/message.hpp"
#include "core/park.hpp"

namespace notify {
namespace {

constexpr OperatorWords kAddWords{"parked", "parked", "were parked already"};
constexpr OperatorWords kDropWords{"dropped", "dropped", "were dropped already"};

Result<void> check_options(const ParkOptions& options) {
  const std::string name = "park " + options.action;
  const bool filters = !options.list.channel.empty() || !options.list.kind.empty() || options.list.since ||
                       options.list.until || !options.list.key_prefix.empty() || options.list.limit ||
                       options.list.oldest_first;
  if (options.action == "list") {
    if (!options.ids.empty()) return fail(Code::kUsage, name + ": takes no ids", "notifyctl park show ID shows one");
    return {};
  }
  if (filters) return fail(Code::kUsage, name + ": filters such as --channel are for park list");
  if (options.ids.empty()) return fail(Code::kUsage, name + ": an id is needed", "notifyctl park lists what is parked");
  if (options.action == "show") {
    if (options.ids.size() > 1) return fail(Code::kUsage, name + ": one id at a time");
    return {};
  }
  if (options.list.reason.empty())
    return fail(Code::kUsage, name + ": --reason TEXT is needed: it is kept and counted");
  return check_why("--reason", options.list.reason, limits::kReason);
}

Result<int> show_one(const ParkOptions& options, Context& context) {
  OpenOptions open;  // `show`, below, says what there is to say about the database
  TRY_ASSIGN(open.path, context.database());
  open.read_only = true;
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_store(open));
  TRY_ASSIGN(const std::optional<MessageStory> story, store->story(options.ids.front(), context.clock().now()));
  if (!story || !story->parked)
    return fail(Code::kNotFound, "\"" + options.ids.front() + "\" is not parked",
                "notifyctl show ID finds any message");
  return run(ShowOptions{options.ids.front(), options.list.reveal}, context);
}

}  // namespace

Page park_page() {
  Page page;
  page.synopsis = {
      "[list] [--channel NAME] [--kind KIND] [--reason REASON] [--since T] [--until T] [--key-prefix TEXT] "
      "[--limit N] [--oldest-first] [--reveal]",
      "show ID [--reveal]", "add ID… --reason TEXT", "drop ID… --reason TEXT"};
  page.description =
      "Parked messages have been set aside, with a reason: the vendor refused them for good, the tries are used up, or "
      "they cannot be sent as they are (no such channel, a template that is missing). They stay until an operator "
      "replays or drops them.\n\n"
      "`park` or `park list` lists them, as `notifyctl list parked` does; `park show` tells the life of one.\n\n"
      "`park add` sets aside what is in the queue and not yet claimed, so that no worker sends it until "
      "`notifyctl replay`. What a worker is sending at this moment is refused with 75.\n\n"
      "`park drop` closes parked messages for good: no replay takes them up again. They stay visible: FAILED where the "
      "vendor had refused them, else SKIPPED with the reason `dropped`. To send one nevertheless, enqueue it again "
      "under "
      "another key.";
  page.examples = {
      {"What is parked?", "notifyctl park"},
      {"One of them, from its beginning", "notifyctl park show GRADE:2026-11:42"},
      {"Hold back what is queued until somebody has looked", "notifyctl park add GRADE:2026-11:42 --reason wrong-text"},
      {"Nobody needs this any more", "notifyctl park drop GRADE:2026-11:42 --reason \"term is over\""}};
  page.exits = {{0, "done, also when there is nothing to list"},
                {1, "some messages were refused"},
                {65, "the message is not parked (show), standard input has no ids, or there is no database"},
                {74, "the database could not be written (disk full)"},
                {75, "the message is being sent at this moment, or the database is busy"}};
  page.see_also = {"notifyctl-replay(1)", "notifyctl-list(1)", "notifyctl-cancel(1)"};
  return page;
}

void register_options(OptionSet& set, ParkOptions& options) {
  set.positional("ACTION", &options.action, "what to do").one_of({"list", "show", "add", "drop"});
  set.positional("ID", &options.ids, "message ids or keys; - reads them from standard input (add, drop)");
  set.add("--reason", &options.list.reason, "TEXT", "list: only this reason; add, drop: why, needed");
  set.add("--channel", &options.list.channel, "NAME", "only this channel").completes(Completion::kChannel);
  set.add("--kind", &options.list.kind, "KIND", "only this kind");
  set.add("--since", &options.list.since, "TIME", "parked at or after; 2h means two hours ago");
  set.add("--until", &options.list.until, "TIME", "parked before");
  set.add("--key-prefix", &options.list.key_prefix, "TEXT", "only keys that begin so");
  set.add("--limit", &options.list.limit, "N", "at most so many rows; 0: all").between(0, INT64_MAX);
  set.flag("--oldest-first", options.list.oldest_first, "turn the order round");
  set.flag("--reveal", options.list.reveal, "show addresses and content as they are");
}

Result<int> run(const ParkOptions& options, Context& context) {
  TRY(check_options(options));
  if (options.action == "show") return show_one(options, context);
  if (options.action == "list") {
    ListOptions list = options.list;
    list.subject = "parked";
    return run(list, context);
  }
  TRY_ASSIGN(const std::vector<std::string> ids, read_ids(options.ids, context));
  TRY_ASSIGN(const std::unique_ptr<OperatorDesk> desk, OperatorDesk::open(context));
  const bool add = options.action == "add";
  TRY_ASSIGN(const OperatorSummary summary, add ? park_messages(desk->ports(), ids, options.list.reason)
                                                : drop_parked(desk->ports(), ids, options.list.reason));
  return report_operation(context, summary, add ? kAddWords : kDropWords, true);
}

}  // namespace notify

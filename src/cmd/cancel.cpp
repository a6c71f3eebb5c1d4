#include "cmd/cancel.hpp"

#include "cmd/operator.hpp"
#include "cmd/status.hpp"
#include "core/cancel.hpp"
#include "core/message.hpp"
#include "core/report.hpp"

namespace notify {
namespace {

constexpr OperatorWords kCancelWords{"cancelled", "cancelled", "were stopped already"};
constexpr OperatorWords kDryCancelWords{"cancelled", "would cancel", "are stopped already"};

// Fixed at the start: what is enqueued under the prefix later is not meant.
Result<std::vector<std::string>> ids_under(OperatorDesk& desk, const std::string& prefix, Instant now) {
  std::vector<std::string> ids;
  ListFilter filter;
  filter.key_prefix = prefix;
  filter.newest_first = false;
  TRY(desk.store().list(ListSubject::kOutbox, filter, now, [&](const ListRow& row) {
    ids.push_back(row.message_id);
    return true;
  }));
  return ids;
}

// No further messages are made from here on; those that were are cancelled like any others.
Result<std::vector<std::string>> ids_of_broadcast(OperatorDesk& desk, const CancelOptions& options, Context& context) {
  SqliteStore& store = desk.store();
  TRY_ASSIGN(const std::optional<Broadcast> broadcast, store.broadcasts().find(*options.broadcast));
  if (!broadcast) return unknown_broadcast(*options.broadcast);
  if (!options.dry_run) {
    TRY(store.write([&]() -> Result<void> {
      TRY(store.broadcasts().close(broadcast->id, BroadcastState::kCancelled, options.why, context.clock().now()));
      return {};
    }));
  }
  return store.broadcasts().message_ids(broadcast->id);
}

}  // namespace

Page cancel_page() {
  Page page;
  page.synopsis = {"ID… [--why TEXT]", "--key-prefix TEXT [--why TEXT] [--dry-run]",
                   "--broadcast KEY [--why TEXT] [--dry-run]"};
  page.description =
      "Stops messages that have not been sent. What the relay has not handed on yet becomes SKIPPED; what is on its "
      "way "
      "is stopped where a worker would claim it, unless the worker was first: whoever is first wins. What is being "
      "sent, "
      "or has come to an end, is refused as too late.\n\n"
      "`notifyctl replay ID` takes it back.";
  page.examples = {{"One message, by its key", "notifyctl cancel GRADE:2026-11:42 --why \"wrong term\""},
                   {"A whole campaign", "notifyctl cancel --key-prefix campaign-7:"},
                   {"A broadcast, wherever it is", "notifyctl cancel --broadcast closing:2026-11-29"},
                   {"What would that stop?", "notifyctl cancel --key-prefix campaign-7: --dry-run"}};
  page.exits = {{0, "done; what was stopped before counts as done"},
                {1, "some messages could not be stopped any more"},
                {65, "there is no database"},
                {74, "the database could not be written (disk full)"},
                {75, "the database is busy"}};
  page.see_also = {"notifyctl-replay(1)", "notifyctl-park(1)", "notifyctl-show(1)"};
  return page;
}

void register_options(OptionSet& set, CancelOptions& options) {
  set.positional("ID", &options.ids, "message ids or keys; - reads them from standard input");
  set.add("--key-prefix", &options.key_prefix, "TEXT", "all messages whose keys begin so");
  set.add("--broadcast", &options.broadcast, "KEY", "this broadcast: what it has made, and what it would still make");
  set.add("--why", &options.why, "TEXT", "kept in the history of each message");
  set.flag("--dry-run", options.dry_run, "say how many; change nothing");
}

Result<int> run(const CancelOptions& options, Context& context) {
  if (static_cast<int>(!options.ids.empty()) + static_cast<int>(!options.key_prefix.empty()) +
          static_cast<int>(options.broadcast.has_value()) !=
      1)
    return fail(Code::kUsage, "either ids or --key-prefix or --broadcast is needed",
                "notifyctl help cancel shows examples");
  TRY(check_why("--why", options.why, limits::kDetail / 2));
  TRY_ASSIGN(std::vector<std::string> ids, read_ids(options.ids, context));
  TRY_ASSIGN(const std::unique_ptr<OperatorDesk> desk, OperatorDesk::open(context));
  if (options.broadcast) {
    TRY_ASSIGN(ids, ids_of_broadcast(*desk, options, context));
  } else if (options.ids.empty()) {
    TRY_ASSIGN(ids, ids_under(*desk, options.key_prefix, context.clock().now()));
  }
  if (options.dry_run) {
    TRY_ASSIGN(const OperatorSummary would, cancel_dry(desk->ports(), ids));
    if (!context.json())
      context.out().line(std::string(kDryCancelWords.done) + " " + std::to_string(would.done) + " of " +
                         messages(would.selected));
    return context.json() ? report_operation(context, would, kDryCancelWords) : Result<int>(0);
  }
  TRY_ASSIGN(const OperatorSummary summary, cancel_messages(desk->ports(), ids, options.why));
  return report_operation(context, summary, kCancelWords);
}

}  // namespace notify

#include "cmd/cancel.hpp"

#include <nlohmann/json.hpp>

#include "cmd/operator.hpp"
#include "cmd/render.hpp"
#include "cmd/status.hpp"
#include "core/cancel.hpp"
#include "core/message.hpp"
#include "core/report.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

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

// What a broadcast comes to: no further messages are made, those that were are cancelled like any others.
struct StoppedBroadcast {
  Broadcast broadcast{};
  std::int64_t recipients = 0;  // that get no message any more

  Json json() const {
    return {{"broadcast",
             {{"broadcast_id", "broadcast-" + std::to_string(broadcast.id)},
              {"key", broadcast.request.key},
              {"status", name(broadcast.state)},
              {"stopped", recipients}}}};
  }
};

Result<StoppedBroadcast> stop_broadcast(SqliteStore& store, const CancelOptions& options, Instant now) {
  StoppedBroadcast stopped;
  const auto look = [&]() -> Result<void> {
    TRY_ASSIGN(std::optional<Broadcast> found, store.broadcasts().find(*options.broadcast));
    if (!found) return unknown_broadcast(*options.broadcast);
    const bool unfinished = found->state == BroadcastState::kOpen || found->state == BroadcastState::kFailed;
    stopped = {std::move(*found), 0};
    if (unfinished) stopped.recipients = stopped.broadcast.request.recipients - stopped.broadcast.fanned_out;
    return {};
  };
  TRY(look());
  if (options.dry_run) return stopped;
  TRY(store.write([&]() -> Result<void> {
    TRY(look());  // the relay may have gone on
    TRY_ASSIGN(const bool closed,
               store.broadcasts().close(stopped.broadcast.id, BroadcastState::kCancelled, options.why, now));
    if (closed) stopped.broadcast.state = BroadcastState::kCancelled;
    return {};
  }));
  return stopped;
}

std::string broadcast_words(const StoppedBroadcast& stopped, bool would) {
  const std::int64_t others = stopped.recipients;
  return "the broadcast " + printable(stopped.broadcast.request.key) + (would ? " would make" : " makes") +
         " no further messages: " + std::to_string(others) + (others == 1 ? " recipient" : " recipients") + " of " +
         std::to_string(stopped.broadcast.request.recipients) + " had none yet";
}

Result<int> report_dry(const OperatorSummary& would, const std::optional<StoppedBroadcast>& stopped, Context& context) {
  if (!context.json()) {
    context.out().line(std::string(kDryCancelWords.done) + " " + std::to_string(would.done) + " of " +
                       messages(would.selected));
    if (stopped) context.out().line(broadcast_words(*stopped, true));
    return 0;
  }
  Json json = operation_json(would, kDryCancelWords);
  json["dry_run"] = true;
  if (stopped) json.update(stopped->json());
  context.out().line(to_text(json));
  return 0;
}

Result<void> check_selection(const CancelOptions& options) {
  const int given = static_cast<int>(!options.ids.empty()) + static_cast<int>(!options.key_prefix.empty()) +
                    static_cast<int>(options.broadcast.has_value());
  if (given == 1) return {};
  return fail(Code::kUsage,
              given == 0 ? "which messages? neither ids, --key-prefix nor --broadcast were given"
                         : "ids, --key-prefix and --broadcast: only one of them",
              given == 0 ? "notifyctl help cancel shows examples" : "run it once for each");
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
      "or has come to an end, is refused as too late. A broadcast makes no further messages, and it is said how many "
      "recipients had none yet.\n\n"
      "`notifyctl replay ID` takes it back.";
  page.examples = {{"One message, by its key", "notifyctl cancel GRADE:2026-11:42 --why \"wrong term\""},
                   {"A whole campaign", "notifyctl cancel --key-prefix campaign-7:"},
                   {"A broadcast, wherever it is", "notifyctl cancel --broadcast closing:2026-11-29"},
                   {"What would that stop?", "notifyctl cancel --key-prefix campaign-7: --dry-run"}};
  page.exits = {{0, "done; what was stopped before counts as done"},
                {1, "some messages could not be stopped any more"},
                {65, "standard input has no ids, no such broadcast, or there is no database"},
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
  TRY(check_selection(options));
  TRY(check_why("--why", options.why, limits::kDetail / 2));
  TRY_ASSIGN(std::vector<std::string> ids, read_ids(options.ids, context));
  TRY_ASSIGN(const std::unique_ptr<OperatorDesk> desk, OperatorDesk::open(context));
  std::optional<StoppedBroadcast> stopped;
  if (options.broadcast) {
    TRY_ASSIGN(stopped, stop_broadcast(desk->store(), options, context.clock().now()));
    TRY_ASSIGN(ids, desk->store().broadcasts().message_ids(stopped->broadcast.id));
  } else if (options.ids.empty()) {
    TRY_ASSIGN(ids, ids_under(*desk, options.key_prefix, context.clock().now()));
  }
  if (options.dry_run) {
    TRY_ASSIGN(const OperatorSummary would, cancel_dry(desk->ports(), ids));
    return report_dry(would, stopped, context);
  }
  TRY_ASSIGN(const OperatorSummary summary, cancel_messages(desk->ports(), ids, options.why));
  const Json more = stopped ? stopped->json() : Json::object();
  Result<int> status = report_operation(context, summary, kCancelWords, false, &more);
  if (stopped && !context.json() && context.out().is_terminal() && !context.globals().quiet)
    context.out().line(broadcast_words(*stopped, false));
  return status;
}

}  // namespace notify

#include "cmd/replay.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cmd/errors.hpp"
#include "cmd/operator.hpp"
#include "cmd/render.hpp"
#include "core/message.hpp"
#include "core/rate_text.hpp"
#include "core/replay.hpp"
#include "core/safe_text.hpp"
#include "core/selection.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr OperatorWords kReplayWords{"replayed", "replayed", "were waiting to go already"};
constexpr OperatorWords kDryReplayWords{"replayed", "would replay", "wait to go already"};
constexpr std::size_t kShown = 10;

Result<std::optional<SelectionKind>> selection_of(const ReplayCommandOptions& options) {
  const std::pair<bool, SelectionKind> given[]{{options.parked, SelectionKind::kParked},
                                               {options.failed, SelectionKind::kFailed},
                                               {options.expired, SelectionKind::kExpired},
                                               {options.skipped, SelectionKind::kSkipped},
                                               {options.error, SelectionKind::kError}};
  std::optional<SelectionKind> selection;
  for (const auto& [is_given, kind] : given) {
    if (!is_given) continue;
    if (selection) return fail(Code::kUsage, "--parked, --failed, --expired, --skipped, --error: only one of them");
    selection = kind;
  }
  if (selection && !options.ids.empty())
    return fail(Code::kUsage, "either ids or a selection such as --parked, not both");
  if (!selection && options.ids.empty())
    return fail(Code::kUsage, "which messages? neither ids nor a selection were given",
                "notifyctl replay ID…, or --parked, --failed, --expired, --skipped, --error");
  const bool filters = !options.channel.empty() || !options.kind.empty() || !options.reason.empty() || options.since ||
                       options.until || !options.key_prefix.empty() || options.limit != 0;
  if (!selection && filters) return fail(Code::kUsage, "filters such as --channel need a selection such as --parked");
  if (selection == SelectionKind::kError && !options.accept_duplicates && !options.dry_run)
    return fail(Code::kUsage,
                "--error: these messages may have been delivered, and would then be delivered a second time",
                "ask the vendor first; --accept-duplicates replays them all the same, --dry-run shows them");
  return selection;
}

Result<ListFilter> filter_of(const ReplayCommandOptions& options, Context& context) {
  ListFilter filter;
  filter.channel = options.channel;
  filter.kind = options.kind;
  filter.reason = options.reason;
  filter.key_prefix = options.key_prefix;
  filter.limit = options.limit;
  if (options.since) {
    TRY_ASSIGN(filter.since, context.time_option("--since", *options.since, true));
  }
  if (options.until) {
    TRY_ASSIGN(filter.until, context.time_option("--until", *options.until, true));
  }
  return filter;
}

Result<ReplayOptions> replay_options(const ReplayCommandOptions& options, Context& context) {
  ReplayOptions replay;
  TRY(check_why("--why", options.why, limits::kDetail / 2));
  replay.why = options.why;
  replay.accept_duplicates = options.accept_duplicates;
  if (const Result<const Zone*> zone = context.zone()) replay.zone = *zone;  // else times are shown in UTC
  if (!options.rate.empty()) {
    auto rate = parse_rate(options.rate);
    if (!rate) return refuse_option("--rate", std::move(rate).error());
    replay.rate = *rate;
  }
  if (options.expires) {
    TRY_ASSIGN(replay.expires, context.time_option("--expires", *options.expires));
    if (*replay.expires <= context.clock().now()) return fail(Code::kUsage, "--expires: this time is over already");
  }
  auto patch = PayloadPatch::parse(options.patch, options.sets);
  if (!patch) return fail(Code::kUsage, described(patch.error()), patch.error().hint);
  replay.patch = std::move(*patch);
  return replay;
}

// For named messages what a selection has read already.
Result<std::vector<ListRow>> look_up(OperatorDesk& desk, const std::vector<std::string>& ids) {
  std::vector<ListRow> rows;
  for (std::size_t i = 0; i < std::min(ids.size(), kShown); ++i) {
    TRY_ASSIGN(const std::optional<Whereabouts> at, desk.store().operators().whereabouts(ids[i]));
    if (!at) continue;
    ListRow& row = rows.emplace_back();
    row.message_id = at->message_id;
    row.key = at->key;
    row.channel = at->channel;
    row.to = at->recipient;
    row.kind = at->kind;
    row.status = at->inbox ? name(*at->inbox) : at->parked ? "PARKED" : at->outbox ? name(*at->outbox) : "";
    row.reason = at->parked ? at->parked_reason : at->inbox ? at->inbox_reason : at->outbox_reason;
  }
  return rows;
}

void show_first(const std::vector<ListRow>& rows, bool reveal, Context& context) {
  Table table(
      {{"MESSAGE", true}, {"KEY", true}, {"CHANNEL"}, {"TO", true}, {"KIND", true}, {"STATUS"}, {"REASON", true}});
  for (const ListRow& row : rows)
    table.add({row.message_id, row.key, row.channel, reveal ? row.to : mask_address(row.to), row.kind, row.status,
               row.reason});
  if (table.empty()) return;
  context.out().write(
      table.text(static_cast<std::size_t>(context.out().is_terminal() ? context.out().width() : 10'000)));
}

Json dry_json(const OperatorSummary& summary, const std::vector<ListRow>& rows, bool reveal) {
  Json json{{"dry_run", true}};
  json.update(operation_json(summary, kDryReplayWords));
  json["messages"] = Json::array();
  for (const ListRow& row : rows)
    json["messages"].push_back({{"message_id", row.message_id},
                                {"key", row.key.empty() ? Json() : Json(row.key)},
                                {"channel", row.channel},
                                {"to", reveal ? row.to : mask_address(row.to)},
                                {"kind", row.kind},
                                {"status", row.status},
                                {"reason", row.reason.empty() ? Json() : Json(row.reason)}});
  return json;
}

Result<int> dry_run(const ReplayCommandOptions& options, const ReplayOptions& how, const Selected& selected,
                    OperatorDesk& desk, Context& context) {
  TRY_ASSIGN(const OperatorSummary summary, replay_dry(desk.ports(), selected.ids, how));
  if (context.json()) {
    context.out().line(to_text(dry_json(summary, selected.first, options.reveal)));
    return 0;
  }
  std::string text =
      std::string(kDryReplayWords.done) + " " + std::to_string(summary.done) + " of " + messages(summary.selected);
  if (summary.unchanged > 0)
    text += ", " + std::to_string(summary.unchanged) + " " + std::string(kDryReplayWords.unchanged);
  if (summary.refused > 0) text += ", " + std::to_string(summary.refused) + " would be refused";
  context.out().line(text);
  show_first(selected.first, options.reveal, context);
  for (const Refusal& refusal : summary.refusals)
    context.out().line(printable(refusal.message_id) + ": " + printable(refusal.reason));
  return 0;
}

}  // namespace

Page replay_page() {
  Page page;
  page.synopsis = {
      "ID… [--yes] [--why TEXT] [--set MEMBER=TEXT] [--patch JSON] [--expires T] [--accept-duplicates]",
      "- [--yes]",
      ("--parked [--channel NAME] [--kind KIND] [--reason REASON] [--since T] [--until T] [--key-prefix TEXT] "
       "[--limit N] [--rate R] [--yes]"),
      "--failed",
      "--expired --expires T",
      "--skipped",
      "--error --accept-duplicates",
      "--dry-run"};
  page.description =
      "Puts messages back to their start, under the same ids: what is parked, FAILED, EXPIRED or SKIPPED goes out "
      "again "
      "with the next run of relay and worker, as if it had just been accepted. Use it after the cause is mended. "
      "Consent, "
      "quiet hours and expiry hold as before.\n\n"
      "The set is fixed at the start; what fails again is not picked up again. Each message moves in one transaction, "
      "so "
      "an interrupted replay is completed by running it again. What was SENT is refused. What a worker or relay is "
      "busy with is refused too, as in progress. A message in a backoff is tried at once. What `notifyctl park drop` "
      "has "
      "closed stays closed: no selection finds it, and by name it is refused.\n\n"
      "ERROR means that nobody knows whether the message was delivered. Such a message is only replayed with "
      "`--accept-duplicates`: it may then arrive a second time.\n\n"
      "`--set` and `--patch` mend what the messages say; the original is kept and shown by `notifyctl show`, and the "
      "dedup key goes on standing for the original content. `--patch` is a JSON merge patch (RFC 7396) over the "
      "members "
      "subject, body, html, alt, data, template, vars and to.\n\n"
      "On a terminal it asks before it does anything; elsewhere `--yes` is needed. With `-` ids come from standard "
      "input, "
      "one a line, or as the JSON lines of `notifyctl list --json`.";
  page.examples = {{"After the credentials were mended: everything that is parked for one channel, 20 a second",
                    "notifyctl replay --parked --channel sms --rate 20/s --why \"password renewed\""},
                   {"What would that be?", "notifyctl replay --parked --channel sms --dry-run"},
                   {"One message, with a body that the vendor accepts",
                    "notifyctl replay GRADE:2026-11:42 --set \"body=Your grades are in.\""},
                   {"What expired during the night is still worth something until noon",
                    "notifyctl replay --expired --since \"yesterday 22:00\" --expires \"today 12:00\""},
                   {"Chosen by another program",
                    "notifyctl list parked --json | jq -c 'select(.attempts < 3)' |\n"
                    "    notifyctl replay - --yes"}};
  page.exits = {{0, "done, or there was nothing to replay"},
                {1, "some messages were refused, or the answer was no"},
                {64, "the command line is wrong, or there is no terminal and no --yes"},
                {65, "standard input has no ids, or there is no database"},
                {74, "the database could not be written (disk full)"},
                {75, "the database is busy"}};
  page.see_also = {"notifyctl-park(1)", "notifyctl-list(1)", "notifyctl-show(1)"};
  return page;
}

void register_options(OptionSet& set, ReplayCommandOptions& options) {
  set.positional("ID", &options.ids, "message ids or keys; - reads them from standard input");
  set.group("Which messages");
  set.flag("--parked", options.parked, "what is parked");
  set.flag("--failed", options.failed, "what was given up by the relay or refused by the vendor");
  set.flag("--expired", options.expired, "what expired before it was sent; needs --expires");
  set.flag("--skipped", options.skipped, "what was cancelled, dropped or not allowed");
  set.flag("--error", options.error, "what may or may not have been delivered; needs --accept-duplicates");
  set.add("--channel", &options.channel, "NAME", "only this channel").completes(Completion::kChannel);
  set.add("--kind", &options.kind, "KIND", "only this kind");
  set.add("--reason", &options.reason, "REASON", "only this reason, as notifyctl list shows it");
  set.add("--since", &options.since, "TIME", "made (parked, claimed) at or after; 2h means two hours ago");
  set.add("--until", &options.until, "TIME", "made (parked, claimed) before");
  set.add("--key-prefix", &options.key_prefix, "TEXT", "only keys that begin so");
  set.add("--limit", &options.limit, "N", "at most so many messages; 0: all").between(0, INT64_MAX);
  set.group("How");
  set.flag("--dry-run", options.dry_run, "say how many and show the first ten; change nothing");
  set.flag("--yes", options.yes, "do not ask");
  set.add("--rate", &options.rate, "RATE", "spread them over time, as 20/s or 100/m");
  set.add("--why", &options.why, "TEXT", "kept in the history of each message");
  set.add("--expires", &options.expires, "TIME", "a new time from which on they are worthless");
  set.flag("--accept-duplicates", options.accept_duplicates, "replay what may have been delivered already");
  set.add("--set", &options.sets, "MEMBER=TEXT", "mend what they say; without a text the member goes")
      .more("MEMBER is subject, body, html, alt, template, data (JSON), to, or vars.NAME.");
  set.add("--patch", &options.patch, "JSON", "mend what they say by a JSON merge patch");
  set.flag("--reveal", options.reveal, "show addresses as they are");
}

Result<int> run(const ReplayCommandOptions& options, Context& context) {
  TRY_ASSIGN(const std::optional<SelectionKind> selection, selection_of(options));
  TRY_ASSIGN(ReplayOptions how, replay_options(options, context));
  TRY_ASSIGN(ListFilter filter, filter_of(options, context));
  const bool reads_input = std::find(options.ids.begin(), options.ids.end(), "-") != options.ids.end();
  Selected selected;
  TRY_ASSIGN(selected.ids, read_ids(options.ids, context));

  TRY_ASSIGN(const std::unique_ptr<OperatorDesk> desk, OperatorDesk::open(context));
  if (selection) {
    TRY_ASSIGN(selected, select_messages(desk->store(), *selection, std::move(filter), context.clock().now()));
  } else if (options.dry_run) {
    TRY_ASSIGN(selected.first, look_up(*desk, selected.ids));
  }
  if (options.dry_run) {
    // A look at them is free; what they need is said.
    if (selection == SelectionKind::kError && !std::exchange(how.accept_duplicates, true) && !selected.ids.empty())
      context.warn("these messages may have been delivered already: only --accept-duplicates replays them",
                   "ask the vendor first");
    return dry_run(options, how, selected, *desk, context);
  }
  if (selected.ids.empty()) return report_operation(context, {}, kReplayWords);

  // Named messages of which none can be replayed are no question.
  if (!selection) {
    TRY_ASSIGN(const OperatorSummary would, replay_dry(desk->ports(), selected.ids, how));
    if (would.done + would.unchanged == 0) return report_operation(context, would, kReplayWords);
  }
  const std::string question = "replay " + messages(static_cast<std::int64_t>(selected.ids.size()));
  TRY_ASSIGN(const bool yes, confirmed(context, question, options.yes, reads_input));
  if (!yes) return fail(Code::kPartial, "nothing was replayed: the answer was no", "--dry-run shows what it would be");
  TRY_ASSIGN(const OperatorSummary summary, replay(desk->ports(), selected.ids, how));
  return report_operation(context, summary, kReplayWords);
}

}  // namespace notify

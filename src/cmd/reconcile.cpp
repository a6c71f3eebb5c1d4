#include "cmd/reconcile.hpp"

#include "channel/registry.hpp"
#include "cmd/drivers.hpp"
#include "cmd/engine.hpp"
#include "cmd/receipt_import.hpp"
#include "cmd/receipt_recipe.hpp"
#include "cmd/summaries.hpp"
#include "core/alert_teller.hpp"
#include "core/look_ups.hpp"
#include "core/safe_text.hpp"
#include "sys/process_runner.hpp"

namespace notify {
namespace {

constexpr std::size_t kShownOutput = 200;  // bytes of what a failed alert program said

Result<ReceiptImport> import_of(const ReconcileOptions& options) {
  ReceiptImport import{*options.receipts, ReceiptFormat::kJsonLines, options.channel.value_or("")};
  const bool csv = options.format ? *options.format == "csv" : import.file.ends_with(".csv");
  if (csv) import.format = ReceiptFormat::kCsv;
  return import;
}

// What the receipts are written in: one of ours, or as a vendor posts them.
bool is_recipe(const ReconcileOptions& options) {
  return options.format && *options.format != "jsonl" && *options.format != "csv";
}

Result<void> take_receipts(const ReconcileOptions& options, Engine& engine, Reconciler& reconciler) {
  if (!is_recipe(options)) {
    TRY_ASSIGN(const ReceiptImport import, import_of(options));
    return import_receipts(import, reconciler, engine.context());
  }
  TRY_ASSIGN(const ChannelConfig* channel,
             receipt_channel(engine.config(), *options.format, options.channel.value_or("")));
  TRY_ASSIGN(const std::string source, engine.store().source());
  return import_posted_receipts(*options.receipts, *channel, source, reconciler, engine.context());
}

Result<void> check_options(const ReconcileOptions& options) {
  if (!options.receipts && (options.format || options.channel))
    return fail(Code::kUsage, "--format and --channel say what --receipts holds, and there is no --receipts");
  return {};
}

// Asks the vendors that can be asked. A channel that cannot be made (its secret is missing, say) is left out with a
// warning: the other steps must not wait for it.
Result<void> look_up(Engine& engine, Reconciler& reconciler) {
  std::vector<ChannelConfig> asked;
  for (const ChannelConfig& channel : engine.config().channels) {
    if (!looks_up(channel)) continue;
    TRY_ASSIGN(const std::vector<InboxRow> rows, reconciler.to_look_up(channel));
    if (!rows.empty()) asked.push_back(channel);
  }
  if (asked.empty()) return {};
  const Drivers drivers(engine, std::move(asked), 16);
  for (const WorkLane& lane : drivers.lanes()) {
    if (lane.driver != nullptr) continue;
    engine.context().warn("its vendor cannot be asked about messages that are ERROR: " + lane.trouble.message,
                          lane.trouble.hint);
  }
  Result<void> result;
  LookUps look_ups(reconciler, drivers.lanes(), [&](Result<void> done) {
    result = std::move(done);
    engine.loop().stop();
  });
  look_ups.start();
  engine.loop().run();  // returns at once when all is answered already
  return result;
}

// True: the program has taken them.
bool run_program(Engine& engine, const std::vector<Alert>& alerts) {
  const AlertsConfig& config = engine.config().alerts;
  SystemProcessRunner processes(engine.loop());
  ProcessRequest request;
  request.argv = config.exec;
  request.input = AlertTeller::lines(alerts);
  request.timeout = config.timeout;
  ProcessResult result;
  processes.run(std::move(request), [&](ProcessResult ended) {
    result = std::move(ended);
    engine.loop().stop();
  });
  engine.loop().run();
  engine.context().crash_points().reach(CrashPoint::kReconcileAfterAlertExec);
  if (result.started && !result.timed_out && result.exit_code == 0) return true;

  std::string why = "it ended with " + std::to_string(result.exit_code);
  if (!result.started) {
    why = result.error;
  } else if (result.timed_out) {
    why = "it took longer than [alerts] timeout";
  } else if (result.signal != 0) {
    why = "it was ended by signal " + std::to_string(result.signal);
  }
  if (!result.output.empty()) why += ": " + safe_text(result.output, kShownOutput);
  engine.context().warn(
      std::to_string(alerts.size()) + " alerts could not be told by " + config.exec.front() + ": " + why,
      "they stay due and are told by the next run; notifyctl status shows them");
  return false;
}

Result<void> tell_alerts(Engine& engine, Reconciler& reconciler) {
  AlertTeller teller(engine.store(), engine.context().clock(), engine.config().alerts);
  TRY_ASSIGN(const std::vector<Alert> due, teller.due());
  if (due.empty()) return {};
  const bool exec_done = !engine.config().alerts.exec.empty() && run_program(engine, due);
  TRY_ASSIGN(reconciler.summary().alerts, teller.tell(due, exec_done));
  engine.context().crash_points().reach(CrashPoint::kReconcileAfterAlerts);
  return {};
}

// What only one process at a time does.
Result<void> reconcile(const ReconcileOptions& options, Engine& engine, Reconciler& reconciler) {
  TRY(reconciler.recover());
  TRY(reconciler.apply_waiting());
  TRY(look_up(engine, reconciler));
  TRY(reconciler.verify(options.verify));
  TRY(reconciler.republish(options.verify));
  TRY(reconciler.watch());
  return tell_alerts(engine, reconciler);
}

}  // namespace

Page reconcile_page() {
  Page page;
  page.synopsis = {"[--verify]", "--receipts FILE|- [--format jsonl|csv|ses|RECIPE] [--channel NAME]"};
  page.description =
      "Ends what nobody else will end. For cron, every five minutes. Only one runs at a time; a second one leaves at "
      "once with 0.\n\n"
      "In this order: claims of processes that died, and claims that are older than their channel's `stale_after`, "
      "become ERROR with an alert, or are taken up again with the same key where the vendor honours it. Delivery "
      "receipts are taken. Vendors that can be asked are asked about messages that are ERROR. Counters are compared "
      "with the tables and mended. Published messages that are in no table are handed on again; the inbox stops a "
      "second copy. Alerts are raised for what stands still and closed when it is over. Alerts that are due are told, "
      "by the program or the channel in `[alerts]`.\n\n"
      "Receipts: with `--receipts`, what a vendor reported later is read from a file or from standard input. Each line "
      "names its message by `message_id`, or by the vendor's `reference`, and has an `outcome` (or `status`): "
      "`accepted` or `delivered`; `refused`, `failed` or `undelivered`. `channel`, `at` (RFC 3339 with a zone, or "
      "@seconds), `reason` and `attempt` may be there. An acceptance settles its message as SENT and stops every "
      "further call, also after a replay. A refusal ends only the call that it names: ERROR becomes FAILED, and the "
      "message is parked. A receipt is taken once, however often its file is imported; one that belongs to no message "
      "yet is kept for a week. Bad lines are reported as `FILE:LINE: field: reason`, the others are taken.\n\n"
      "With the name of a recipe as format, the input is one body as that vendor posts it, see notifyctl-recipes(5); "
      "with "
      "`ses`, one event of Amazon SES, in the envelope of SNS, from EventBridge or bare. "
      "Where "
      "the vendor signs, the signature is checked with the settings of the channel that has this recipe (`--channel` "
      "says "
      "which, when several have): headers are taken from the environment as a CGI script gets them "
      "(`HTTP_X_SIGNATURE`), "
      "the URL from `NOTIFYCTL_RECEIPT_URL`. A body whose signature is missing or wrong is refused with 77, and "
      "nothing "
      "of it is taken. Where the recipe says so, a receipt also disables the address that its message went to, or "
      "halts "
      "the channel when the message was sent within the last hour; and so do answers to questions.\n\n"
      "A database with more than 100,000 messages is compared and searched once a day, when its accounts do not "
      "balance, or with `--verify`.";
  page.examples = {
      {"Every five minutes, from cron", "*/5 * * * *  notifyctl reconcile"},
      {"Take a vendor's report", "notifyctl reconcile --receipts report.csv --channel sms"},
      {"What a vendor has just posted to a CGI script", "notifyctl reconcile --receipts - --format bizppurio"},
      {"Receipts from another program",
       "vendor-report | jq -c '{reference: .id, status: .state, at: .time}' |\n"
       "  notifyctl reconcile --receipts -"}};
  page.exits = {{0, "done, or another reconcile is running; alerts and what became of messages never change it"},
                {1, "done, but some lines of the receipts were bad"},
                {65, "the receipts cannot be read at all in that format"},
                {74, "the database could not be written (disk full)"},
                {75, "the database is busy"},
                {77, "the signature of a vendor's receipts is missing or wrong"},
                {78, "the configuration is wrong"}};
  page.see_also = {"notifyctl-relay(1)", "notifyctl-work(1)", "notifyctl-status(1)", "notifyctl.toml(5)"};
  return page;
}

void register_options(OptionSet& set, ReconcileOptions& options) {
  set.add("--receipts", &options.receipts, "FILE", "take delivery receipts from FILE, - for standard input")
      .completes(Completion::kFile);
  set.add("--format", &options.format, "FORMAT", "how the receipts are written: jsonl, csv, ses, or a recipe")
      .shows_default("csv when FILE ends in .csv, else jsonl");
  set.add("--channel", &options.channel, "NAME", "the channel of receipts that name none")
      .completes(Completion::kChannel);
  set.flag("--verify", options.verify, "compare all counters and search all messages, however many there are");
}

Result<int> run(const ReconcileOptions& options, Context& context) {
  TRY(check_options(options));
  TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::start(context, "reconcile", 2ms));
  const ReconcilePorts ports{engine->store(), engine->store(),  engine->transport(),    engine->locks(),
                             context.clock(), context.random(), context.crash_points(), engine->events()};
  Reconciler reconciler(ports, engine->config(), engine->run());

  // Before the lock: receipts are taken by whoever brings them, never dropped because another run is at work.
  Result<void> result;
  if (options.receipts) result = take_receipts(options, *engine, reconciler);
  TRY_ASSIGN(const bool ours, engine->locks().try_job(SingleJob::kReconcile));
  if (!ours) context.note("another reconcile is running; this one leaves");
  // Receipts that could not be read are no reason to leave the rest undone.
  const Result<void> done = ours ? reconcile(options, *engine, reconciler) : Result<void>();

  const std::string summary = summary_json(reconciler.summary());
  const Result<void> closed = engine->finish(ours && done.has_value(), summary);
  if (result) result = done ? closed : done;
  TRY_ASSIGN(const int status, conclude(context, result, summary, summary_words(reconciler.summary())));
  const std::int64_t rejected = reconciler.summary().rejected;
  if (status != 0 || rejected == 0) return status;
  if (!context.json()) return exit_status(Code::kPartial);  // each line was reported
  return fail(Code::kPartial,
              std::to_string(rejected) + (rejected == 1 ? " receipt was refused" : " receipts were refused"),
              "mend them and bring all of them again: what is known already changes nothing");
}

}  // namespace notify

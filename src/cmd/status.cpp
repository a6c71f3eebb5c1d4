#include "cmd/status.hpp"

#include <poll.h>

#include <algorithm>

#include "cmd/context.hpp"
#include "cmd/reading.hpp"
#include "cmd/render.hpp"
#include "sys/files.hpp"

namespace notify {
namespace {

constexpr const char* kHomeAndClear = "\x1b[H\x1b[2J";

Result<void> check_options(const StatusOptions& options, const Context& context) {
  const auto usage = [](std::string message) { return fail(Code::kUsage, std::move(message)); };
  if (options.broadcast && (options.prometheus || options.check || options.watch))
    return usage("--broadcast stands alone");
  if (options.output && !options.prometheus) return usage("--output needs --prometheus");
  if (options.prometheus && context.json()) return usage("either --prometheus or --json, not both");
  if (options.check && (options.prometheus || options.watch)) return usage("--check stands alone");
  if (options.watch && options.output) return usage("--watch and --output do not go together");
  return {};
}

std::string render(const StatusReport& report, const StatusOptions& options, Context& context) {
  if (options.prometheus) return status_prometheus(report);
  if (context.json()) return status_json(report, context) + "\n";
  return status_text(report, context, static_cast<std::size_t>(context.out().width()));
}

// For programs every configured channel is there, whether or not something waits for it: what vanishes and comes back
// is no series. People see those about which there is something to say.
Result<StatusReport> read_report(SqliteStore& store, const StatusOptions& options, Context& context) {
  TRY_ASSIGN(StatusReport report, store.status(context.clock().now()));
  if (!options.prometheus && !context.json()) return report;
  const Result<const Config*> config = context.config();
  if (!config) return report;  // a broken configuration is no reason to tell nothing
  for (const ChannelConfig& channel : (*config)->channels) {
    const auto same = [&](const ChannelReport& known) { return known.channel == channel.name; };
    if (std::any_of(report.channels.begin(), report.channels.end(), same)) continue;
    ChannelReport& open = report.channels.emplace_back();
    open.channel = channel.name;
    open.state = "open";
  }
  std::sort(report.channels.begin(), report.channels.end(),
            [](const ChannelReport& a, const ChannelReport& b) { return a.channel < b.channel; });
  return report;
}

Result<int> watch(SqliteStore& store, const StatusOptions& options, Context& context) {
  Output& out = context.out();
  while (true) {
    TRY_ASSIGN(const StatusReport report, read_report(store, options, context));
    const std::string text = render(report, options, context);
    if (out.is_terminal() && !context.json()) out.write(kHomeAndClear);
    out.write(text);
    TRY(out.flush());
    if (out.abandoned()) return 0;
    (void)poll(nullptr, 0, static_cast<int>(options.watch->count()));
  }
}

Result<int> check(SqliteStore& store, const StatusOptions& options, Context& context) {
  TRY_ASSIGN(const StatusReport report, read_report(store, options, context));
  const Judgement judgement = judge(report, options, store.check_fence());
  if (context.json())
    context.out().line(status_json(report, context));
  else
    context.out().line(judgement.text);
  return judgement.status;
}

Result<int> run_once(const StatusOptions& options, Context& context) {
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));
  if (options.check) return check(*store, options, context);
  if (options.watch) return watch(*store, options, context);
  TRY_ASSIGN(const StatusReport report, read_report(*store, options, context));
  const std::string text = render(report, options, context);
  if (!options.output) {
    context.out().write(text);
    return 0;
  }
  TRY(write_file_atomically(*options.output, text, 0644));
  return 0;
}

}  // namespace

Judgement judge(const StatusReport& report, const StatusOptions& options, const Result<void>& fence) {
  std::string warnings;
  std::string criticals;
  const auto add = [](std::string& list, const std::string& text) { list += (list.empty() ? "" : ", ") + text; };
  if (!fence) add(criticals, "every write is refused: " + fence.error().message);
  if (report.database.journal_mode != "wal")
    add(criticals, "every write is refused: the journal mode is " + report.database.journal_mode);
  if (!report.identity.holds)
    add(criticals, "the accounting does not add up (" + std::to_string(report.unaccounted) + " unaccounted)");
  if (report.oldest_unsent && *report.oldest_unsent > options.max_age)
    add(criticals, "the oldest unsent message waits for " + show_age(report.oldest_unsent->count() / 1000));
  if (report.parked.total > options.max_parked) add(warnings, std::to_string(report.parked.total) + " parked");
  if (report.inbox.error > options.max_errors)
    add(warnings, std::to_string(report.inbox.error) + " with unknown outcome");
  if (report.alerts_open > options.max_alerts) add(warnings, std::to_string(report.alerts_open) + " open alerts");
  for (const ChannelReport& channel : report.channels)
    if (channel.state == "halted") add(warnings, "channel " + channel.channel + " is halted");
  if (report.clock_behind && *report.clock_behind > 1min)
    add(warnings, "the clock is behind what is stored by " + show_age(report.clock_behind->count() / 1000));
  if (!criticals.empty()) return {2, "CRITICAL: " + criticals + (warnings.empty() ? "" : ", " + warnings)};
  if (!warnings.empty()) return {1, "WARNING: " + warnings};
  return {0, "OK: " + std::to_string(report.outbox.pending + report.queue.total()) + " waiting, " +
                 std::to_string(report.inbox.sent) + " sent"};
}

Page status_page() {
  Page page;
  page.synopsis = {"[--watch[=TIME]]", "--prometheus [--output FILE]",
                   "--check [--max-age TIME] [--max-parked N] [--max-errors N] [--max-alerts N]", "--broadcast KEY"};
  page.description =
      "One screen: how many messages are in which state, how long the oldest one waits, what is parked and "
      "why, what ended "
      "with an unknown outcome, channels that are paused or halted, the last successful runs, and whether "
      "the accounting "
      "adds up: every message that was accepted is counted in exactly one place.\n\n"
      "It reads, and neither waits for a writer nor makes one wait.\n\n"
      "With `--check` it prints one line and exits as monitoring systems expect: 0 all well, 1 warning, 2 "
      "critical. Critical are the accounting, the age of the oldest message, and a database that cannot be read or "
      "that "
      "refuses every write (a restored backup, another journal mode); the rest are warnings.";
  page.examples = {{"How are things?", "notifyctl status"},
                   {"For scripts", "notifyctl status --json | jq .outbox.PENDING"},
                   {"For the text-file collector of Prometheus, from cron",
                    "notifyctl status --prometheus \\\n"
                    "    --output /var/lib/node_exporter/notifyctl.prom"},
                   {"How far is the broadcast?", "notifyctl status --broadcast closing:2026-11-29"},
                   {"For Nagios and its kin", "notifyctl status --check --max-age 15m --max-parked 10"}};
  page.exits = {{0, "done; --check: all well"},
                {1, "--check: warning"},
                {2, "--check: critical"},
                {74, "the database or the output cannot be read or written"},
                {77, "the database belongs to somebody else"},
                {65, "there is no database"},
                {78, "the database is not usable"}};
  page.see_also = {"notifyctl-list(1)", "notifyctl-show(1)", "notifyctl-check(1)"};
  return page;
}

void register_options(OptionSet& set, StatusOptions& options) {
  set.add("--broadcast", &options.broadcast, "KEY", "how far this broadcast is, by its key or id");
  set.add("--watch", &options.watch, "TIME", "show it again and again, every 2 seconds or TIME")
      .optional_value("2s")
      .between(100ms, 1h);
  set.flag("--prometheus", options.prometheus, "print metrics in the text format of Prometheus");
  set.add("--output", &options.output, "FILE", "write the metrics there, whole or not at all")
      .completes(Completion::kFile);
  set.flag("--check", options.check, "print one line and exit with 0, 1 or 2");
  set.add("--max-age", &options.max_age, "TIME", "critical when a message that is due waits longer")
      .between(1s, 24h * 3650);
  set.add("--max-parked", &options.max_parked, "N", "warn when more are parked")
      .between(0, INT64_MAX)
      .shows_default("0");
  set.add("--max-errors", &options.max_errors, "N", "warn when more ended with an unknown outcome")
      .between(0, INT64_MAX)
      .shows_default("0");
  set.add("--max-alerts", &options.max_alerts, "N", "warn when more alerts are open")
      .between(0, INT64_MAX)
      .shows_default("0");
}

Result<int> run(const StatusOptions& options, Context& context) {
  TRY(check_options(options, context));
  if (options.broadcast) return show_broadcast(*options.broadcast, context);
  Result<int> result = run_once(options, context);
  if (result || !options.check) return result;
  // To a monitoring system what cannot be looked at is as bad as it gets.
  context.out().line("CRITICAL: " + printable(result.error().message));
  return 2;
}

}  // namespace notify

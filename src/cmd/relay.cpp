#include "cmd/relay.hpp"

#include "cmd/engine.hpp"
#include "cmd/summaries.hpp"
#include "core/duration.hpp"
#include "core/relay_service.hpp"
#include "sys/signals.hpp"
#include "sys/spool.hpp"
#include "sys/wal_watch.hpp"

namespace notify {
namespace {

// Cron starts the next run every five minutes.
constexpr Duration kMaxRun = 4min;

// A dry run looks at this many due rows at the most.
constexpr int kPreviewRows = 100'000;

Result<RelayConfig> settings(const RelayCommandOptions& options, const Config& config) {
  RelayConfig relay = config.relay;
  if (options.batch) relay.batch = *options.batch;
  if (options.lease) relay.lease = *options.lease;
  if (options.allow_surge) relay.surge = {};
  if (options.watch) relay.surge.per_hour_max = std::exchange(relay.surge.per_run_max, 0);
  if (relay.lease <= relay.batch_deadline) {
    return fail(Code::kUsage,
                "--lease " + format_duration(relay.lease) + " is too short: a batch may take " +
                    format_duration(relay.batch_deadline) + ", and its claims must hold longer than that",
                "give a longer --lease, or a shorter batch_deadline in [relay]");
  }
  return relay;
}

Result<int> preview(Engine& engine, Relay& relay) {
  TRY_ASSIGN(const RelaySummary counts, relay.preview(kPreviewRows));
  TRY(engine.finish(false, {}));
  Output& out = engine.context().out();
  const std::string words = summary_words(counts);
  out.line(engine.context().json() ? summary_json(counts) : words.empty() ? "nothing is due" : "would be: " + words);
  return 0;
}

}  // namespace

Page relay_page() {
  Page page;
  page.synopsis = {"[--batch N] [--lease T] [--max N] [--max-run T] [--allow-surge]", "--watch", "--dry-run"};
  page.description =
      "Hands messages that are due from the outbox to the queue, where `notifyctl work` takes them. For cron: one "
      "run hands on what is due and leaves. Overlapping runs are harmless; they take different messages.\n\n"
      "First it takes back what dead relays had claimed. Then, batch by batch, it decides about each message that is "
      "due (expired, not allowed outside production, quiet hours), claims the others in a short transaction, "
      "publishes them and marks them PUBLISHED once that is confirmed. A publish that fails is tried again after 1, "
      "2, 4, 8, 16 and then every 30 minutes; the fifth failure raises an alert; after a day of failures the message "
      "is FAILED.\n\n"
      "Broadcasts are fanned out on the way: a few hundred recipients a step, each step one transaction.\n\n"
      "With a [surge] table in the configuration, a run or an hour with far more messages than usual is stopped: what "
      "exceeds stays PENDING, an alert `surge` is raised, and `--allow-surge` lets it go. What expires meanwhile is "
      "told "
      "when its turn comes.\n\n"
      "With `--watch` it stays and picks a message up within milliseconds of its commit, without polling.";
  page.examples = {{"Every five minutes, from cron", "*/5 * * * *  notifyctl relay"},
                   {"As a service", "notifyctl relay --watch"},
                   {"Yes, all of these are meant", "notifyctl relay --allow-surge"},
                   {"What would a run do?", "notifyctl relay --dry-run"}};
  page.exits = {{0, "done, or nothing was due, or stopped in an orderly way by SIGTERM"},
                {69, "the transport refused; what was not handed on is tried again"},
                {74, "the database could not be written (disk full)"},
                {75, "the database is busy"},
                {78, "the configuration is wrong"}};
  page.see_also = {"notifyctl-work(1)", "notifyctl-status(1)", "notifyctl.toml(5)"};
  return page;
}

void register_options(OptionSet& set, RelayCommandOptions& options) {
  set.add("--batch", &options.batch, "N", "messages claimed in one transaction").between(1, 1000).shows_default("50");
  set.add("--lease", &options.lease, "T", "how long a claim holds before others may take it over")
      .between(1s, 24h)
      .shows_default("15m");
  set.add("--max", &options.max, "N", "leave after this many messages").between(1, INT64_MAX);
  set.add("--max-run", &options.max_run, "T", "leave after this time (not with --watch)")
      .between(1s, 24h)
      .shows_default("4m");
  set.flag("--watch", options.watch, "stay, and hand messages on as they are committed");
  set.flag("--dry-run", options.dry_run, "say what would be done and change nothing");
  set.flag("--allow-surge", options.allow_surge, "hand on what the surge guard holds, however much it is")
      .more("See [surge] in notifyctl.toml(5). A relay that stays goes on holding what comes after this run.");
}

Result<int> run(const RelayCommandOptions& options, Context& context) {
  if (options.watch && options.max_run)
    return fail(Code::kUsage, "either --watch or --max-run, not both",
                "--watch stays until it is told to stop (SIGTERM); for cron leave --watch out");
  TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::start(context, "relay", options.watch ? 2ms : 1ms));
  TRY_ASSIGN(const RelayConfig config, settings(options, engine->config()));
  const RelayPorts ports{engine->store(),  engine->transport(),    engine->locks(),  context.clock(),
                         context.random(), context.crash_points(), engine->events(), engine->policies()};
  Relay relay(ports, config, engine->run());
  if (options.dry_run) return preview(*engine, relay);
  if (options.allow_surge) {
    TRY(engine->store().write([&] { return engine->store().alerts().close("surge", "relay", context.clock().now()); }));
  }

  RelayServiceOptions how;
  how.watch = options.watch;
  how.max_rows = options.max.value_or(INT64_MAX);
  if (!options.watch) how.max_run = options.max_run.value_or(kMaxRun);
  Result<void> result;
  FileSpool spool(engine->store().path());
  FanOut fan_out(engine->store(), spool, context.clock(), context.crash_points(), engine->events());
  RelayService service(engine->loop(), relay, &fan_out, ports, how, [&](Result<void> ended) {
    result = std::move(ended);
    engine->loop().stop();
  });
  TRY_ASSIGN(const StopSignals signals, StopSignals::install(engine->loop(), [&](int) { service.stop(); }));
  std::optional<WalWatch> watch;
  if (options.watch) {
    watch.emplace(engine->loop(), engine->store().path(), [&] { service.wake(); });
    service.on_settled = [&] { watch->settled(); };
  }
  service.start();
  engine->loop().run();

  const std::string summary = summary_json(relay.summary());
  const Result<void> closed = engine->finish(result.has_value(), summary);
  return conclude(context, result ? closed : result, summary, summary_words(relay.summary()));
}

}  // namespace notify

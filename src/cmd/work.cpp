#include "cmd/work.hpp"

#include <algorithm>

#include "channel/registry.hpp"
#include "cmd/drivers.hpp"
#include "cmd/engine.hpp"
#include "cmd/summaries.hpp"
#include "core/lane_alerts.hpp"
#include "core/near_miss.hpp"
#include "core/rate_text.hpp"
#include "core/recovery.hpp"
#include "core/work_service.hpp"
#include "sys/descriptors.hpp"
#include "sys/files.hpp"
#include "sys/signals.hpp"
#include "sys/wal_watch.hpp"

namespace notify {
namespace {

constexpr Duration kTryClosedEvery = 30s;

std::vector<std::string> split_list(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    std::size_t begin = 0;
    while (begin <= list.size()) {
      const std::size_t comma = std::min(list.find(',', begin), list.size());
      if (comma > begin) names.push_back(list.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  return names;
}

// The channels this run serves, with what the options change about them.
Result<std::vector<ChannelConfig>> served_channels(const WorkCommandOptions& options, const Config& config) {
  std::vector<ChannelConfig> served;
  for (const std::string& name : split_list(options.channels)) {
    const ChannelConfig* channel = config.channel(name);
    if (channel == nullptr) {
      std::vector<std::string> known;
      for (const ChannelConfig& c : config.channels) known.push_back(c.name);
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) {
        for (const std::string& c : known) hint += (hint.empty() ? "configured are: " : ", ") + c;
        if (known.empty()) hint = "add a [channels." + name + "] table to the configuration; see notifyctl.toml(5)";
      }
      return fail(Code::kUsage, "no channel '" + name + "' is configured", std::move(hint));
    }
    served.push_back(*channel);
  }
  if (options.channels.empty()) served = config.channels;
  if (served.empty()) {
    return fail(Code::kConfig, "no channel is configured, so nothing can be sent",
                "add a [channels.NAME] table to the configuration; see notifyctl.toml(5)");
  }
  if (options.rate) {
    const Result<Rate> rate = parse_rate(*options.rate);
    if (!rate) return fail(Code::kUsage, "--rate: " + rate.error().message, "write a count and a time: 50/s, 600/m");
    for (ChannelConfig& channel : served) channel.rate = *rate;
  }
  return served;
}

WorkServiceOptions service_options(const WorkCommandOptions& options, const Config& config) {
  WorkServiceOptions how;
  how.drain = options.drain;
  how.max_run = options.max_run;
  how.max_messages = options.max.value_or(INT64_MAX);
  how.give_up_writing = config.work.shutdown_grace;
  return how;
}

// As many calls at a time as there are descriptors for.
int bounded_concurrency(Engine& engine, int wanted) {
  const std::int64_t limit = raise_descriptor_limit(wanted);
  const int calls = calls_within(limit, wanted);
  if (calls < wanted) {
    engine.events().emit({Event::Level::kWarning,
                          "work.few-descriptors",
                          {},
                          {},
                          "at most " + std::to_string(limit) + " open files are allowed, enough for " +
                              std::to_string(calls) + " calls at a time instead of " + std::to_string(wanted) + ": " +
                              kMoreDescriptors,
                          0});
  }
  return calls;
}

bool none_is_open(const std::vector<WorkLane>& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const WorkLane& lane) { return lane.driver == nullptr; });
}

// A lane without a driver is told at once (unless no lane has one: then the error of the run tells it), and in an alert. Trouble with the store here is met again, and handled, by
// the first turn.
void tell_closed_lanes(Engine& engine, const std::vector<WorkLane>& lanes) {
  for (const WorkLane& lane : lanes) {
    if (lane.driver != nullptr || none_is_open(lanes)) continue;
    engine.events().emit({Event::Level::kError, "lane.closed", {}, lane.config->name, lane.trouble.message, 0});
  }
  if (const Result<void> noted = note_closed_lanes(engine.store(), engine.context().clock(), lanes); !noted)
    engine.events().emit({Event::Level::kWarning, "lane.alert-failed", {}, {}, noted.error().message, 0});
}

const WorkLane* first_closed(const std::vector<WorkLane>& lanes) {
  const auto closed = std::find_if(lanes.begin(), lanes.end(), [](const WorkLane& l) { return l.driver == nullptr; });
  return closed != lanes.end() ? &*closed : nullptr;
}

// A service outlives the trouble of its start: what could not be served is tried again.
void keep_trying(Engine& engine, Drivers& drivers, WorkService& service) {
  engine.loop().after(kTryClosedEvery, [&] {
    for (const std::size_t lane : drivers.try_closed()) service.open_lane(lane, *drivers.lanes()[lane].driver);
    if (first_closed(drivers.lanes()) != nullptr) keep_trying(engine, drivers, service);
  });
}

Result<void> lanes_up(const Worker& worker, const std::vector<WorkLane>& lanes, Result<void> result) {
  if (!result || !worker.any_lane_down()) return result;
  if (const WorkLane* closed = first_closed(lanes)) {
    const std::string hint =
        closed->trouble.hint.empty() ? "mend it; the next run" : closed->trouble.hint + "; the next run";
    return fail(Code::kUnavailable, "channel " + closed->config->name + " was not served: " + closed->trouble.message,
                hint + " sends what waits for it");
  }
  return fail(Code::kUnavailable, "a channel is halted: its vendor refuses, reports trouble, or cannot be reached",
              "notifyctl status names it and why; it is probed and opens by itself when the cause is mended");
}

}  // namespace

Page work_page() {
  Page page;
  page.synopsis = {"[--drain] [--channel NAME[,NAME…]] [--concurrency N] [--rate R] [--max N] [--max-run T]"};
  page.description =
      "Takes messages from the queue and sends each of them once. Right before a vendor is called, the message is "
      "claimed in the inbox; whoever meets that claim later does not send. A result that is not known for certain "
      "ends as ERROR with an alert, and is not sent again by itself, unless the channel is `at-least-once`.\n\n"
      "What was certainly not sent (no connection, refused credentials, 429 …) is tried again on the channel's retry "
      "ladder and then parked with its reason. When a whole channel is in trouble it is halted, probed with one "
      "message at a time, and opens by itself. A channel whose secret cannot be read, or whose driver cannot start, is "
      "closed: its messages stay where they are, an alert is raised, and all other channels are served. A run that "
      "stays "
      "tries it again every 30 seconds; one that ends with such a channel by itself has the exit status 69.\n\n"
      "With `--drain` it leaves when nothing is ready, for cron. Without it stays; messages are picked up within "
      "milliseconds of their commit. SIGTERM and Ctrl-C stop it in an orderly way: no new claims, every call that "
      "is out is finished and written.";
  page.examples = {{"Every minute, from cron", "* * * * *  notifyctl work --drain --max-run 50s"},
                   {"As a service", "notifyctl work"},
                   {"Only one channel, slowly", "notifyctl work --drain --channel sms --rate 10/s"}};
  page.exits = {
      {0, "done, whatever became of single messages, or stopped in an orderly way by SIGTERM"},
      {69, "a channel is halted or could not be served, at the end of a run that nobody stopped; all others were"},
      {74, "the database could not be written (disk full)"},
      {75, "the database is busy"},
      {77, "no channel could be served: no permission for the first one's secret"},
      {78, "the configuration is wrong, or no channel could be served: a secret or CA bundle is missing"}};
  page.see_also = {"notifyctl-relay(1)", "notifyctl-status(1)", "notifyctl.toml(5)"};
  return page;
}

void register_options(OptionSet& set, WorkCommandOptions& options) {
  set.add("--channel", &options.channels, "NAME", "serve only these channels (separated by commas)")
      .completes(Completion::kChannel);
  set.add("--concurrency", &options.concurrency, "N", "calls in flight at the most")
      .between(1, 1024)
      .shows_default("64");
  set.add("--rate", &options.rate, "R", "calls per time and channel, like 50/s or 600/m");
  set.flag("--drain", options.drain, "leave when nothing is ready now");
  set.add("--max", &options.max, "N", "leave after this many messages").between(1, INT64_MAX);
  set.add("--max-run", &options.max_run, "T", "leave after this time, in an orderly way").between(1s, 365 * 24h);
}

Result<int> run(const WorkCommandOptions& options, Context& context) {
  TRY_ASSIGN(const Config* config, context.config());
  TRY_ASSIGN(std::vector<ChannelConfig> channels, served_channels(options, *config));
  TRY_ASSIGN(const TemplateSet* templates, context.templates());
  const TemplateSet no_templates;
  TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::start(context, "work", 2ms));
  const int concurrency = bounded_concurrency(*engine, options.concurrency.value_or(config->work.concurrency));
  Drivers drivers(*engine, std::move(channels), concurrency);
  const std::vector<WorkLane>& lanes = drivers.lanes();
  tell_closed_lanes(*engine, lanes);
  if (none_is_open(lanes)) {
    TRY(engine->finish(false, summary_json(WorkSummary{})));
    return fail(lanes.front().trouble);
  }

  const WorkPorts ports{engine->store(),        engine->transport(),
                        context.clock(),        context.random(),
                        context.crash_points(), engine->events(),
                        engine->policies(),     templates != nullptr ? *templates : no_templates};
  Worker worker(ports, *config, lanes, options.channels.empty(), concurrency, engine->run());

  Result<void> result;
  WorkService service(
      engine->loop(), worker, ports, lanes, service_options(options, *config),
      [&]() -> Result<void> {
        return recover_workers(engine->store(), engine->transport(), engine->locks(), context.clock(), *config,
                               engine->run())
            .map([](const WorkRecovery&) {});
      },
      [&](Result<void> ended) {
        result = std::move(ended);
        engine->loop().stop();
      });
  bool stopped = false;
  const auto stop = [&](int) {
    stopped = true;
    service.stop();
  };
  TRY_ASSIGN(const StopSignals signals, StopSignals::install(engine->loop(), stop));
  WalWatch watch(engine->loop(), engine->store().path(), [&] { service.wake(); });
  service.on_settled = [&] { engine->loop().post([&] { watch.settled(); }); };
  if (first_closed(lanes) != nullptr) keep_trying(*engine, drivers, service);
  service.start();
  engine->loop().run();

  const std::string summary = summary_json(worker.summary());
  const Result<void> closed = engine->finish(result.has_value(), summary);
  if (result) result = closed;
  // Who is told to stop has done so: a lane that is down then is a matter of alerts, and of the next run.
  if (!stopped) result = lanes_up(worker, lanes, result);
  return conclude(context, result, summary, summary_words(worker.summary()));
}

}  // namespace notify

#include "cmd/channel.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/operator.hpp"
#include "cmd/reading.hpp"
#include "cmd/render.hpp"
#include "core/duration.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "core/rate_text.hpp"
#include "core/text_encoding.hpp"
#include "core/text_rules.hpp"
#include "store/open.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kChannelActions{"list", "show", "pause", "resume", "test", "recipes"};

// What the configuration says about a channel; never an option of a driver, since those may be secrets.
Json settings_json(const ChannelConfig& channel) {
  Json retry = Json::array();
  for (const Duration wait : channel.retry) retry.push_back(format_duration(wait));
  Json cap;
  if (const auto& limit = channel.per_recipient)
    cap = Json{{"limit", limit->limit}, {"per", format_duration(limit->per)}, {"category", maybe(limit->category)}};
  Json text;
  if (const auto& limit = channel.max_text_bytes)
    text = Json{{"encoding", encoding_name(limit->encoding)}, {"limit", limit->limit}};
  return Json{{"driver", driver_name(channel.driver)},
              {"semantics", channel.semantics == Semantics::kAtMostOnce ? "at-most-once" : "at-least-once"},
              {"timeout", format_duration(channel.timeout)},
              {"concurrency", channel.concurrency},
              {"rate", channel.rate ? Json(format_rate(*channel.rate)) : Json()},
              {"retry", std::move(retry)},
              {"per_recipient", std::move(cap)},
              {"max_text_bytes", std::move(text)}};
}

// The lane as status knows it; an open one when there is no database yet, or nothing about it in there.
class Lanes {
 public:
  static Result<Lanes> read(Context& context) {
    Lanes lanes;
    Result<std::unique_ptr<SqliteStore>> store = open_for_reading(context);
    if (!store && store.error().code == Code::kNotFound) return lanes;
    if (!store) return fail(std::move(store).error());
    TRY_ASSIGN(StatusReport report, (*store)->status(context.clock().now()));
    lanes.reports_ = std::move(report.channels);
    return lanes;
  }

  ChannelReport of(const std::string& name) const {
    for (const ChannelReport& report : reports_)
      if (report.channel == name) return report;
    ChannelReport open;
    open.channel = name;
    open.state = "open";
    return open;
  }

 private:
  std::vector<ChannelReport> reports_{};
};

Json channel_json(const ChannelConfig& channel, const ChannelReport& lane, Context& context) {
  Json json{{"channel", channel.name},      {"state", lane.state},
            {"reason", maybe(lane.reason)}, {"until", lane.until ? Json(context.show_time(*lane.until)) : Json()},
            {"pending", lane.pending},      {"queued", lane.queued},
            {"parked", lane.parked}};
  json.update(settings_json(channel));
  return json;
}

void print_list(const Config& config, const Lanes& lanes, Context& context) {
  if (context.json()) {
    for (const ChannelConfig& channel : config.channels)
      context.out().line(to_text(channel_json(channel, lanes.of(channel.name), context)));
    return;
  }
  Table table({{"CHANNEL", true},
               {"DRIVER"},
               {"SEMANTICS"},
               {"RATE"},
               {"STATE"},
               {"PENDING", false, true},
               {"QUEUED", false, true},
               {"PARKED", false, true},
               {"REASON", true}});
  for (const ChannelConfig& channel : config.channels) {
    const ChannelReport lane = lanes.of(channel.name);
    table.add({channel.name, std::string(driver_name(channel.driver)),
               channel.semantics == Semantics::kAtMostOnce ? "at-most-once" : "at-least-once",
               channel.rate ? format_rate(*channel.rate) : "", lane.state, std::to_string(lane.pending),
               std::to_string(lane.queued), std::to_string(lane.parked), lane.reason});
  }
  const auto width = static_cast<std::size_t>(context.out().is_terminal() ? context.out().width() : 10'000);
  if (!table.empty()) context.out().write(table.text(width));
}

// "name: value", one a line; lists and objects as JSON.
void print_one(const ChannelConfig& channel, const ChannelReport& lane, Context& context) {
  const Json json = channel_json(channel, lane, context);
  if (context.json()) return context.out().line(to_text(json));
  for (const auto& [name, value] : json.items()) {
    if (value.is_null()) continue;
    context.out().line(name + ": " + printable(value.is_string() ? value.get<std::string>() : to_text(value)));
  }
}

// A name that nobody configured here may be another machine's channel, as long as none is configured here at all.
Result<const ChannelConfig*> configured(const std::string& name, const Config& config) {
  if (const ChannelConfig* channel = config.channel(name)) return channel;
  std::vector<std::string_view> names;
  for (const ChannelConfig& known : config.channels) names.push_back(known.name);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "notifyctl channel list shows those that are";
  return fail(Code::kNotFound, "no channel " + name + " is configured", std::move(hint));
}

Result<std::unique_ptr<SqliteStore>> open_to_write(Context& context) {
  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  return open_store(open);
}

Result<int> pause(const ChannelOptions& options, const std::string& name, Context& context) {
  if (!options.reason || options.reason->empty())
    return fail(Code::kUsage, "--reason is missing", "say why, for those who find the channel paused");
  TRY(check_why("--reason", *options.reason, limits::kReason));
  std::optional<Instant> until;
  if (options.until) {
    TRY_ASSIGN(until, context.time_option("--until", *options.until));
    if (*until <= context.clock().now()) return fail(Code::kUsage, "--until: " + *options.until + " is over already");
  }
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_to_write(context));
  TRY(store->write([&] { return store->lanes().pause(name, until, *options.reason, context.clock().now()); }));
  if (context.json())
    context.out().line(to_text(Json{{"channel", name},
                                    {"state", "paused"},
                                    {"reason", *options.reason},
                                    {"until", until ? Json(context.show_time(*until)) : Json()}}));
  return 0;
}

Result<int> resume(const std::string& name, Context& context) {
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_to_write(context));
  bool changed = false;
  TRY(store->write([&]() -> Result<void> {
    const Instant now = context.clock().now();
    TRY_ASSIGN(changed, store->lanes().resume(name, now));
    return store->alerts().close("lane-halted", name, now);
  }));
  if (context.json()) context.out().line(to_text(Json{{"channel", name}, {"state", "open"}, {"changed", changed}}));
  if (!changed) context.note("the channel " + name + " was open");
  return 0;
}

Result<void> check_options(const ChannelOptions& options) {
  const std::string& action = options.action;
  const auto usage = [](std::string message) { return fail(Code::kUsage, std::move(message)); };
  if (action != "list" && action != "recipes" && options.name.empty())
    return usage("channel " + action + ": the channel's NAME is missing");
  if (action == "list" && !options.name.empty()) return usage("channel list takes no NAME; channel show NAME does");
  if (action != "pause" && (options.until || options.reason)) return usage("--until and --reason belong to pause");
  if (action != "test" && (options.to || options.subject || options.data || options.dry_run))
    return usage("--to, --subject, --data and --dry-run belong to test");
  return {};
}

}  // namespace

Page channel_page() {
  Page page;
  page.synopsis = {"list",
                   "show NAME",
                   "pause NAME --reason TEXT [--until TIME]",
                   "resume NAME",
                   "test NAME --to ADDRESS [--subject TEXT] [--body TEXT] [--data JSON] [--dry-run]",
                   "recipes [NAME|FILE]"};
  page.description =
      "`list` and `show` tell what the configuration says about the channels, whether they are open, and how many "
      "messages wait for each. Secrets and the options of drivers are never shown.\n\n"
      "`pause` stops a channel for all workers, at once: calls that are out are finished, no new ones begin. Relays go "
      "on; the messages wait in the queue and lose no try. With `--until` it opens by itself.\n\n"
      "`resume` ends a pause. It also opens a channel that was halted by its vendor's refusals or told to wait, so "
      "that the next message goes at once instead of with the next probe.\n\n"
      "`test` sends one real message through the channel and prints what the vendor answered. Outbox and inbox are not "
      "touched, a pause does not matter, and the message counts towards the channel's rate. Outside production the "
      "recipient must be allowed by [guard]. With `--dry-run` it prints what would be sent, without secrets.\n\n"
      "`recipes` lists the vendors that the driver `http` knows. With a name it prints that recipe, to be read or to "
      "be "
      "copied into a file and changed; with a file it examines a recipe of your own, see notifyctl-recipes(5).";
  page.examples = {
      {"Which channels are there, and are they open?", "notifyctl channel list"},
      {"Hold back text messages until tomorrow",
       "notifyctl channel pause sms --until \"tomorrow 06:00\" \\\n"
       "    --reason \"vendor's maintenance\""},
      {"What would the vendor be told?", "notifyctl channel test sms --to +821012345678 --body hello --dry-run"},
      {"Which vendors are there? A recipe of your own to begin with",
       "notifyctl channel recipes\nnotifyctl channel recipes twilio > my-vendor.toml"},
      {"Is the new password right?", "notifyctl channel test sms --to +821012345678"}};
  page.exits = {{0, "done; test: the vendor accepted the message"},
                {1, "test: refused, or the outcome is unknown"},
                {65, "no such channel, no database, or the message is not valid"},
                {69, "test: the vendor cannot be reached"},
                {75, "the database is busy"},
                {78, "the configuration is wrong, or a secret is missing"}};
  page.see_also = {"notifyctl-status(1)", "notifyctl-work(1)", "notifyctl.toml(5)", "notifyctl-recipes(5)"};
  return page;
}

void register_options(OptionSet& set, ChannelOptions& options) {
  set.positional("ACTION", &options.action, "what to do").one_of({kChannelActions.begin(), kChannelActions.end()});
  set.positional("NAME", &options.name, "the channel, or the recipe").completes(Completion::kChannel);
  set.group("Pause");
  set.add("--reason", &options.reason, "TEXT", "why; status shows it");
  set.add("--until", &options.until, "TIME", "open again by itself then; +2h, tomorrow 08:00");
  set.group("Test");
  set.add("--to", &options.to, "ADDRESS", "whom to send the test message to");
  set.add("--subject", &options.subject, "TEXT", "its subject");
  set.add("--body", &options.body, "TEXT", "its text");
  set.add("--data", &options.data, "JSON", "its data, for a vendor's own members");
  set.flag("--dry-run", options.dry_run, "print what would be sent and send nothing");
}

Result<int> run(const ChannelOptions& options, Context& context) {
  TRY(check_options(options));
  if (options.action == "recipes") return show_recipes(options, context);
  TRY_ASSIGN(const Config* config, context.config());
  if (options.action == "list") {
    TRY_ASSIGN(const Lanes lanes, Lanes::read(context));
    print_list(*config, lanes, context);
    return 0;
  }
  // A relay's machine may pause what only another machine sends.
  const bool elsewhere = config->channels.empty() && is_channel_name(options.name);
  if (options.action == "pause" || options.action == "resume") {
    if (!elsewhere) TRY(configured(options.name, *config));
    return options.action == "pause" ? pause(options, options.name, context) : resume(options.name, context);
  }
  TRY_ASSIGN(const ChannelConfig* channel, configured(options.name, *config));
  if (options.action == "test") return test_channel(options, *channel, context);
  TRY_ASSIGN(const Lanes lanes, Lanes::read(context));
  print_one(*channel, lanes.of(channel->name), context);
  return 0;
}

}  // namespace notify

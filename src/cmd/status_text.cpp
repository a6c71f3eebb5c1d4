#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "cmd/context.hpp"
#include "cmd/render.hpp"
#include "cmd/status.hpp"
#include "core/alert.hpp"
#include "sys/zone_data.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;
using Counts = std::vector<std::pair<const char*, std::int64_t>>;

Counts outbox_counts(const OutboxCounts& c) {
  return {{"PENDING", c.pending}, {"PUBLISHING", c.publishing}, {"PUBLISHED", c.published},
          {"SKIPPED", c.skipped}, {"EXPIRED", c.expired},       {"FAILED", c.failed}};
}

Counts queue_counts(const QueueCounts& c) { return {{"ready", c.ready}, {"delayed", c.delayed}, {"leased", c.leased}}; }

Counts inbox_counts(const InboxCounts& c) {
  return {{"SENDING", c.sending}, {"SENT", c.sent}, {"FAILED", c.failed}, {"ERROR", c.error}, {"SKIPPED", c.skipped}};
}

Counts identity_counts(const Identity& i) {
  return {{"enqueued", i.enqueued}, {"in_outbox", i.in_outbox}, {"published", i.published},
          {"in_queue", i.in_queue}, {"parked", i.parked},       {"sending", i.sending},
          {"sent", i.sent},         {"failed", i.failed},       {"error", i.error},
          {"skipped", i.skipped},   {"early", i.early},         {"unaccounted", i.unaccounted}};
}

std::string in_words(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(count);
  return text;
}

Json in_json(const Counts& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

std::int64_t seconds(Duration duration) { return duration.count() / 1000; }

// --- text
// ---------------------------------------------------------------------------------------------------

class Screen {
 public:
  Screen(std::size_t width, bool colour) : width_(width), colour_(colour) {}

  // A heading in the left column and what it is about beside it.
  void line(std::string_view heading, std::string_view text, bool alarming = false) {
    constexpr std::size_t kColumn = 12;
    std::string block = wrap(printable(text), std::max<std::size_t>(width_, 40), kColumn);
    block.replace(0, heading.size(), heading);
    if (alarming && colour_) block = "\x1b[31m" + block + "\x1b[0m";
    text_ += block + "\n";
  }
  void raw(std::string_view text) { text_ += text; }
  std::string text() && { return std::move(text_); }

 private:
  std::size_t width_;
  bool colour_;
  std::string text_{};
};

// On the screen what is not there needs no room; the first state is always named.
std::string states_in_words(const Counts& counts) {
  Counts shown;
  for (const auto& count : counts)
    if (count.second != 0) shown.push_back(count);
  return in_words(shown.empty() ? Counts{counts.front()} : shown);
}

// A message that was refused for good is FAILED in the inbox and parked at once: it is told here, and counted there.
std::string parked_words(const ParkedCounts& parked, const Identity& identity) {
  std::string text = std::to_string(parked.total);
  const std::int64_t counted_above = parked.total - identity.parked;
  if (counted_above > 0) text += " (" + std::to_string(counted_above) + " of them counted in the inbox above)";
  constexpr std::size_t kReasonsShown = 8;
  for (std::size_t i = 0; i < parked.reasons.size() && i < kReasonsShown; ++i)
    text += (i == 0 ? ": " : ", ") + parked.reasons[i].first + " " + std::to_string(parked.reasons[i].second);
  return parked.reasons.size() > kReasonsShown ? text + ", …" : text;
}

std::string run_words(const std::vector<LastRun>& runs, Instant now) {
  std::string text;
  for (const LastRun& run : runs) {
    text += (text.empty() ? "" : ", ") + run.command + " ";
    text += run.succeeded_at ? show_age(seconds(now - *run.succeeded_at)) + " ago" : "never";
  }
  return text;
}

std::string rate_words(const Rates::Span& span) {
  return in_words({{"enqueued", span.enqueued},
                   {"published", span.published},
                   {"sent", span.sent},
                   {"failed", span.failed},
                   {"error", span.error}});
}

std::string identity_words(const StatusReport& report) {
  const Identity& i = report.identity;
  if (i.holds) {  // each message once, where it is furthest
    const std::int64_t inbox = i.sending + i.sent + i.failed + i.error + i.skipped;
    return "adds up: " + std::to_string(i.enqueued) + " enqueued = outbox " +
           std::to_string(i.in_outbox - i.published - i.early) + " + queue " + std::to_string(i.in_queue) +
           " + parked " + std::to_string(i.parked) + " + inbox " + std::to_string(inbox);
  }
  return "DOES NOT ADD UP: " + std::to_string(i.enqueued) + " enqueued, " + std::to_string(i.in_outbox) +
         " in the outbox, " + std::to_string(i.unaccounted) + " published and nowhere";
}

std::string database_words(const DatabaseReport& database) {
  std::string text = database.path + ", " + show_bytes(database.size) + ", log " + show_bytes(database.wal_bytes) +
                     ", " + database.filesystem;
  if (database.checkpoint_blocked) text += ", the log cannot be cut: a reader holds on to it";
  return text;
}

std::string channel_table(const std::vector<ChannelReport>& channels, Context& context, std::size_t width) {
  Table table({{"CHANNEL", true},
               {"STATE"},
               {"PENDING", false, true},
               {"QUEUED", false, true},
               {"PARKED", false, true},
               {"UNTIL"},
               {"REASON", true}});
  for (const ChannelReport& c : channels)
    table.add({c.channel, c.state, std::to_string(c.pending), std::to_string(c.queued), std::to_string(c.parked),
               c.until ? context.show_time(*c.until) : "", c.reason});
  return table.text(width);
}

// --- Prometheus
// ---------------------------------------------------------------------------------------------

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

class Metrics {
 public:
  void family(const char* name, const char* help) {
    name_ = std::string("notifyctl_") + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " gauge\n";
  }
  void value(std::int64_t number) { text_ += name_ + " " + std::to_string(number) + "\n"; }
  void value(const char* label, std::string_view is, std::int64_t number) {
    text_ += name_ + "{" + label + "=\"" + label_value(is) + "\"} " + std::to_string(number) + "\n";
  }
  void values(const char* label, const Counts& counts) {
    for (const auto& [name, count] : counts) value(label, name, count);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string name_{};
  std::string text_{};
};

}  // namespace

std::string status_text(const StatusReport& report, Context& context, std::size_t width) {
  Screen screen(width, context.colour_out());
  screen.line("Outbox", states_in_words(outbox_counts(report.outbox)), report.outbox.failed > 0);
  screen.line("Queue", states_in_words(queue_counts(report.queue)));
  screen.line("Inbox", states_in_words(inbox_counts(report.inbox)), report.inbox.error > 0);
  screen.line("Parked", parked_words(report.parked, report.identity), report.parked.total > 0);
  screen.line("Oldest",
              report.oldest_unsent ? "waits for " + show_age(seconds(*report.oldest_unsent)) : "nothing waits");
  if (report.broadcasts_open + report.broadcasts_failed > 0)
    screen.line("Broadcasts",
                std::to_string(report.broadcasts_open) + " being fanned out, " +
                    std::to_string(report.broadcasts_failed) + " failed",
                report.broadcasts_failed > 0);
  screen.line("Accounting", identity_words(report), !report.identity.holds);
  screen.line("Alerts", report.alerts_open == 0 ? "none open" : std::to_string(report.alerts_open) + " open",
              report.alerts_open > 0);
  for (const AlertRow& alert : report.alerts)
    screen.line("", alert.kind + " " + alert_text(alert.subject, alert.detail) + " (" + std::to_string(alert.count) +
                        "×, " + show_age(seconds(report.now - alert.last_at)) + " ago)");
  screen.line("Last runs", run_words(report.last_run, report.now));
  screen.line("Last hour", rate_words(report.rates.hour));
  screen.line("Last day", rate_words(report.rates.day));
  screen.line("Database", database_words(report.database));
  if (report.clock_behind)
    screen.line("Clock", "is behind what is stored by " + show_age(seconds(*report.clock_behind)), true);
  if (!report.channels.empty()) {
    screen.raw("\n");
    screen.raw(channel_table(report.channels, context, width));
  }
  return std::move(screen).text();
}

std::string status_json(const StatusReport& report, Context& context) {
  Json json;
  json["outbox"] = in_json(outbox_counts(report.outbox));
  json["queue"] = in_json(queue_counts(report.queue));
  json["inbox"] = in_json(inbox_counts(report.inbox));
  Json reasons = Json::object();
  for (const auto& [reason, count] : report.parked.reasons) reasons[reason] = count;
  json["parked"] = {{"total", report.parked.total}, {"reasons", std::move(reasons)}};
  json["oldest_unsent_seconds"] = report.oldest_unsent ? Json(seconds(*report.oldest_unsent)) : Json();
  json["unaccounted"] = report.unaccounted;
  json["identity"] = in_json(identity_counts(report.identity));
  json["identity"]["holds"] = report.identity.holds;
  json["broadcasts"] = {{"open", report.broadcasts_open}, {"failed", report.broadcasts_failed}};
  json["alerts_open"] = report.alerts_open;
  json["alerts"] = Json::array();
  for (const AlertRow& alert : report.alerts)
    json["alerts"].push_back({{"kind", alert.kind},
                              {"subject", alert.subject},
                              {"detail", alert.detail},
                              {"count", alert.count},
                              {"last_at", context.show_time(alert.last_at)}});
  json["last_run"] = Json::object();
  for (const LastRun& run : report.last_run)
    json["last_run"][run.command] = run.succeeded_at ? Json(context.show_time(*run.succeeded_at)) : Json();
  json["channels"] = Json::object();
  for (const ChannelReport& c : report.channels) {
    json["channels"][c.channel] = {{"state", c.state},     {"reason", c.reason}, {"until", nullptr},
                                   {"pending", c.pending}, {"queued", c.queued}, {"parked", c.parked}};
    if (c.until) json["channels"][c.channel]["until"] = context.show_time(*c.until);
  }
  const auto rates = [](const Rates::Span& span) {
    return Json{{"enqueued", span.enqueued},
                {"published", span.published},
                {"sent", span.sent},
                {"failed", span.failed},
                {"error", span.error}};
  };
  json["rates"] = {{"hour", rates(report.rates.hour)}, {"day", rates(report.rates.day)}};
  const DatabaseReport& database = report.database;
  json["database"] = {{"path", database.path},
                      {"size", database.size},
                      {"wal_bytes", database.wal_bytes},
                      {"filesystem", database.filesystem},
                      {"journal_mode", database.journal_mode},
                      {"schema", database.schema},
                      {"source", database.source},
                      {"generation", database.generation},
                      {"sqlite_version", database.sqlite_version},
                      {"checkpoint_blocked", database.checkpoint_blocked}};
  json["zone_data"] = zone_data_version();
  json["clock_behind_seconds"] = report.clock_behind ? Json(seconds(*report.clock_behind)) : Json();
  return to_text(json);
}

std::string status_prometheus(const StatusReport& report) {
  Metrics metrics;
  metrics.family("outbox_messages", "Messages in the outbox by state.");
  metrics.values("state", outbox_counts(report.outbox));
  metrics.family("queue_messages", "Messages in the queue by state.");
  metrics.values("state", queue_counts(report.queue));
  metrics.family("inbox_messages", "Messages that were claimed or skipped by state.");
  metrics.values("state", inbox_counts(report.inbox));
  metrics.family("parked_messages", "Messages that were set aside.");
  metrics.value(report.parked.total);
  metrics.family("oldest_unsent_seconds", "Age of the oldest message that is due and unsent, 0 when there is none.");
  metrics.value(report.oldest_unsent ? seconds(*report.oldest_unsent) : 0);
  metrics.family("unaccounted_messages", "Messages that were published and are nowhere.");
  metrics.value(report.unaccounted);
  metrics.family("accounting_holds", "1 when every accepted message is counted in one place.");
  metrics.value(report.identity.holds ? 1 : 0);
  metrics.family("alerts_open", "Open alerts.");
  metrics.value(report.alerts_open);
  metrics.family("last_success_timestamp_seconds", "When a command last ended well, 0 when never.");
  // The three that have to run, which come first: others would come and go as series.
  for (const LastRun& run : std::span(report.last_run).first(std::min<std::size_t>(3, report.last_run.size())))
    metrics.value("command", run.command, run.succeeded_at ? run.succeeded_at->ms / 1000 : 0);
  metrics.family("channel_open", "1 when the channel is neither paused nor halted.");
  for (const ChannelReport& c : report.channels) metrics.value("channel", c.channel, c.state == "open" ? 1 : 0);
  metrics.family("channel_waiting_messages", "Messages of the channel that wait for relay or worker.");
  for (const ChannelReport& c : report.channels) metrics.value("channel", c.channel, c.pending + c.queued);
  metrics.family("database_bytes", "Size of the database's files.");
  metrics.value("file", "main", report.database.size);
  metrics.value("file", "wal", report.database.wal_bytes);
  return std::move(metrics).text();
}

}  // namespace notify

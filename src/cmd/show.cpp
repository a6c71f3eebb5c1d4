#include "cmd/show.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/reading.hpp"
#include "cmd/render.hpp"
#include "core/crypto.hpp"
#include "core/duration.hpp"
#include "core/report.hpp"
#include "core/safe_text.hpp"
#include "core/story.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes(std::size_t count) { return "*** (" + std::to_string(count) + " bytes)"; }

// What somebody who looks over the operator's shoulder may see: which parts there are and how long they are.
Json masked_payload(const std::string& text) {
  Json payload = Json::parse(text, nullptr, false);
  if (!payload.is_object()) return bytes(text.size());
  for (auto& [member, value] : payload.items()) {
    if (member == "template") continue;
    if (member == "vars" && value.is_object()) {
      for (auto& [name, var] : value.items()) var = "***";
    } else {
      value = bytes(value.is_string() ? value.get_ref<const std::string&>().size()
                                      : value.dump(-1, ' ', true, Json::error_handler_t::replace).size());
    }
  }
  return payload;
}

Json payload_json(const std::string& text, bool reveal) {
  if (text.empty()) return nullptr;
  if (!reveal) return masked_payload(text);
  Json payload = Json::parse(text, nullptr, false);
  return payload.is_discarded() ? Json(text) : payload;
}

struct Converter {
  Context& context;
  bool reveal;

  Json time(Instant t) const { return context.show_time(t); }
  Json time(const std::optional<Instant>& t) const { return t ? Json(context.show_time(*t)) : Json(); }
  static Json text(const std::string& value) { return value.empty() ? Json() : Json(value); }
  static Json id(std::int64_t run) { return run == 0 ? Json() : Json(run); }
  std::string address(const std::string& to) const { return reveal ? to : mask_address(to); }

  Json outbox(const OutboxStory& s) const {
    return Json{{"id", s.id},
                {"status", s.status},
                {"reason", text(s.reason)},
                {"key", text(s.key)},
                {"fingerprint", s.fingerprint.empty() ? Json() : Json(to_hex(s.fingerprint))},
                {"channel", s.channel},
                {"to", address(s.recipient)},
                {"kind", s.kind},
                {"category", s.category},
                {"payload", payload_json(s.payload, reveal)},
                {"original_payload", payload_json(s.original_payload, reveal)},
                {"priority", s.priority},
                {"correlation", text(s.correlation)},
                {"not_before", time(s.not_before)},
                {"expires_at", time(s.expires_at)},
                {"due_at", time(s.due_at)},
                {"ready_at", time(s.ready_at)},
                {"attempts", s.attempts},
                {"claimed_by", id(s.claimed_by)},
                {"claimed_until", time(s.claimed_until)},
                {"copy_may_be_out", s.copy_may_be_out},
                {"created_at", time(s.created_at)},
                {"updated_at", time(s.updated_at)}};
  }
  Json queue(const QueueStory& s) const {
    return Json{{"status", s.status},
                {"reason", text(s.reason)},
                {"ready_at", time(s.ready_at)},
                {"tries", s.tries},
                {"lost_leases", s.lost_leases},
                {"leased_by", id(s.leased_by)},
                {"queued_at", time(s.queued_at)}};
  }
  Json inbox(const InboxStory& s) const {
    return Json{{"status", s.status},
                {"reason", text(s.reason)},
                {"detail", text(s.detail)},
                {"reference", text(s.reference)},
                {"vendor_status", s.vendor_status},
                {"channel", s.channel},
                {"calls", s.calls},
                {"unknown_before", s.unknown_before},
                {"holder", id(s.holder)},
                {"claimed_at", time(s.claimed_at)},
                {"first_call_at", time(s.first_call_at)},
                {"resume_at", time(s.resume_at)},
                {"settled_at", time(s.settled_at)},
                {"created_at", time(s.created_at)},
                {"updated_at", time(s.updated_at)}};
  }
  Json parked(const ParkedStory& s) const {
    return Json{{"reason", s.reason}, {"detail", text(s.detail)}, {"tries", s.tries}, {"parked_at", time(s.parked_at)}};
  }
  Json channel(const ChannelReport& s) const {
    return Json{{"state", s.state}, {"reason", text(s.reason)}, {"until", time(s.until)}};
  }
  Json attempt(const AttemptStory& s) const {
    return Json{{"at", time(s.at)},
                {"number", s.number},
                {"outcome", s.outcome},
                {"reason", text(s.reason)},
                {"detail", text(s.detail)},
                {"reference", text(s.reference)},
                {"status", s.status},
                {"phase", text(s.phase)},
                {"bytes_sent", s.bytes_sent},
                {"elapsed_ms", s.elapsed.count()},
                {"duplicate_risk", s.duplicate_risk}};
  }
  Json event(const EventStory& s) const {
    return Json{{"at", time(s.at)}, {"name", s.name}, {"detail", text(s.detail)}, {"actor", text(s.actor)}};
  }

  // `closed`: the channel that it waits for.
  Json story(const MessageStory& s, const std::optional<ChannelReport>& closed) const {
    Json json{{"message_id", s.message_id}};
    json["outbox"] = s.outbox ? outbox(*s.outbox) : Json();
    json["queue"] = s.queue ? queue(*s.queue) : Json();
    json["inbox"] = s.inbox ? inbox(*s.inbox) : Json();
    json["parked"] = s.parked ? parked(*s.parked) : Json();
    json["closed_channel"] = closed ? channel(*closed) : Json();
    json["attempts"] = Json::array();
    for (const AttemptStory& a : s.attempts) json["attempts"].push_back(attempt(a));
    json["events"] = Json::array();
    for (const EventStory& e : s.events) json["events"].push_back(event(e));
    return json;
  }
};

// --- text
// ---------------------------------------------------------------------------------------------------

struct Moment {
  // What happened at the same millisecond happened in this order: a claim, its call, what came of it.
  enum Rank { kAccepted, kPublished, kClaimed, kCalled, kNoted, kSettled };
  Instant at{};
  Rank rank = kNoted;
  std::string text{};
};

Moment::Rank rank_of(const EventStory& event) {
  if (event.name == "enqueued") return Moment::kAccepted;
  return event.name == "published" ? Moment::kPublished : Moment::kNoted;
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  return text;
}

std::string attempt_words(const AttemptStory& a) {
  std::string text = "call " + std::to_string(a.number) + " " + joined({a.outcome, a.reason, a.detail});
  text += " (" + format_duration(a.elapsed);
  if (a.status != 0) text += ", status " + std::to_string(a.status);
  if (!a.reference.empty()) text += ", reference " + a.reference;
  if (!a.phase.empty()) text += ", got as far as " + a.phase;
  return text + (a.duplicate_risk ? ", the request may have left twice)" : ")");
}

// Everything that is known to have happened, in order.
std::vector<Moment> life(const MessageStory& story) {
  std::vector<Moment> moments;
  for (const EventStory& e : story.events)
    moments.push_back({e.at, rank_of(e), joined({e.name, e.detail}) + (e.actor.empty() ? "" : " [" + e.actor + "]")});
  if (story.inbox && story.inbox->calls > 1 && story.inbox->first_call_at)
    moments.push_back({*story.inbox->first_call_at, Moment::kClaimed, "claimed by a worker, call 1"});
  if (story.inbox && story.inbox->claimed_at)
    moments.push_back({*story.inbox->claimed_at, Moment::kClaimed,
                       "claimed by a worker, call " + std::to_string(story.inbox->calls)});
  for (const AttemptStory& a : story.attempts) moments.push_back({a.at, Moment::kCalled, attempt_words(a)});
  if (story.inbox && story.inbox->settled_at) {
    const InboxStory& i = *story.inbox;
    std::string text = joined({i.status, i.reason, i.detail});
    if (!i.reference.empty()) text += ", the vendor calls it " + i.reference;
    moments.push_back({*i.settled_at, Moment::kSettled, text});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return std::pair(a.at, a.rank) < std::pair(b.at, b.rank); });
  return moments;
}

// Where it is now, in one line.
std::string whereabouts(const MessageStory& s, Context& context) {
  if (s.parked) return "parked: " + joined({s.parked->reason, s.parked->detail});
  if (s.inbox) return joined({s.inbox->status, s.inbox->reason, s.inbox->detail});
  if (s.queue) {
    std::string text = "in the queue, " + s.queue->status;
    if (s.queue->status != "READY") text += " until " + context.show_time(s.queue->ready_at);
    return joined({text, s.queue->reason});
  }
  if (!s.outbox) return "unknown";
  std::string text = s.outbox->status;
  if (s.outbox->status == "PENDING" && s.outbox->ready_at > context.clock().now())
    text += " until " + context.show_time(s.outbox->ready_at);
  if (s.outbox->status == "PENDING" && s.outbox->attempts > 0)
    text += " after " + std::to_string(s.outbox->attempts) + " failed publishes";
  return joined({text, s.outbox->reason});
}

std::string closed_words(const ChannelReport& channel, Context& context) {
  std::string text = "the channel is " + channel.state;
  if (channel.until) text += " until " + context.show_time(*channel.until);
  return joined({text, channel.reason});
}

void print_text(const MessageStory& story, const std::optional<ChannelReport>& closed, bool reveal, Context& context) {
  Output& out = context.out();
  const auto line = [&](std::string_view heading, const std::string& text) {
    if (text.empty()) return;
    out.line(std::string(heading) + std::string(12 - heading.size(), ' ') + printable(text));
  };
  line("message", story.message_id);
  line("now", whereabouts(story, context));
  if (closed) line("waits", closed_words(*closed, context));
  if (story.outbox) {
    const OutboxStory& o = *story.outbox;
    line("key", o.key);
    line("channel", o.channel);
    line("to", reveal ? o.recipient : mask_address(o.recipient));
    line("kind", o.kind);
    line("category", o.category);
    line("priority", o.priority == 5 ? "" : std::to_string(o.priority));
    line("correlation", o.correlation);
    line("not before", o.not_before ? context.show_time(*o.not_before) : "");
    line("expires", o.expires_at ? context.show_time(*o.expires_at) : "");
    const Json payload = payload_json(o.payload, reveal);
    if (payload.is_object()) {
      for (const auto& [member, value] : payload.items())
        line(member.size() > 11 ? member.substr(0, 11) : member,
             value.is_string() ? value.get<std::string>() : to_text(value));
    } else {
      line("payload", to_text(payload));
    }
    if (!o.original_payload.empty()) line("mended", "the payload was patched; --json shows the original");
  }
  out.line("");
  for (const Moment& moment : life(story)) out.line(context.show_time(moment.at) + "  " + printable(moment.text));
}

// The channel of a message that waits for it, unless it takes messages.
Result<std::optional<ChannelReport>> closed_channel(SqliteStore& store, const MessageStory& story, Context& context) {
  const bool waits =
      story.outbox && !story.parked && !story.inbox && (story.queue || story.outbox->status == "PENDING");
  if (!waits) return std::nullopt;
  TRY_ASSIGN(StatusReport report, store.status(context.clock().now()));
  for (ChannelReport& channel : report.channels)
    if (channel.channel == story.outbox->channel && channel.state != "open") return std::move(channel);
  return std::nullopt;
}

}  // namespace

Page show_page() {
  Page page;
  page.synopsis = {"ID [--reveal]"};
  page.description =
      "Tells where a message is now and everything that happened to it, in order: when it was accepted, "
      "deferred, "
      "published, claimed, what the vendor answered, and what operators did. The message is named by its id "
      "or by its "
      "key.\n\n"
      "The content and the address are masked unless `--reveal` is given.";
  page.examples = {{"By key", "notifyctl show GRADE:2026-11:42"},
                   {"With its content", "notifyctl show notification-outbox-1f2e3d4c-42 --reveal"}};
  page.exits = {
      {0, "done"}, {65, "no message has this id or key, or there is no database"}, {78, "the database is not usable"}};
  page.see_also = {"notifyctl-list(1)", "notifyctl-status(1)"};
  return page;
}

void register_options(OptionSet& set, ShowOptions& options) {
  set.positional("ID", &options.id, "message id or key").required();
  set.flag("--reveal", options.reveal, "show the content and the address as they are");
}

Result<int> run(const ShowOptions& options, Context& context) {
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));
  TRY_ASSIGN(std::optional<MessageStory> story, store->story(options.id, context.clock().now()));
  if (!story) {
    TRY_ASSIGN(const std::optional<std::string> pruned, store->pruned_message(options.id));
    if (pruned)
      return fail(Code::kNotFound,
                  "message " + *pruned + " was done with and has been pruned" +
                      (*pruned == options.id ? ", unless its number was never used" : ""),
                  "nothing is kept of it but its key, which stays taken; see notifyctl-prune(1)");
    return fail(Code::kNotFound, "no message has the id or key \"" + options.id + "\"",
                "notifyctl list outbox --key-prefix … finds keys");
  }
  tell_from_rows(*story);
  TRY_ASSIGN(const std::optional<ChannelReport> closed, closed_channel(*store, *story, context));
  if (context.json())
    context.out().line(to_text(Converter{context, options.reveal}.story(*story, closed)));
  else
    print_text(*story, closed, options.reveal, context);
  return 0;
}

}  // namespace notify

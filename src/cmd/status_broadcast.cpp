// status --broadcast: how far one broadcast is.

#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/reading.hpp"
#include "cmd/render.hpp"
#include "cmd/status.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

struct Standing {
  Broadcast broadcast{};
  BroadcastCounts counts{};

  // Recipients that have no message yet count as one each.
  std::int64_t remaining() const {
    const bool open = broadcast.state == BroadcastState::kOpen;
    return counts.waiting + counts.sending + (open ? broadcast.request.recipients - broadcast.fanned_out : 0);
  }
  std::int64_t removed() const {
    return broadcast.messages - (counts.waiting + counts.sending + counts.sent + counts.failed + counts.error +
                                 counts.skipped + counts.expired + counts.parked);
  }
};

std::string json_of(const Standing& standing, Context& context) {
  const Broadcast& broadcast = standing.broadcast;
  const BroadcastCounts& counts = standing.counts;
  return to_text(Json{{"broadcast_id", "broadcast-" + std::to_string(broadcast.id)},
                      {"key", broadcast.request.key},
                      {"channel", broadcast.request.message.channel},
                      {"kind", broadcast.request.message.kind},
                      {"status", name(broadcast.state)},
                      {"reason", broadcast.reason.empty() ? Json() : Json(broadcast.reason)},
                      {"recipients", broadcast.request.recipients},
                      {"fanned_out", broadcast.fanned_out},
                      {"messages", broadcast.messages},
                      {"repeated", broadcast.repeated},
                      {"unreachable", broadcast.unreachable},
                      {"sent", counts.sent},
                      {"failed", counts.failed},
                      {"error", counts.error},
                      {"skipped", counts.skipped},
                      {"expired", counts.expired},
                      {"parked", counts.parked},
                      {"remaining", standing.remaining()},
                      {"removed", standing.removed()},
                      {"created_at", context.show_time(broadcast.created_at)},
                      {"updated_at", context.show_time(broadcast.updated_at)}});
}

std::string text_of(const Standing& standing, Context& context) {
  const Broadcast& broadcast = standing.broadcast;
  const BroadcastCounts& counts = standing.counts;
  const auto part = [](const char* what, std::int64_t n) { return std::string(what) + " " + std::to_string(n); };
  std::string text = "broadcast-" + std::to_string(broadcast.id) + "  " + printable(broadcast.request.key) + "  " +
                     name(broadcast.state) + (broadcast.reason.empty() ? "" : ": " + printable(broadcast.reason)) +
                     "\n";
  text += "accepted " + context.show_time(broadcast.created_at) + " for " +
          std::to_string(broadcast.request.recipients) + " recipients on channel " + broadcast.request.message.channel +
          "\n";
  text += part("fanned out", broadcast.fanned_out) + ": " + part("messages", broadcast.messages) + ", " +
          part("named again", broadcast.repeated) + ", " + part("without an endpoint", broadcast.unreachable) + "\n";
  text += part("sent", counts.sent) + ", " + part("failed", counts.failed) + ", " + part("error", counts.error) + ", " +
          part("skipped", counts.skipped) + ", " + part("expired", counts.expired) + ", " +
          part("parked", counts.parked) + ", " + part("remaining", standing.remaining()) + "\n";
  if (standing.removed() > 0) text += part("removed by prune", standing.removed()) + "\n";
  return text;
}

}  // namespace

Result<int> show_broadcast(const std::string& key, Context& context) {
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));
  TRY_ASSIGN(std::optional<Broadcast> broadcast, store->broadcasts().find(key));
  if (!broadcast) return unknown_broadcast(key);
  Standing standing{std::move(*broadcast), {}};
  TRY_ASSIGN(standing.counts, store->broadcasts().counts(standing.broadcast.id));
  if (context.json())
    context.out().line(json_of(standing, context));
  else
    context.out().write(text_of(standing, context));
  return 0;
}

tl::unexpected<Error> unknown_broadcast(const std::string& key) {
  return fail(Code::kNotFound, "no broadcast has the key or id \"" + printable(key) + "\"",
              "notifyctl list broadcasts shows them");
}

}  // namespace notify

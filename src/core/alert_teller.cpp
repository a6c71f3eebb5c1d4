#include "core/alert_teller.hpp"

#include "core/alert.hpp"
#include "core/fingerprint.hpp"
#include "core/json_write.hpp"
#include "core/payload.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

constexpr int kAlertsAtOnce = 200;
constexpr int kPriority = 8;

std::string_view channel_of(const Alert& alert) { return alert_channel(alert.kind, alert.subject); }

void member(std::string& out, std::string_view name, std::string_view value) {
  out += out.back() == '{' ? "" : ",";
  append_json_string(out, name);
  out += ':';
  append_json_string(out, value);
}

std::string to_json(const Alert& alert) {
  std::string out = "{";
  member(out, "kind", alert.kind);
  member(out, "subject", alert.subject);
  member(out, "channel", channel_of(alert));
  out += ",\"count\":" + std::to_string(alert.count);
  member(out, "message_id", alert.message_id);
  member(out, "detail", alert.detail);
  member(out, "first_at", format_time(alert.first_at));
  member(out, "last_at", format_time(alert.last_at));
  out += alert.open ? ",\"open\":true}" : ",\"open\":false}";
  return out;
}

std::string body_of(const Alert& alert) {
  std::string body = alert.detail + "\n\n";
  body += "kind: " + alert.kind + "\nsubject: " + alert.subject + "\ncount: " + std::to_string(alert.count) +
          "\nfirst: " + format_time(alert.first_at) + "\nlast: " + format_time(alert.last_at) + '\n';
  if (!alert.message_id.empty()) body += "message: " + alert.message_id + '\n';
  if (!alert.open) body += "It is over.\n";
  return body;
}

}  // namespace

Result<std::vector<Alert>> AlertTeller::due() {
  if (config_.exec.empty() && config_.channel.empty()) return std::vector<Alert>{};
  // Trouble of the alerts' own channel cannot be told by it: messages would only pile up there.
  const std::string_view except = config_.exec.empty() ? std::string_view(config_.channel) : std::string_view();
  return store_.alerts().due(clock_.now() - config_.repeat_after, except, kAlertsAtOnce);
}

std::string AlertTeller::lines(const std::vector<Alert>& alerts) {
  std::string text;
  for (const Alert& alert : alerts) text += to_json(alert) + '\n';
  return text;
}

Result<std::int64_t> AlertTeller::tell(const std::vector<Alert>& alerts, bool exec_done) {
  std::int64_t told = 0;
  TRY(store_.write([&]() -> Result<void> {
    told = 0;
    const Instant now = clock_.now();
    for (const Alert& alert : alerts) {
      const bool by_channel = !config_.channel.empty() && channel_of(alert) != config_.channel;
      if (by_channel) TRY(enqueue(alert, now));
      const bool done = config_.exec.empty() ? by_channel : exec_done;
      if (!done) continue;
      TRY_ASSIGN(const bool changed, store_.alerts().tell(alert.id, alert.told, now));
      told += changed ? 1 : 0;
    }
    return {};
  }));
  return told;
}

// The key holds how often it was told: when the program failed, the next run adds no second message.
Result<bool> AlertTeller::enqueue(const Alert& alert, Instant now) {
  Payload payload;
  payload.subject = "notifyctl: " + alert.kind + " " + alert.subject;
  payload.body = body_of(alert);
  TRY_ASSIGN(payload.data, canonical_json(to_json(alert)));
  NewMessage message;
  message.dedup_key = "alert:" + alert.kind + ":" + alert.subject + ":" + std::to_string(alert.id) + "." +
                      std::to_string(alert.told + 1);
  message.channel = config_.channel;
  message.recipient = config_.to;
  message.kind = kAlertMessageKind;
  message.payload = to_json(payload);
  message.fingerprint = fingerprint(message.channel, message.recipient, message.kind, message.category, payload);
  message.priority = kPriority;
  TRY_ASSIGN(const InsertResult inserted, store_.outbox().insert(message, now));
  return inserted.kind == InsertResult::Kind::kCreated;
}

}  // namespace notify

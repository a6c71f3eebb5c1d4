#include "core/broadcast.hpp"

#include <algorithm>
#include <set>

#include "core/fingerprint.hpp"
#include "core/payload.hpp"
#include "core/recipient.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

constexpr int kStep = 500;                 // recipients in one transaction
constexpr std::size_t kChunk = 64 * 1024;  // bytes of the list read at once; longer than any line
constexpr Duration kSpoolAge = 1h;         // a younger list may belong to an enqueue that has not committed yet
constexpr int kForgottenInOneStep = 5000;

// The part of a message that a recipient's own language decides.
Result<std::string> payload_in(const std::string& payload, const std::string& locale) {
  if (locale.empty()) return payload;
  TRY_ASSIGN(Payload content, parse_payload(payload));
  if (content.template_name.empty()) return payload;
  const auto at = std::lower_bound(content.vars.begin(), content.vars.end(), "locale",
                                   [](const auto& var, const char* name) { return var.first < name; });
  if (at != content.vars.end() && at->first == "locale") return payload;
  content.vars.emplace(at, "locale", locale);
  return to_json(content);
}

}  // namespace

const char* name(BroadcastState state) noexcept {
  switch (state) {
    case BroadcastState::kOpen: return "OPEN";
    case BroadcastState::kDone: return "DONE";
    case BroadcastState::kCancelled: return "CANCELLED";
    case BroadcastState::kFailed: return "FAILED";
  }
  return "";
}

std::optional<BroadcastState> parse_broadcast_state(std::string_view text) noexcept {
  for (const auto state :
       {BroadcastState::kOpen, BroadcastState::kDone, BroadcastState::kCancelled, BroadcastState::kFailed})
    if (text == name(state)) return state;
  return std::nullopt;
}

Result<void> check_broadcast_recipient(std::string_view line) {
  TRY(check_utf8("to", line));
  TRY(check_line("to", "the recipient", line, limits::kRecipient));
  if (!is_recipient_reference(line)) return {};
  if (auto id = check_recipient_id(line.substr(1)); !id) {
    id.error().field = "to";
    return id;
  }
  return {};
}

void sign_broadcast(NewBroadcast& broadcast, std::string_view source) {
  const NewMessage& message = broadcast.message;
  const auto signed_content = fingerprint(message.channel, source, message.kind, message.category, message.payload);
  ASSERT(signed_content.has_value());  // the payload was made by make_message()
  broadcast.fingerprint = *signed_content;
}

Result<BroadcastInsert> accept_broadcast(Store& store, Clock& clock, CrashPoints& crash_points,
                                         const NewBroadcast& broadcast) {
  BroadcastInsert inserted;
  TRY(store.write([&]() -> Result<void> {
    TRY_ASSIGN(inserted, store.broadcasts().insert(broadcast, clock.now()));
    crash_points.reach(CrashPoint::kBroadcastBeforeCommit);
    return {};
  }));
  crash_points.reach(CrashPoint::kBroadcastAfterCommit);
  return inserted;
}

// --- fanning out

Result<int> FanOut::step() {
  TRY_ASSIGN(const std::optional<Broadcast> broadcast, next());
  if (!broadcast) return 0;
  TRY_ASSIGN(const std::optional<Chunk> chunk, read_chunk(*broadcast));
  if (!chunk) return 1;  // given up: that is something done, too
  BroadcastStep step;
  TRY_ASSIGN(const bool ours, make_messages(*broadcast, *chunk, step));
  crash_points_.reach(CrashPoint::kRelayAfterFanOut);
  if (!ours) return 1;  // another relay made them, or it was cancelled: look again
  messages_ += step.messages;
  if (chunk->end == broadcast->request.list_bytes)
    events_.emit({Event::Level::kInfo,
                  "relay.fanned-out",
                  {},
                  broadcast->request.message.channel,
                  "a broadcast is fanned out",
                  broadcast->messages + step.messages,
                  broadcast->request.message.correlation});
  return static_cast<int>(step.recipients);
}

// Takes turns: a long list does not hold up a short one.
Result<std::optional<Broadcast>> FanOut::next() {
  TRY_ASSIGN(std::optional<Broadcast> broadcast, store_.broadcasts().next_open(last_));
  if (!broadcast && last_ != 0) {
    TRY_ASSIGN(broadcast, store_.broadcasts().next_open(0));
  }
  last_ = broadcast ? broadcast->id : 0;
  return broadcast;
}

// Nothing: the list cannot be read, and the broadcast says so now.
Result<std::optional<FanOut::Chunk>> FanOut::read_chunk(const Broadcast& broadcast) {
  const std::string& list = broadcast.request.list;
  const auto lost = [&](const std::string& why) -> Result<std::optional<Chunk>> {
    TRY(give_up(broadcast, why));
    return std::nullopt;
  };
  // What somebody has to mend; anything else may be over the next time.
  const auto unreadable = [&](const Error& error) -> Result<std::optional<Chunk>> {
    if (error.code == Code::kNotFound) return lost("its list of recipients is gone");
    if (error.code == Code::kPermission) return lost(error.message);
    return fail(error);
  };
  if (broadcast.fanned_bytes == 0) {
    const Result<bool> intact = spool_.intact(list);
    if (!intact) return unreadable(intact.error());
    if (!*intact) return lost("its list of recipients was changed");
  }
  Result<std::string> bytes = spool_.read(list, broadcast.fanned_bytes, kChunk);
  if (!bytes) return unreadable(bytes.error());
  Chunk chunk{std::move(*bytes)};
  std::size_t end = 0;
  for (int lines = 0; lines < kStep; ++lines) {
    const std::size_t line = chunk.lines.find('\n', end);
    if (line == std::string::npos) break;
    end = line + 1;
  }
  chunk.end = broadcast.fanned_bytes + static_cast<std::int64_t>(end);
  if (end == 0 || chunk.end > broadcast.request.list_bytes) return lost("its list of recipients was changed");
  chunk.lines.resize(end);
  return chunk;
}

Result<bool> FanOut::make_messages(const Broadcast& broadcast, const Chunk& chunk, BroadcastStep& step) {
  bool ours = false;
  TRY(store_.write([&]() -> Result<void> {
    const Instant now = clock_.now();
    step = {};
    TRY_ASSIGN(ours, store_.broadcasts().advance(broadcast.id, broadcast.fanned_bytes, chunk.end, now));
    if (!ours) return {};
    for (std::string_view rest = chunk.lines; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      TRY(make_for(broadcast, rest.substr(0, end), now, step));
      ++step.recipients;
      rest.remove_prefix(end + 1);
    }
    TRY(store_.broadcasts().count(broadcast.id, step));
    crash_points_.reach(CrashPoint::kRelayBeforeFanOutCommit);
    return {};
  }));
  return ours;
}

Result<void> FanOut::make_for(const Broadcast& broadcast, std::string_view recipient, Instant now,
                              BroadcastStep& step) {
  if (!is_recipient_reference(recipient)) return make_one(broadcast, {}, std::string(recipient), {}, now, step);
  TRY_ASSIGN(const std::optional<RecipientRecord> known, store_.recipients().find(recipient.substr(1)));
  bool reached = false;
  if (known) {
    for (const Endpoint& endpoint : known->endpoints) {
      if (endpoint.channel != broadcast.request.message.channel || endpoint.disabled_at) continue;
      reached = true;
      TRY(make_one(broadcast, recipient, endpoint.address, known->locale, now, step));
    }
  }
  step.unreachable += reached ? 0 : 1;
  return {};
}

Result<void> FanOut::make_one(const Broadcast& broadcast, std::string_view recipient, const std::string& address,
                              const std::string& locale, Instant now, BroadcastStep& step) {
  const std::string match = match_address(address);
  TRY_ASSIGN(const bool fresh,
             store_.broadcasts().add_target(broadcast.id, recipient.empty() ? match : std::string(recipient), match));
  if (!fresh) {
    ++step.repeated;
    return {};
  }
  NewMessage message = broadcast.request.message;
  message.dedup_key.clear();
  message.fingerprint.clear();
  message.recipient = address;
  message.broadcast_id = broadcast.id;
  TRY_ASSIGN(message.payload, payload_in(message.payload, locale));
  TRY(store_.outbox().insert(message, now));
  ++step.messages;
  return {};
}

Result<void> FanOut::give_up(const Broadcast& broadcast, const std::string& why) {
  events_.emit({Event::Level::kError,
                "relay.broadcast-failed",
                {},
                broadcast.request.message.channel,
                why,
                0,
                broadcast.request.message.correlation});
  return store_.write([&]() -> Result<void> {
    const Instant now = clock_.now();
    TRY_ASSIGN(const bool closed, store_.broadcasts().close(broadcast.id, BroadcastState::kFailed, why, now));
    if (!closed) return {};
    return store_.alerts().raise("broadcast-failed", broadcast.request.key, {}, why, now);
  });
}

Result<bool> FanOut::tidy() {
  TRY_ASSIGN(const std::vector<std::string> lists, store_.broadcasts().lists_in_use());
  TRY(spool_.sweep({lists.begin(), lists.end()}, kSpoolAge));
  TRY_ASSIGN(const bool any, store_.broadcasts().any_target_to_forget());
  if (!any) return false;  // most runs find nothing, and take no lock for it
  int forgotten = 0;
  TRY(store_.write([&]() -> Result<void> {
    TRY_ASSIGN(forgotten, store_.broadcasts().forget_targets(kForgottenInOneStep));
    return {};
  }));
  return forgotten == kForgottenInOneStep;
}

}  // namespace notify

#include "cmd/publish_now.hpp"

#include <algorithm>

#include "cmd/engine.hpp"
#include "cmd/reading.hpp"
#include "cmd/summaries.hpp"
#include "core/duration.hpp"
#include "core/relay.hpp"
#include "sys/wal_watch.hpp"

namespace notify {
namespace {

// Beside the watch on the log, in case it misses something.
constexpr Duration kLookEvery = 500ms;

Result<void> publish(Context& context, std::int64_t outbox_id) {
  TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::start(context, "enqueue", 0ms));
  Relay relay({engine->store(), engine->transport(), engine->locks(), context.clock(), context.random(),
               context.crash_points(), engine->events(), engine->policies()},
              engine->config().relay, engine->run());
  const Result<bool> published = relay.publish_one(outbox_id);
  TRY(engine->finish(published.has_value(), summary_json(relay.summary())));
  if (!published) return fail(published.error());
  return {};
}

// Where the message came to its end; empty while it is on its way.
Result<std::string> final_state(SqliteStore& store, const std::string& message_id) {
  TRY_ASSIGN(const std::optional<InboxRow> claimed, store.inbox().find(message_id));
  if (claimed && claimed->state != InboxState::kSending) return std::string(name(claimed->state));
  TRY_ASSIGN(const bool parked, store.parked().contains(message_id));
  if (parked) return std::string("parked");
  TRY_ASSIGN(const std::optional<std::int64_t> row, store.outbox().find(message_id));
  if (!row) return fail(Code::kNotFound, "no message " + message_id);
  TRY_ASSIGN(const std::optional<OutboxState> state, store.outbox().state(*row));
  const bool closed = state == OutboxState::kSkipped || state == OutboxState::kExpired || state == OutboxState::kFailed;
  return closed ? std::string(name(*state)) : std::string();
}

}  // namespace

void publish_now(Context& context, std::int64_t outbox_id) {
  if (const Result<void> done = publish(context, outbox_id); !done) {
    context.note("not handed on now, the relay will: " + done.error().message);
  }
}

Result<int> wait_for(Context& context, const std::string& message_id, Duration at_most) {
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));

  EpollLoop loop;
  Result<std::string> state = std::string();
  std::optional<WalWatch> watch;
  const Duration deadline = context.clock().monotonic() + at_most;
  const std::function<void()> look = [&] {
    state = final_state(*store, message_id);
    if (watch) watch->settled();
    if (!state || !state->empty() || context.clock().monotonic() >= deadline) loop.stop();
  };
  const std::function<void()> look_again = [&] {
    look();
    loop.after(std::clamp(deadline - context.clock().monotonic(), Duration{1}, kLookEvery), look_again);
  };
  watch.emplace(loop, store->path(), look);
  look_again();
  loop.run();

  if (!state) return fail(state.error());
  if (*state == "SENT") return 0;
  if (state->empty()) {
    return fail(Code::kTimeout, "message " + message_id + " is not sent after " + format_duration(at_most),
                "it is safe in the outbox; notifyctl show " + message_id + " tells where it is");
  }
  context.warn("message " + message_id + " was not sent: " + *state, "notifyctl show " + message_id);
  return 1;
}

}  // namespace notify

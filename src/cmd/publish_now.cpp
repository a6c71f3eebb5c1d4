#include "cmd/publish_now.hpp"

#include <algorithm>

#include "cmd/engine.hpp"
#include "cmd/reading.hpp"
#include "cmd/summaries.hpp"
#include "core/relay.hpp"
#include "core/report.hpp"
#include "sys/wal_watch.hpp"

namespace notify {
namespace {

// Beside the watch on the log, in case it misses something.
constexpr Duration kLookEvery = 500ms;

Result<std::optional<OutboxState>> publish(Context& context, std::int64_t outbox_id) {
  TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::start(context, "enqueue", 0ms));
  Relay relay({engine->store(), engine->transport(), engine->locks(), context.clock(), context.random(),
               context.crash_points(), engine->events(), engine->policies()},
              engine->config().relay, engine->run());
  const Result<bool> published = relay.publish_one(outbox_id);
  TRY(engine->finish(published.has_value(), summary_json(relay.summary())));
  if (!published) return fail(published.error());
  return engine->store().outbox().state(outbox_id);
}

// Whether the message came to its end. Cheap: asked at every commit of anybody.
Result<bool> has_ended(SqliteStore& store, const std::string& message_id) {
  TRY_ASSIGN(const std::optional<InboxRow> claimed, store.inbox().find(message_id));
  if (claimed && claimed->state != InboxState::kSending) return true;
  TRY_ASSIGN(const bool parked, store.parked().contains(message_id));
  if (parked) return true;
  TRY_ASSIGN(const std::optional<std::int64_t> row, store.outbox().find(message_id));
  if (!row) return fail(Code::kNotFound, "no message " + message_id);
  TRY_ASSIGN(const std::optional<OutboxState> state, store.outbox().state(*row));
  return state == OutboxState::kSkipped || state == OutboxState::kExpired || state == OutboxState::kFailed;
}

std::string joined(const std::string& reason, const std::string& detail) {
  return reason.empty() || detail.empty() ? reason + detail : reason + ": " + detail;
}

Result<Waited> whereabouts(SqliteStore& store, const std::string& message_id, Instant now) {
  TRY_ASSIGN(const std::optional<MessageStory> story, store.story(message_id, now));
  if (!story) return fail(Code::kNotFound, "no message " + message_id);
  if (story->inbox) return Waited{story->inbox->status, joined(story->inbox->reason, story->inbox->detail), false};
  if (story->parked) return Waited{"PARKED", joined(story->parked->reason, story->parked->detail), false};
  if (!story->outbox) return Waited{};
  return Waited{story->outbox->status, story->queue ? story->queue->reason : story->outbox->reason, false};
}

}  // namespace

std::optional<OutboxState> publish_now(Context& context, std::int64_t outbox_id) {
  const Result<std::optional<OutboxState>> state = publish(context, outbox_id);
  if (state) return *state;
  context.note("not handed on now, the relay will: " + state.error().message);
  return std::nullopt;
}

Result<Waited> wait_for(Context& context, const std::string& message_id, Duration at_most) {
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));

  EpollLoop loop;
  TRY(loop.ready());
  Result<bool> ended = false;
  std::optional<WalWatch> watch;
  const Duration deadline = context.clock().monotonic() + at_most;
  const std::function<void()> look = [&] {
    ended = has_ended(*store, message_id);
    if (watch) watch->settled();
    if (!ended || *ended || context.clock().monotonic() >= deadline) loop.stop();
  };
  const std::function<void()> look_again = [&] {
    look();
    loop.after(std::clamp(deadline - context.clock().monotonic(), Duration{1}, kLookEvery), look_again);
  };
  watch.emplace(loop, store->path(), look);
  look_again();
  loop.run();

  if (!ended) return fail(ended.error());
  TRY_ASSIGN(Waited waited, whereabouts(*store, message_id, context.clock().now()));
  waited.final = *ended;
  return waited;
}

}  // namespace notify

// channel test: one real message through a driver, to see what the vendor says.

#include <nlohmann/json.hpp>

#include "cmd/channel.hpp"
#include "cmd/drivers.hpp"
#include "cmd/engine.hpp"
#include "cmd/render.hpp"
#include "core/crypto.hpp"
#include "core/enqueue.hpp"
#include "core/payload.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

// Checked like any message; its id is no message's, and another one each time.
Result<Dispatch> test_dispatch(const ChannelOptions& options, Context& context) {
  if (!options.to) return fail(Code::kUsage, "--to is missing", "say whom to send the test message to");
  if (options.to->starts_with('@'))
    return fail(Code::kUsage, "--to: a test goes to an address, not to a recipient's id",
                "notifyctl recipient show ID --reveal shows the addresses");
  EnqueueFields fields;
  fields.channel = options.name;
  fields.to = *options.to;
  fields.kind = "channel-test";
  if (options.subject) fields.subject = *options.subject;
  fields.body = options.body;
  if (options.data) fields.data = *options.data;
  EnqueueContext surroundings;
  surroundings.now = context.clock().now();
  TRY_ASSIGN(const NewMessage message, make_message(fields, surroundings));

  Dispatch dispatch;
  Envelope& envelope = dispatch.envelope;
  envelope.message_id = "channel-test-" + std::to_string(new_token(context.random()));
  envelope.channel = message.channel;
  envelope.recipient = message.recipient;
  envelope.kind = message.kind;
  envelope.category = message.category;
  envelope.payload = message.payload;
  envelope.enqueued_at = surroundings.now;
  TRY_ASSIGN(dispatch.content, parse_payload(message.payload));
  dispatch.address = message.recipient;
  return dispatch;
}

// The rate holds for tests too: whoever takes a permit says so to all workers.
Result<void> wait_for_permit(Engine& engine, const ChannelConfig& channel) {
  if (!channel.rate) return {};
  while (true) {
    Instant next{};
    TRY(engine.store().write([&]() -> Result<void> {
      const Instant now = engine.context().clock().now();
      next = now;
      TRY_ASSIGN(std::optional<Lane> lane, engine.store().lanes().find(channel.name));
      if (!lane) lane.emplace().channel = channel.name;
      if (lane_take_permit(*lane, *channel.rate, now)) return engine.store().lanes().save(*lane, now);
      next = lane_next_permit(*lane);
      return {};
    }));
    const Duration wait = next - engine.context().clock().now();
    if (wait <= Duration{0}) return {};
    engine.loop().after(wait, [&] { engine.loop().stop(); });
    engine.loop().run();
  }
}

Outcome call(Engine& engine, const WorkLane& lane, const Dispatch& dispatch) {
  Outcome outcome;
  lane.driver->send(dispatch, [&](Outcome answer) {
    outcome = std::move(answer);
    engine.loop().stop();
  });
  engine.loop().run();
  return outcome;
}

const char* in_words(const Outcome& outcome) {
  switch (outcome.cls) {
    case OutcomeClass::kSent: return "accepted";
    case OutcomeClass::kPermanent: return "refused for good";
    case OutcomeClass::kNotSent: return outcome.status == 0 ? "not sent: cannot be reached" : "not sent: refused";
    case OutcomeClass::kUnknown: return "unknown: it may have been sent";
  }
  return "";
}

void print(const Outcome& outcome, const Dispatch& dispatch, Context& context) {
  if (context.json()) {
    return context.out().line(to_text(Json{{"channel", dispatch.envelope.channel},
                                           {"message_id", dispatch.envelope.message_id},
                                           {"outcome", outcome_name(outcome.cls)},
                                           {"reason", outcome.reason},
                                           {"detail", outcome.detail},
                                           {"reference", outcome.reference},
                                           {"status", outcome.status},
                                           {"phase", outcome.phase},
                                           {"elapsed_ms", outcome.elapsed.count()}}));
  }
  std::string text = in_words(outcome);
  if (!outcome.reason.empty()) text += " (" + outcome.reason + ")";
  if (!outcome.detail.empty()) text += ": " + printable(outcome.detail);
  if (!outcome.reference.empty()) text += ", reference " + printable(outcome.reference);
  context.out().line(text);
}

// What came of it is on standard output; the error says what to do.
Result<int> status_of(const Outcome& outcome, const std::string& channel) {
  const std::string why = outcome.reason.empty() ? "" : " (" + outcome.reason + ")";
  switch (outcome.cls) {
    case OutcomeClass::kSent: return 0;
    case OutcomeClass::kUnknown:
      return fail(Code::kPartial, "the outcome of the test is unknown" + why,
                  "ask the vendor, or the one whom it was sent to, before testing again");
    case OutcomeClass::kPermanent:
      return fail(Code::kPartial, "the vendor refused the test message" + why,
                  "mend what it names; --dry-run shows the request");
    case OutcomeClass::kNotSent: break;
  }
  if (outcome.status != 0)
    return fail(Code::kPartial, "the test message was not sent" + why,
                "mend what the vendor names, credentials or limits, and test again");
  return fail(Code::kUnavailable, "channel " + channel + " cannot be reached" + why,
              "notifyctl check examines the way there: name, port, TLS, firewall");
}

Result<int> send_test(Engine& engine, const ChannelOptions& options, const ChannelConfig& channel,
                      const Dispatch& dispatch) {
  Context& context = engine.context();
  if (!engine.policies().guard_allows(dispatch.address))
    return fail(Code::kPartial, "the guard forbids this recipient: the environment is not production",
                "add it to [guard] allow, or test to one that is there");
  const Drivers drivers(engine, {channel}, 1);
  const WorkLane& lane = drivers.lanes().front();
  if (lane.driver == nullptr) return fail(lane.trouble);
  if (auto fit = lane.driver->check(dispatch); !fit) return fail(std::move(fit).error());
  if (options.dry_run) {
    const std::string preview = lane.driver->preview(dispatch);
    if (preview.empty())
      return fail(Code::kPartial, "this channel's driver cannot show what it would send",
                  "without --dry-run it sends the message");
    context.out().write(preview);
    return 0;
  }
  TRY(wait_for_permit(engine, channel));
  const Outcome outcome = call(engine, lane, dispatch);
  print(outcome, dispatch, context);
  return status_of(outcome, channel.name);
}

}  // namespace

Result<int> test_channel(const ChannelOptions& options, const ChannelConfig& channel, Context& context) {
  TRY_ASSIGN(const Dispatch dispatch, test_dispatch(options, context));
  TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::start(context, "channel", 0ms));
  Result<int> result = send_test(*engine, options, channel, dispatch);
  TRY(engine->finish(false, {}));
  return result;
}

}  // namespace notify

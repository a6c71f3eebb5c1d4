#include "core/relay.hpp"

#include <algorithm>

#include "core/alert.hpp"
#include "core/backoff.hpp"
#include "core/recovery.hpp"

namespace notify {
namespace {

constexpr std::string_view kRelayActor = "relay";

// Looking again later than the expiry would be too late to say EXPIRED on time.
Instant no_later_than_expiry(Instant ready, const Envelope& envelope) {
  return envelope.expires ? std::min(ready, *envelope.expires) : ready;
}

Event event_of(const Envelope& envelope, Event::Level level, std::string name, std::string_view text, int count = 0) {
  return {level, std::move(name),     envelope.message_id, envelope.channel, std::string(text),
          count, envelope.correlation};
}

}  // namespace

RelaySummary& RelaySummary::operator+=(const RelaySummary& other) noexcept {
  recovered += other.recovered;
  published += other.published;
  deferred += other.deferred;
  skipped += other.skipped;
  expired += other.expired;
  failed += other.failed;
  retried += other.retried;
  return *this;
}

std::int64_t RelaySummary::total() const noexcept {
  return published + deferred + skipped + expired + failed + retried;
}

Relay::Relay(RelayPorts ports, const RelayConfig& config, std::int64_t holder)
    : ports_(ports), config_(config), holder_(holder) {}

Result<void> Relay::recover() {
  TRY_ASSIGN(const int rows, recover_relays(ports_.store, ports_.holders, ports_.clock, holder_,
                                            !ports_.transport.in_store_transaction()));
  summary_.recovered += rows;
  if (rows > 0) ports_.events.emit({Event::Level::kInfo, "relay.recovered", {}, {}, "claims taken back", rows});
  return {};
}

Result<int> Relay::step(int limit) {
  int looked_at = 0;
  TRY(hand_on([&](Instant now) -> Result<std::vector<Candidate>> {
    TRY_ASSIGN(std::vector<Candidate> rows, ports_.store.outbox().candidates(now, std::min(limit, config_.batch),
                                                                             !ports_.transport.in_store_transaction()));
    looked_at = static_cast<int>(rows.size());
    if (rows.empty() && config_.surge.on()) TRY(ports_.store.alerts().close("surge", "relay", now));
    return rows;
  }));
  if (held_ > 0 && !told_of_surge_) {
    ports_.events.emit({Event::Level::kWarning,
                        "relay.surge",
                        {},
                        {},
                        "messages are held by the surge guard; notifyctl relay --allow-surge lets them go",
                        0});
  }
  told_of_surge_ = held_ > 0;
  return looked_at - static_cast<int>(held_);
}

Result<bool> Relay::publish_one(std::int64_t outbox_id) {
  TRY(hand_on([&](Instant now) -> Result<std::vector<Candidate>> {
    TRY_ASSIGN(std::optional<Candidate> row,
               ports_.store.outbox().candidate(outbox_id, !ports_.transport.in_store_transaction()));
    std::vector<Candidate> rows;
    // A row with a time of its own, or resting after a failed publish, waits for it.
    if (row && row->ready_at <= now) rows.push_back(std::move(*row));
    return rows;
  }));
  return summary_.published > 0;
}

// Decide, claim, publish, mark. With a broker the claims are committed before anything is published, and the marks
// after it was confirmed. The embedded queue takes the messages in the very transaction that claims and marks them:
// nobody ever sees the rows PUBLISHING, and a relay that dies leaves nothing behind.
Result<void> Relay::hand_on(const std::function<Result<std::vector<Candidate>>(Instant now)>& pick) {
  const bool embedded = ports_.transport.in_store_transaction();
  std::vector<Claimed> claimed;
  Batch batch;
  TRY(ports_.store.write([&]() -> Result<void> {
    claimed.clear();
    batch = {};
    const Instant now = ports_.clock.now();
    TRY_ASSIGN(const std::vector<Candidate> rows, pick(now));
    TRY_ASSIGN(const SurgeRoom room, room_left(now));
    held_ = 0;
    for (const Candidate& row : rows) TRY(decide(row, room, now, claimed, batch));
    // Once: a relay that stays would be woken by its own commit, and hold and tell again for ever.
    if (held_ > 0 && !told_of_surge_)
      TRY(ports_.store.alerts().raise("surge", "relay", {}, "more than " + room.measure, now));
    if (!embedded || claimed.empty()) return {};
    ports_.crash_points.reach(CrashPoint::kRelayAfterClaim);
    TRY_ASSIGN(const std::vector<PublishAnswer> answers, publish(claimed));
    return mark(claimed, answers, now, batch);
  }));
  Result<void> handed;
  if (!embedded && !claimed.empty()) handed = hand_to_broker(claimed, batch);
  if (handed && !claimed.empty()) ports_.crash_points.reach(CrashPoint::kRelayAfterMark);
  take_note(batch);
  return handed;
}

void Relay::take_note(const Batch& batch) {
  summary_ += batch.counts;
  for (const Event& event : batch.events) ports_.events.emit(event);
}

Result<void> Relay::hand_to_broker(const std::vector<Claimed>& claimed, Batch& batch) {
  ports_.crash_points.reach(CrashPoint::kRelayAfterClaim);
  const Result<std::vector<PublishAnswer>> answers = publish(claimed);
  if (!answers) return give_back(claimed, answers.error());
  const Batch decided = batch;
  Result<void> marked = ports_.store.write([&]() -> Result<void> {
    batch = decided;
    return mark(claimed, *answers, ports_.clock.now(), batch);
  });
  if (!marked) batch = decided;  // what was not committed has not happened
  return marked;
}

Result<RelaySummary> Relay::preview(int limit) {
  const Instant now = ports_.clock.now();
  TRY_ASSIGN(const std::vector<Candidate> rows, ports_.store.outbox().candidates(now, limit, false));
  RelaySummary counts;
  for (const Candidate& row : rows) {
    TRY_ASSIGN(const Verdict verdict, judge(row, now));
    if (row.copy_may_be_out || verdict.kind == Verdict::Kind::kGo) {
      ++counts.published;
    } else if (verdict.kind == Verdict::Kind::kDefer) {
      ++counts.deferred;
    } else if (verdict.kind == Verdict::Kind::kSkip) {
      ++counts.skipped;
    } else {
      ++counts.expired;
    }
  }
  return counts;
}

Result<SurgeRoom> Relay::room_left(Instant now) {
  const SurgeConfig& surge = config_.surge;
  if (!surge.on()) return SurgeRoom{};
  std::vector<VolumeSpan> volume;
  if (surge.per_hour_max > 0 || surge.hourly_factor > 0) {
    TRY_ASSIGN(volume, ports_.store.outbox().volume(now));
  }
  bool held = false;
  if (surge.per_run_max > 0) {
    TRY_ASSIGN(const std::vector<Alert> alerts, ports_.store.alerts().open_alerts());
    held = std::any_of(alerts.begin(), alerts.end(), [](const Alert& alert) { return alert.kind == "surge"; });
  }
  return surge_room(surge, summary_.published, held, volume, now);
}

// The policies, and the recipient's consent.
Result<Verdict> Relay::judge(const Candidate& row, Instant now) {
  const Envelope& envelope = row.envelope;
  const Verdict verdict = ports_.policies.judge(envelope, Stage::kRelay, now);
  if (verdict.kind != Verdict::Kind::kGo && verdict.kind != Verdict::Kind::kDefer) return verdict;
  TRY_ASSIGN(const bool opted_out, ports_.store.recipients().opted_out(envelope.recipient, {}, envelope.channel,
                                                                       envelope.category, envelope.kind));
  if (opted_out) return Verdict{Verdict::Kind::kSkip, {}, "opted-out"};
  return verdict;
}

// Inside the claiming transaction: what becomes of one PENDING row that is due.
Result<void> Relay::decide(const Candidate& row, const SurgeRoom& room, Instant now, std::vector<Claimed>& claimed,
                           Batch& batch) {
  TRY_ASSIGN(const Verdict verdict, judge(row, now));
  OutboxTable& outbox = ports_.store.outbox();

  // Once a copy may be out, only the worker can say what became of the message: the relay goes on handing it
  // over until one copy is confirmed, and closes nothing.
  if (!row.copy_may_be_out) {
    switch (verdict.kind) {
      case Verdict::Kind::kSkip: return close(row, OutboxState::kSkipped, verdict.reason, now, batch);
      case Verdict::Kind::kExpire: return close(row, OutboxState::kExpired, verdict.reason, now, batch);
      case Verdict::Kind::kGo:
      case Verdict::Kind::kDefer: break;
    }
    if (row.attempts > 0 && now - row.due_at > config_.give_up_after)
      return close(row, OutboxState::kFailed, "gave-up", now, batch);
  }
  if (verdict.kind == Verdict::Kind::kDefer) {
    ++batch.counts.deferred;
    batch.events.push_back(event_of(row.envelope, Event::Level::kDebug, "relay.deferred", verdict.reason));
    TRY(outbox.defer(row.envelope.outbox_id, verdict.until, verdict.reason, now));
    return ports_.store.history().event(row.envelope.message_id, "deferred", verdict.reason, kRelayActor, now);
  }

  if (std::ssize(claimed) >= room.messages) {
    ++held_;
    return {};
  }
  const std::int64_t token = new_token(ports_.random);
  TRY_ASSIGN(const bool taken,
             outbox.claim(row.envelope.outbox_id, OutboxClaim{token, holder_, now, now + config_.lease}));
  if (taken) claimed.push_back({row, token});
  return {};
}

Result<std::vector<PublishAnswer>> Relay::publish(const std::vector<Claimed>& claimed) {
  std::vector<Envelope> batch;
  batch.reserve(claimed.size());
  for (const Claimed& claim : claimed) batch.push_back(claim.row.envelope);
  TRY_ASSIGN(std::vector<PublishAnswer> answers, ports_.transport.publish(batch, ports_.clock.now()));
  ASSERT(answers.size() == claimed.size());
  ports_.crash_points.reach(CrashPoint::kRelayAfterPublish);
  return answers;
}

Result<void> Relay::mark(const std::vector<Claimed>& claimed, const std::vector<PublishAnswer>& answers, Instant now,
                         Batch& batch) {
  for (std::size_t i = 0; i < claimed.size(); ++i) TRY(mark_one(claimed[i], answers[i], now, batch));
  return {};
}

Result<void> Relay::mark_one(const Claimed& claim, const PublishAnswer& answer, Instant now, Batch& batch) {
  const Envelope& envelope = claim.row.envelope;
  OutboxTable& outbox = ports_.store.outbox();
  if (answer.kind == PublishAnswer::Kind::kConfirmed) {
    TRY_ASSIGN(const bool ours, outbox.confirm(envelope.outbox_id, claim.token, now));
    if (!ours) return {};  // whoever took it over marks it
    ++batch.counts.published;
    batch.events.push_back(event_of(envelope, Event::Level::kDebug, "relay.published", {}, 1));
    return {};
  }

  const int failed = claim.row.attempts + 1;
  const Duration wait = backoff_delay(config_.backoff, failed, ports_.random.next64());
  const bool may_be_out = answer.kind == PublishAnswer::Kind::kUnknown;
  TRY_ASSIGN(const bool ours,
             outbox.back_off(envelope.outbox_id, claim.token, no_later_than_expiry(now + wait, envelope), may_be_out,
                             answer.reason, now));
  if (!ours) return {};
  ++batch.counts.retried;
  batch.events.push_back(event_of(envelope, Event::Level::kInfo, "relay.retry", answer.reason));
  TRY(ports_.store.history().event(envelope.message_id, "publish-failed", answer.reason, kRelayActor, now));
  if (failed == config_.alert_after) {
    TRY(raise_alert(ports_.store.alerts(), "publish-failing", envelope, answer.reason, {}, now));
  }
  return {};
}

// The transport itself is down. One row carries the failed attempt, so that the trouble becomes visible and
// give_up_after can count; the others were not begun and go back as they were.
Result<void> Relay::give_back(const std::vector<Claimed>& claimed, const Error& why) {
  Batch batch;
  const auto given_back = ports_.store.write([&]() -> Result<void> {
    batch = {};
    const Instant now = ports_.clock.now();
    TRY(mark_one(claimed.front(), {PublishAnswer::Kind::kRefused, why.message}, now, batch));
    for (std::size_t i = 1; i < claimed.size(); ++i) {
      TRY(ports_.store.outbox().release(claimed[i].row.envelope.outbox_id, claimed[i].token, now));
    }
    return {};
  });
  if (given_back) take_note(batch);
  return fail(why);
}

// PENDING → SKIPPED, EXPIRED or FAILED. What was not sent although nobody forbade it raises an alert.
Result<void> Relay::close(const Candidate& row, OutboxState to, std::string_view reason, Instant now, Batch& batch) {
  const Envelope& envelope = row.envelope;
  TRY_ASSIGN(const bool changed, ports_.store.outbox().finish(envelope.outbox_id, to, reason, now));
  ASSERT(changed);  // read in this very transaction
  std::string_view what = "skipped";
  if (to == OutboxState::kExpired) {
    what = "expired";
    TRY(raise_alert(ports_.store.alerts(), "expired", envelope, reason, {}, now));
  } else if (to == OutboxState::kFailed) {
    what = "gave-up";
    TRY(raise_alert(ports_.store.alerts(), "gave-up", envelope, reason, {}, now));
  }
  RelaySummary& counts = batch.counts;
  ++(to == OutboxState::kExpired ? counts.expired : to == OutboxState::kFailed ? counts.failed : counts.skipped);
  batch.events.push_back(event_of(envelope, Event::Level::kInfo, "relay." + std::string(what), reason));
  return ports_.store.history().event(envelope.message_id, what, reason, kRelayActor, now);
}

}  // namespace notify

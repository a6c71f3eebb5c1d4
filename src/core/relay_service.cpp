#include "core/relay_service.hpp"

#include <algorithm>

namespace notify {
namespace {

constexpr Duration kRecoverEvery = 2s;
constexpr Duration kTidyEvery = 10min;
// A wait never gets longer: the wall clock may jump, and instants in the database are wall clock.
constexpr Duration kLongestRelayWait = 30s;

}  // namespace

RelayService::RelayService(Loop& loop, Relay& relay, FanOut* fan_out, RelayPorts ports, RelayServiceOptions options,
                           std::function<void(Result<void>)> finished)
    : loop_(loop), relay_(relay), fan_out_(fan_out), ports_(ports), options_(options), finished_(std::move(finished)) {}

void RelayService::start() {
  started_at_ = ports_.clock.monotonic();
  schedule(Duration{0});
}

void RelayService::wake() { schedule(Duration{0}); }

void RelayService::stop() {
  stopping_ = true;
  schedule(Duration{0});
}

void RelayService::schedule(Duration delay) {
  if (ended_) return;
  if (timer_ != 0) loop_.cancel(timer_);
  timer_ = loop_.after(delay, [this] {
    timer_ = 0;
    tick();
  });
}

// What cannot be cleared away is no reason to deliver nothing.
void RelayService::tidy(Duration now) {
  if (fan_out_ == nullptr || now < next_tidying_) return;
  const Result<bool> more = fan_out_->tidy();
  if (!more) ports_.events.emit({Event::Level::kWarning, "relay.tidy", {}, {}, more.error().message, 0});
  next_tidying_ = more && *more ? now : now + kTidyEvery;
}

// Takes back, fans out, hands on. How many rows were looked at.
Result<int> RelayService::work(std::int64_t left) {
  const Duration now = ports_.clock.monotonic();
  if (now >= next_recovery_) {
    next_recovery_ = now + kRecoverEvery;
    TRY(relay_.recover());
  }
  tidy(now);
  // A list that cannot be read does not hold up the rows that can go: it is told when they have gone.
  Result<int> fanned_out = fan_out_ != nullptr ? fan_out_->step() : Result<int>(0);
  TRY_ASSIGN(const int handed_on, relay_.step(static_cast<int>(std::min<std::int64_t>(left, INT32_MAX))));
  if (!fanned_out && handed_on == 0) return fanned_out;
  return fanned_out.value_or(0) + handed_on;
}

// One batch a tick, so that signals and wake-ups are seen in between.
void RelayService::tick() {
  const Duration now = ports_.clock.monotonic();
  const std::int64_t left = options_.max_rows - relay_.summary().total();
  const bool over = options_.max_run && now - started_at_ >= *options_.max_run;
  if (stopping_ || left <= 0 || over) return end({});

  (void)ports_.store.changed_elsewhere();  // what comes from now on wakes us again
  const Result<int> done = work(left);
  if (on_settled) on_settled();

  if (!done) {
    const bool for_good = done.error().code == Code::kConfig;  // the database is not the one it was
    if (!options_.watch || for_good) return end(fail(done.error()));
    if (refused_in_a_row_++ == 0)
      ports_.events.emit({Event::Level::kError, "relay.refused", {}, {}, done.error().message, 0});
    return schedule(std::min(Duration{1s} * refused_in_a_row_, kLongestRelayWait));
  }
  refused_in_a_row_ = 0;
  if (*done > 0) return schedule(Duration{0});
  if (relay_.held() > 0 && options_.watch) return schedule(kLongestRelayWait);  // or the next commit
  rest();
}

// Nothing is due.
void RelayService::rest() {
  if (!options_.watch) return end({});
  Duration pause = kRecoverEvery;
  const Result<std::optional<Instant>> next = ports_.store.outbox().next_ready(ports_.clock.now());
  if (next && *next) pause = std::clamp(**next - ports_.clock.now(), Duration{0}, pause);
  schedule(pause);
}

void RelayService::end(Result<void> result) {
  if (ended_) return;
  ended_ = true;
  if (timer_ != 0) loop_.cancel(timer_);
  finished_(std::move(result));
}

}  // namespace notify

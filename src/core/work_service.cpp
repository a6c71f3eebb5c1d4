#include "core/work_service.hpp"

#include <algorithm>

#include "core/lane_alerts.hpp"

namespace notify {
namespace {

// Dead workers are looked for this often, beside the start and the end of a run.
constexpr Duration kSweepEvery = 2s;

// A wait never gets longer: the wall clock may jump, and instants in the database are wall clock.
constexpr Duration kLongestWorkWait = 30s;

// After the store refused a group.
constexpr Duration kWriteRetry = 200ms;

}  // namespace

WorkService::WorkService(Loop& loop, Worker& worker, WorkPorts ports, std::vector<WorkLane> lanes,
                         WorkServiceOptions options, std::function<Result<void>()> recover,
                         std::function<void(Result<void>)> finished)
    : loop_(loop),
      worker_(worker),
      ports_(ports),
      lanes_(std::move(lanes)),
      options_(options),
      recover_(std::move(recover)),
      finished_(std::move(finished)) {}

WorkService::~WorkService() {
  if (thread_.joinable()) thread_.join();
}

void WorkService::start() {
  started_at_ = ports_.clock.monotonic();
  worker_.limit(options_.max_messages);
  thread_ = std::thread([this] { store_thread(); });
}

void WorkService::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

void WorkService::open_lane(std::size_t lane, Channel& driver) {
  lanes_[lane].driver = &driver;
  const std::lock_guard lock(mutex_);
  opened_.emplace_back(lane, &driver);
  woken_ = true;
  changed_.notify_one();
}

void WorkService::take_opened_lanes() {
  std::vector<std::pair<std::size_t, Channel*>> opened;
  {
    const std::lock_guard lock(mutex_);
    opened.swap(opened_);
  }
  for (const auto& [lane, driver] : opened) {
    worker_.open_lane(lane, *driver);
    const WorkLane& now_open = worker_.lanes()[lane];
    ports_.events.emit({Event::Level::kInfo, "lane.opened", {}, now_open.config->name, {}, 0});
    if (const Result<void> noted = note_closed_lanes(ports_.store, ports_.clock, std::span(&now_open, 1)); !noted)
      ports_.events.emit({Event::Level::kWarning, "lane.alert-failed", {}, {}, noted.error().message, 0});
  }
}

void WorkService::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  woken_ = true;
  changed_.notify_one();
}

void WorkService::store_thread() {
  const Result<void> result = turns();
  loop_.post([this, result] { finished_(result); });
}

// Until there is nothing left to do, or the store refuses for good.
Result<void> WorkService::turns() {
  std::vector<Finished> finished;
  std::optional<Duration> refused_since;
  Duration pause{0};
  while (true) {
    const bool stopping = wait(pause, finished);
    if (stopping) worker_.stop();
    take_opened_lanes();
    const Duration now = ports_.clock.monotonic();
    if (options_.max_run && now - started_at_ >= *options_.max_run) worker_.stop();
    sweep();

    (void)ports_.store.changed_elsewhere();  // what comes now is seen by this turn
    Result<Turn> turn = worker_.turn(std::exchange(finished, {}));
    if (on_settled) on_settled();
    if (!turn) {
      // Claims stay; results stay in memory and are written as soon as the store takes them again.
      if (!refused_since) {
        ports_.events.emit({Event::Level::kError, "work.store-refused", {}, {}, turn.error().message, 0});
        refused_since = now;
      }
      if (turn.error().code == Code::kConfig && worker_.out() == 0) return fail(turn.error());
      const bool may_pass = turn.error().code == Code::kBusy || turn.error().code == Code::kDiskFull;
      const bool patient = may_pass && !options_.drain && !stopping;
      if (!patient && now - *refused_since >= options_.give_up_writing) return fail(turn.error());
      pause = kWriteRetry;
      continue;
    }
    refused_since.reset();
    if (!turn->calls.empty()) {
      loop_.post([this, calls = std::move(turn->calls)]() mutable {
        for (Call& call : calls) start_call(std::move(call));
      });
    }
    if (done(*turn)) return {};
    pause = pause_until(*turn);
  }
}

// Waits for results, a wake-up, or the time. Returns whether to stop.
bool WorkService::wait(Duration at_most, std::vector<Finished>& finished) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return woken_ || !results_.empty(); });
  std::move(results_.begin(), results_.end(), std::back_inserter(finished));
  results_.clear();
  woken_ = false;
  return stopping_;
}

// Trouble here is trouble with the store, which the turn that follows meets and handles.
void WorkService::sweep() {
  const Duration now = ports_.clock.monotonic();
  if (now < next_sweep_) return;
  next_sweep_ = now + kSweepEvery;
  if (const Result<void> swept = recover_(); !swept) {
    ports_.events.emit({Event::Level::kWarning, "work.recovery-failed", {}, {}, swept.error().message, 0});
  }
}

Duration WorkService::pause_until(const Turn& turn) {
  if (turn.again) return Duration{0};
  const Duration now = ports_.clock.monotonic();
  Duration pause = std::min(kLongestWorkWait, std::max(next_sweep_ - now, Duration{0}));
  if (turn.wake_at) pause = std::min(pause, *turn.wake_at - ports_.clock.now());
  if (options_.max_run) pause = std::min(pause, started_at_ + *options_.max_run - now);
  return std::max(pause, Duration{0});
}

// Nothing is out and nothing will be.
bool WorkService::done(const Turn& turn) {
  if (!turn.idle || !turn.settled_all || turn.again) return false;
  if (worker_.stopped() || worker_.exhausted()) return true;
  if (!options_.drain) return false;
  const Instant now = ports_.clock.now();
  if (turn.wake_at && *turn.wake_at <= now) return false;
  if (worker_.own_retry_until() && now <= *worker_.own_retry_until() + 100ms) return false;
  // A worker that died a moment ago may have left something to do.
  if (!swept_idle_) {
    swept_idle_ = true;
    next_sweep_ = Duration{0};
    return false;
  }
  return true;
}

// --- loop thread --------------------------------------------------------------------------------------------

void WorkService::start_call(Call call) {
  if (const std::optional<Outcome> refused = refuse_late(call, ports_.clock, ports_.policies))
    return finish_call(std::move(call), *refused);
  ports_.crash_points.reach(CrashPoint::kWorkBeforeCall);
  Channel& driver = *lanes_[call.lane].driver;
  Dispatch dispatch = call.dispatch;
  driver.send(std::move(dispatch), [this, call = std::move(call)](Outcome outcome) mutable {
    ports_.crash_points.reach(CrashPoint::kWorkAfterCall);
    finish_call(std::move(call), std::move(outcome));
  });
}

void WorkService::finish_call(Call call, Outcome outcome) {
  const std::lock_guard lock(mutex_);
  results_.push_back({std::move(call), std::move(outcome)});
  changed_.notify_one();
}

}  // namespace notify

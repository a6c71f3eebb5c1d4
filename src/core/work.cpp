#include "core/work.hpp"

#include <algorithm>

namespace notify {
namespace {

// Messages of channels that nobody configured, per turn: parked a few at a time beside the real work.
constexpr int kUnlistedPerTurn = 20;

// While vendors are called, the fence is raised this often: a backup that is restored is known when it is older than that.
constexpr Duration kFenceEvery = 10s;

// Errors by which the store says "not now": every item of the group would meet the same. (kConfig: the database has been
// replaced by an older copy.)
bool store_is_unavailable(const Error& error) {
  return error.code == Code::kBusy || error.code == Code::kDiskFull || error.code == Code::kIo ||
         error.code == Code::kPermission || error.code == Code::kConfig;
}

void earlier(std::optional<Instant>& at, std::optional<Instant> candidate) {
  if (candidate && (!at || *candidate < *at)) at = candidate;
}

}  // namespace

WorkSummary& WorkSummary::operator+=(const WorkSummary& other) noexcept {
  sent += other.sent;
  failed += other.failed;
  error += other.error;
  retried += other.retried;
  parked += other.parked;
  skipped += other.skipped;
  duplicate += other.duplicate;
  return *this;
}

Worker::Worker(WorkPorts ports, const Config& config, std::vector<WorkLane> lanes, bool park_unlisted, int concurrency,
               std::int64_t holder)
    : ports_(ports),
      config_(config),
      lanes_(std::move(lanes)),
      park_unlisted_(park_unlisted),
      concurrency_(concurrency),
      holder_(holder),
      out_by_lane_(lanes_.size(), 0) {
  windows_.reserve(lanes_.size());
  for (const WorkLane& lane : lanes_) windows_.emplace_back(lane.config->concurrency);
}

Result<Turn> Worker::turn(std::vector<Finished> finished) {
  std::move(finished.begin(), finished.end(), std::back_inserter(unsettled_));
  Turn turn;
  std::vector<Prepared> prepared = std::exchange(prepared_, {});
  const Result<void> written = commit(unsettled_, prepared, true, turn);
  if (written) {
    unsettled_.clear();
  } else {
    prepared_ = std::move(prepared);
    if (store_is_unavailable(written.error())) return fail(written.error());
    ports_.events.emit({Event::Level::kWarning, "work.group-failed", {}, {}, written.error().message, 0});
    one_by_one(turn);
  }
  // From here on nothing may fail: the turn holds claims that are durable.
  turn.settled_all = unsettled_.empty();
  turn.idle = out_ == 0 && prepared_.empty();
  if (!look_ahead(turn)) earlier(turn.wake_at, ports_.clock.now() + 1s);
  return turn;
}

// One transaction. On success `prepared` has been consumed and what is left of it is in prepared_.
Result<void> Worker::commit(std::span<const Finished> finished, std::vector<Prepared>& prepared, bool receive_next,
                            Turn& turn) {
  Group group;
  TRY(ports_.store.write([&]() -> Result<void> {
    const Instant now = ports_.clock.now();
    group = Group{};
    group.out = out_;
    group.out_by_lane = out_by_lane_;
    group.windows = windows_;
    group.remaining = remaining_;
    group.shortage_told_until = shortage_told_until_;
    TRY(load_lanes(group, now));
    for (const Finished& call : finished) TRY(settle(call, group, now));
    if (!finished.empty()) ports_.crash_points.reach(CrashPoint::kWorkBeforeSettleCommit);
    for (const Prepared& message : prepared) TRY(claim(message, group, now));
    if (!group.calls.empty() && ports_.clock.monotonic() >= next_fence_) {
      TRY_ASSIGN(group.mark, ports_.store.runs().mark());
    }
    if (!group.calls.empty()) ports_.crash_points.reach(CrashPoint::kWorkBeforeClaimCommit);
    if (ports_.transport.in_store_transaction()) {
      TRY(apply_deliveries(group));
      if (receive_next) TRY(receive(group, now));
    }
    return save_lanes(group, now);
  }));
  if (!finished.empty()) ports_.crash_points.reach(CrashPoint::kWorkAfterSettle);
  if (!group.calls.empty()) ports_.crash_points.reach(CrashPoint::kWorkAfterClaim);
  if (group.mark > 0) raise_fence(group.mark);
  prepared.clear();
  if (!ports_.transport.in_store_transaction()) finish_with_broker(group, receive_next);
  if (!group.received.empty()) ports_.crash_points.reach(CrashPoint::kWorkAfterReceive);
  take_over(group, turn);
  return {};
}

// The claims are durable and will be called; so trouble here is told, and the next group tries again.
void Worker::raise_fence(std::int64_t mark) {
  const Result<void> raised = ports_.store.fence(mark);
  if (raised)
    next_fence_ = ports_.clock.monotonic() + kFenceEvery;
  else
    ports_.events.emit({Event::Level::kWarning, "work.fence-failed", {}, {}, raised.error().message, 0});
}

// A group failed although the store works: one of its items is the cause. Each gets a transaction of its own,
// so that the others are not held up by it.
void Worker::one_by_one(Turn& turn) {
  std::vector<Prepared> none;
  for (const Finished& call : std::exchange(unsettled_, {})) {
    const Result<void> written = commit(std::span(&call, 1), none, false, turn);
    if (written) continue;
    if (store_is_unavailable(written.error())) {
      unsettled_.push_back(call);
      continue;
    }
    // Its claim stays SENDING and becomes ERROR with an alert when it is stale.
    ports_.events.emit({Event::Level::kError, "work.settle-failed", call.call.delivery.message_id,
                        call.call.dispatch.envelope.channel, written.error().message, 0,
                        call.call.dispatch.envelope.correlation});
    --out_;
    --out_by_lane_[call.call.lane];
  }
  for (Prepared& message : std::exchange(prepared_, {})) {
    std::vector<Prepared> single{message};
    const Result<void> written = commit({}, single, false, turn);
    if (written) continue;
    // Not claimed: its lease ends by itself and counts towards the delivery limit.
    ports_.events.emit({Event::Level::kError, "work.claim-failed", message.delivery.handle.message_id,
                        message.dispatch.envelope.channel, written.error().message, 0,
                        message.dispatch.envelope.correlation});
  }
}

// After the commit. A lost ack only brings a second copy, which the inbox stops; so trouble with the broker is
// told, and the group goes on.
void Worker::finish_with_broker(Group& group, bool receive_next) {
  Result<void> done = apply_deliveries(group);
  if (done && receive_next) done = receive(group, ports_.clock.now());
  if (done) return;
  ports_.events.emit({Event::Level::kError, "work.transport-failed", {}, {}, done.error().message, 0});
  earlier(group.wake_at, ports_.clock.now() + 1s);
}

Result<void> Worker::load_lanes(Group& group, Instant now) {
  TRY_ASSIGN(std::vector<Lane> rows, ports_.store.lanes().all());
  group.lanes.reserve(lanes_.size());
  for (const WorkLane& lane : lanes_) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Lane& r) { return r.channel == lane.config->name; });
    group.lanes.push_back(row != rows.end() ? std::move(*row) : Lane{});
    group.lanes.back().channel = lane.config->name;
    lane_mend_clock(group.lanes.back(), lane.config->rate, now);
  }
  group.lane_changed.assign(lanes_.size(), false);
  return {};
}

Result<void> Worker::save_lanes(const Group& group, Instant now) {
  for (std::size_t i = 0; i < group.lanes.size(); ++i)
    if (group.lane_changed[i]) TRY(ports_.store.lanes().save(group.lanes[i], now));
  return {};
}

Result<void> Worker::apply_deliveries(const Group& group) {
  for (const DeliveryAction& action : group.deliveries) {
    if (action.retry_at) {
      TRY(ports_.transport.retry_at(action.handle, *action.retry_at, action.tries, action.reason));
    } else {
      TRY(ports_.transport.ack(action.handle));
    }
  }
  return {};
}

std::vector<int> Worker::waiting_by_lane(const std::vector<Prepared>& prepared) const {
  std::vector<int> waiting(lanes_.size(), 0);
  for (const Prepared& message : prepared)
    if (message.action == Action::kCall) ++waiting[message.lane];
  return waiting;
}

int Worker::lane_room(std::size_t lane) const { return std::min(windows_[lane].size(), concurrency_); }

// Leases the next messages, per lane as many as it can call soon: one lane's worth ahead of what is out.
Result<void> Worker::receive(Group& group, Instant now) {
  if (stopping_ || group.remaining <= 0) return {};
  const std::vector<int> waiting = waiting_by_lane(group.kept);
  std::vector<ReceiveQuota> quotas;
  quotas.reserve(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = group.lanes[i];
    int quota = 0;
    if (lanes_[i].driver == nullptr) {
      // Named with nothing to take: what waits for it is left where it is, and is no unlisted channel's.
    } else if (lane_open(lane, now)) {
      quota = lane_room(i) - waiting[i];
    } else if (group.out_by_lane[i] == 0 && waiting[i] == 0 && lane_probe_due(lane, now)) {
      quota = 1;
      lane_note_probe(lane, now);
      group.lane_changed[i] = true;
    }
    quotas.push_back({lane.channel, static_cast<int>(std::clamp<std::int64_t>(quota, 0, group.remaining))});
  }
  group.lease_until = now + config_.queue.lease;
  const ReceiveRequest request{quotas, park_unlisted_ ? kUnlistedPerTurn : 0, now, group.lease_until, holder_};
  TRY_ASSIGN(group.received, ports_.transport.receive(request));
  return {};
}

// The group is durable: what it decided becomes this worker's state.
void Worker::take_over(Group& group, Turn& turn) {
  out_ = group.out;
  out_by_lane_ = std::move(group.out_by_lane);
  windows_ = std::move(group.windows);
  remaining_ = group.remaining;
  shortage_told_until_ = group.shortage_told_until;
  lane_state_ = std::move(group.lanes);
  summary_ += group.counts;
  if (group.own_retry_until) own_retry_until_ = std::max(own_retry_until_.value_or(Instant{}), *group.own_retry_until);
  earlier(turn.wake_at, group.wake_at);
  std::move(group.calls.begin(), group.calls.end(), std::back_inserter(turn.calls));
  std::move(group.kept.begin(), group.kept.end(), std::back_inserter(prepared_));
  turn.again = turn.again || !group.received.empty();
  for (Delivery& delivery : group.received) {
    prepared_.push_back(prepare(std::move(delivery), group.lease_until));
    Prepared& message = prepared_.back();
    message.probe = message.action != Action::kPark && lane_state_[message.lane].halted;
  }
  for (const Event& event : group.events) ports_.events.emit(event);
}

// When something becomes due that no commit will announce: a retry, the end of a pause, the next permit.
Result<void> Worker::look_ahead(Turn& turn) {
  if (stopping_) return {};
  const Instant now = ports_.clock.now();
  const std::vector<int> waiting = waiting_by_lane(prepared_);
  std::vector<std::string> open;
  for (std::size_t i = 0; i < lane_state_.size(); ++i) {
    const Lane& lane = lane_state_[i];
    if (lanes_[i].driver == nullptr) continue;
    if (lane_open(lane, now) || lane_probe_due(lane, now)) {
      // A lane with enough prepared goes on when a call of its own ends.
      if (waiting[i] < lane_room(i)) open.push_back(lane.channel);
    } else {
      earlier(turn.wake_at, lane_reopens(lane, now));
    }
  }
  if (open.empty()) return {};
  TRY_ASSIGN(const std::optional<Instant> next, ports_.transport.next_ready(open, now));
  earlier(turn.wake_at, next);
  return {};
}

// A vendor that asked to wait is not down.
bool Worker::any_lane_down() const noexcept {
  const Instant now = ports_.clock.now();
  return std::any_of(lanes_.begin(), lanes_.end(), [](const WorkLane& lane) { return lane.driver == nullptr; }) ||
         std::any_of(lane_state_.begin(), lane_state_.end(),
                     [now](const Lane& lane) { return lane.halted && lane.hold_until.value_or(now) <= now; });
}

}  // namespace notify

#pragma once

// The worker's half of the guarantee: each message is claimed in the inbox by one INSERT immediately before
// the vendor is called, and settled by its claim token afterwards.
//
// A Worker belongs to one thread, which owns the store's writes. The calls themselves run elsewhere (on the
// event loop, see work_service.hpp); they come back as Finished. One turn() is one group: the results of
// finished calls, the claims of the next ones and the next leases, in one transaction.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/call_window.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/lane_book.hpp"
#include "core/policy.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/events.hpp"
#include "core/ports/random.hpp"
#include "core/ports/store.hpp"
#include "core/ports/transport.hpp"
#include "core/template.hpp"

namespace notify {

inline constexpr std::string_view kWorkActor = "work";  // in the history of messages

// Counts of messages, as the command prints them.
struct WorkSummary {
  std::int64_t sent = 0;
  std::int64_t failed = 0;     // refused for good (and parked)
  std::int64_t error = 0;      // outcome unknown, not sent again
  std::int64_t retried = 0;    // put back to be tried again
  std::int64_t parked = 0;     // parked with no outcome: poison, or out of tries
  std::int64_t skipped = 0;    // opted out, guard, expired
  std::int64_t duplicate = 0;  // second copies that the inbox stopped

  WorkSummary& operator+=(const WorkSummary& other) noexcept;
};

// A call to a vendor whose claim is durable.
struct Call {
  Dispatch dispatch{};
  DeliveryHandle delivery{};
  std::size_t lane = 0;
  std::int64_t token = 0;
  int tries = 0;                // ended as certainly not sent, before this one
  bool unknown_before = false;  // an earlier call of this claim may have been processed
  Instant first_call_at{};
  Instant claimed_at{};  // wall clock and boot time of the claim: a frozen process compares them
  Duration claimed_boottime{0};
  bool probe = false;  // the one call by which a halted lane is tried
};

struct Finished {
  Call call{};
  Outcome outcome{};
};

struct Turn {
  std::vector<Call> calls{};         // may start now
  bool settled_all = true;           // false: results are still kept in memory (the store refused them)
  bool idle = false;                 // nothing prepared, nothing out
  bool again = false;                // messages were leased: the next turn has something to claim
  std::optional<Instant> wake_at{};  // when there may be something to do without anybody's commit
};

// The last look, right before the vendor is called: the outcome to settle with instead of calling, when the process
// stood still for more than 5 s since the claim (its claim may have been judged stale meanwhile), when the clock
// jumped, or when the recipient guard forbids the address.
std::optional<Outcome> refuse_late(const Call& call, Clock& clock, const Policies& policies);

struct WorkPorts {
  Store& store;
  Transport& transport;
  Clock& clock;
  Random& random;
  CrashPoints& crash_points;
  Events& events;
  const Policies& policies;
  const TemplateSet& templates;
};

class Worker {
 public:
  // `lanes` are the channels this worker serves; those without a driver are left alone. `park_unlisted`: it also parks messages of channels that
  // nobody configured. `holder` is this process's run id.
  Worker(WorkPorts ports, const Config& config, std::vector<WorkLane> lanes, bool park_unlisted, int concurrency,
         std::int64_t holder);

  // One group. On an error nothing was lost: the finished calls are kept and written with the next turn, and
  // no new work is taken until then.
  Result<Turn> turn(std::vector<Finished> finished);

  // No new leases or claims from now on; what was leased but not claimed goes back with the next turn.
  void stop() noexcept { stopping_ = true; }
  bool stopped() const noexcept { return stopping_; }
  // At most this many messages more are claimed (--max).
  void limit(std::int64_t messages) noexcept { remaining_ = messages; }
  bool exhausted() const noexcept { return remaining_ <= 0; }

  int out() const noexcept { return out_; }  // claimed and unsettled
  // Short retries of this worker's own that a draining run should wait for; empty when there are none.
  std::optional<Instant> own_retry_until() const noexcept { return own_retry_until_; }
  bool any_lane_down() const noexcept;
  // A lane that had no driver has one now, and is served from the next turn on.
  void open_lane(std::size_t lane, Channel& driver) noexcept { lanes_[lane].driver = &driver; }
  const std::vector<WorkLane>& lanes() const noexcept { return lanes_; }
  const WorkSummary& summary() const noexcept { return summary_; }

 private:
  enum class Action { kCall, kPark, kSkip, kExpire, kDefer };

  // A leased message that has been looked at, waiting for the next group.
  struct Prepared {
    Delivery delivery{};
    Dispatch dispatch{};
    std::size_t lane = 0;
    Action action = Action::kCall;
    std::string reason{};
    std::string detail{};
    Instant until{};  // kDefer
    Instant lease_until{};
    bool probe = false;  // the one message that a halted lane lets through
  };

  // What is done to a delivery, in the store's transaction or, with a broker, after its commit.
  struct DeliveryAction {
    DeliveryHandle handle{};
    std::optional<Instant> retry_at{};  // empty: ack
    int tries = 0;
    std::string reason{};
  };

  // Everything one transaction decides. Made anew when the transaction is run again; taken over by the
  // worker only after the commit.
  struct Group {
    std::vector<Lane> lanes{};
    std::vector<bool> lane_changed{};
    std::vector<int> out_by_lane{};
    std::vector<CallWindow> windows{};
    int out = 0;
    std::int64_t remaining = 0;
    std::vector<Call> calls{};
    std::vector<Prepared> kept{};  // prepared, but not this time
    std::vector<DeliveryAction> deliveries{};
    std::vector<Delivery> received{};
    Instant lease_until{};
    std::optional<Instant> wake_at{};
    std::optional<Instant> own_retry_until{};
    Instant shortage_told_until{};
    std::vector<Event> events{};
    std::int64_t mark = 0;  // for the fence; 0: not this time
    WorkSummary counts{};
  };

  // work.cpp: the group
  Result<void> commit(std::span<const Finished> finished, std::vector<Prepared>& prepared, bool receive, Turn& turn);
  void raise_fence(std::int64_t mark);
  void one_by_one(Turn& turn);
  void finish_with_broker(Group& group, bool receive_next);
  Result<void> load_lanes(Group& group, Instant now);
  Result<void> save_lanes(const Group& group, Instant now);
  Result<void> apply_deliveries(const Group& group);
  Result<void> receive(Group& group, Instant now);
  std::vector<int> waiting_by_lane(const std::vector<Prepared>& prepared) const;
  int lane_room(std::size_t lane) const;  // messages that are leased ahead for a lane, at the most
  void take_over(Group& group, Turn& turn);
  Result<void> look_ahead(Turn& turn);

  // work_prepare.cpp: before the claim
  Prepared prepare(Delivery delivery, Instant lease_until);
  Prepared prepare_call(Prepared prepared, Instant now);
  void find_address(Prepared& prepared, Variables& vars);

  // work_recipient.cpp: what the recipient allows
  Result<void> admit(Prepared& prepared, Instant now);
  Result<std::optional<Instant>> over_cap(const Prepared& prepared, Instant now);
  Result<void> wait_for_room(const Prepared& prepared, Group& group, Instant room, Instant now);
  Result<void> note_recipient(const Finished& finished, Instant now);
  Result<void> uncount(const Finished& finished);

  // work_claim.cpp: the claim
  Result<void> claim(const Prepared& prepared, Group& group, Instant now);
  Result<void> claim_call(const Prepared& prepared, Group& group, Instant now);
  Result<void> contested(const Prepared& prepared, Group& group, Instant now);
  Result<void> take_up(const InboxRow& row, const Prepared& prepared, Group& group, Instant now);
  Result<void> give_up(const InboxRow& row, const Prepared& prepared, std::string_view reason, Group& group,
                       Instant now);
  Result<void> park(const Prepared& prepared, Group& group, Instant now);
  Result<void> skip(const Prepared& prepared, Group& group, Instant now);
  void put_back(const Prepared& prepared, Group& group, Instant ready, std::string_view reason);
  void begin_call(const Prepared& prepared, Group& group, std::int64_t token, int attempt, bool unknown_before,
                  Instant first_call_at, Instant now);

  // work_settle.cpp: the result
  Result<void> settle(const Finished& finished, Group& group, Instant now);
  Result<void> settle_final(const Finished& finished, InboxState to, Group& group, Instant now);
  Result<void> claim_lost(const Finished& finished, InboxState to, Group& group);
  bool costs_nothing(const Finished& finished, const Group& group) const;
  Result<void> settle_unknown(const Finished& finished, Group& group, Instant now);
  Result<void> settle_not_sent(const Finished& finished, Group& group, Instant now);
  void tell_shortage(const Finished& finished, Group& group, Instant now);
  Result<void> park_call(const Finished& finished, std::string_view reason, Group& group, Instant now);
  Result<void> note_lane(const Finished& finished, Group& group, Instant now);
  void ack(const Finished& finished, Group& group);
  void retry(const Finished& finished, Group& group, Instant ready, int tries, bool own_retry);

  WorkPorts ports_;
  const Config& config_;
  std::vector<WorkLane> lanes_;
  bool park_unlisted_;
  int concurrency_;
  std::int64_t holder_;

  bool stopping_ = false;
  std::int64_t remaining_ = INT64_MAX;
  std::vector<Finished> unsettled_{};
  std::vector<Prepared> prepared_{};
  std::vector<int> out_by_lane_;
  std::vector<CallWindow> windows_{};  // by lane
  int out_ = 0;
  std::vector<Lane> lane_state_{};  // as of the last turn
  std::optional<Instant> own_retry_until_{};
  Instant shortage_told_until_{};  // no warning before that
  Duration next_fence_{0};         // monotonic
  WorkSummary summary_{};
};

}  // namespace notify

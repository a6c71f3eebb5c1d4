#pragma once

// The relay hands outbox rows to the transport: recover, decide, claim, publish, mark. At least once: a row is
// PUBLISHED only after the transport confirmed it, and handed on again when nobody knows.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/policy.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/events.hpp"
#include "core/ports/holders.hpp"
#include "core/ports/random.hpp"
#include "core/ports/store.hpp"
#include "core/ports/transport.hpp"
#include "core/surge.hpp"

namespace notify {

// Counts of rows, as the command prints them.
struct RelaySummary {
  std::int64_t recovered = 0;  // taken back from dead or frozen relays
  std::int64_t published = 0;
  std::int64_t deferred = 0;
  std::int64_t skipped = 0;
  std::int64_t expired = 0;
  std::int64_t failed = 0;   // given up by age
  std::int64_t retried = 0;  // publishes that were refused or unknown, to be tried again

  RelaySummary& operator+=(const RelaySummary& other) noexcept;
  std::int64_t total() const noexcept;
};

// What the relay works with; everything outlives it.
struct RelayPorts {
  Store& store;
  Transport& transport;
  Holders& holders;
  Clock& clock;
  Random& random;
  CrashPoints& crash_points;
  Events& events;
  const Policies& policies;
};

class Relay {
 public:
  // `holder` is this process's run id, whose kernel lock is held.
  Relay(RelayPorts ports, const RelayConfig& config, std::int64_t holder);

  // Gives back what dead relays held and what is past its lease.
  Result<void> recover();

  // One batch of at most `limit` rows: decides about them and claims, publishes, marks what was confirmed. Returns
  // how many rows were looked at; 0 means that nothing is due, or that all that is due is held by the surge guard. Code::kUnavailable: the transport is down.
  Result<int> step(int limit);

  // The same for one row whether or not it is its turn (`enqueue --now`). False: not PENDING, or not
  // allowed now.
  Result<bool> publish_one(std::int64_t outbox_id);

  // Judges what is due without changing anything (`--dry-run`), at most `limit` rows.
  Result<RelaySummary> preview(int limit);

  const RelaySummary& summary() const noexcept { return summary_; }
  // Rows of the last batch that the surge guard held back. They stay PENDING.
  std::int64_t held() const noexcept { return held_; }

 private:
  struct Claimed {
    Candidate row;
    std::int64_t token = 0;
  };
  // What a batch has done, told when it is committed.
  struct Batch {
    RelaySummary counts{};
    std::vector<Event> events{};
  };

  Result<SurgeRoom> room_left(Instant now);
  Result<Verdict> judge(const Candidate& row, Instant now);
  Result<void> decide(const Candidate& row, const SurgeRoom& room, Instant now, std::vector<Claimed>& claimed,
                      Batch& batch);
  Result<void> hand_on(const std::function<Result<std::vector<Candidate>>(Instant now)>& pick);
  Result<void> hand_to_broker(const std::vector<Claimed>& claimed, Batch& batch);
  Result<std::vector<PublishAnswer>> publish(const std::vector<Claimed>& claimed);
  Result<void> mark(const std::vector<Claimed>& claimed, const std::vector<PublishAnswer>& answers, Instant now,
                    Batch& batch);
  Result<void> mark_one(const Claimed& claim, const PublishAnswer& answer, Instant now, Batch& batch);
  Result<void> give_back(const std::vector<Claimed>& claimed, const Error& why);
  Result<void> close(const Candidate& row, OutboxState to, std::string_view reason, Instant now, Batch& batch);
  void take_note(const Batch& batch);

  RelayPorts ports_;
  const RelayConfig& config_;
  std::int64_t holder_;
  RelaySummary summary_{};
  std::int64_t held_ = 0;
  bool told_of_surge_ = false;  // since messages are held
};

}  // namespace notify

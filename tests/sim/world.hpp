#pragma once

// A small world in one process: the real use cases over the real SQLite store, with a scripted vendor, a clock
// that only moves when told, and processes that can be killed at any crash point. Used by the scenario tests and
// by the seeded simulator.

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/broadcast.hpp"
#include "core/lane_alerts.hpp"
#include "core/reconcile.hpp"
#include "core/recovery.hpp"
#include "core/relay.hpp"
#include "core/work.hpp"
#include "sim/broker.hpp"
#include "sim/lossy_disk.hpp"
#include "store/open.hpp"
#include "support/fakes.hpp"
#include "transport/embedded.hpp"

namespace notify::sim {

// Thrown where the process dies; nothing of it runs afterwards.
struct Killed {
  CrashPoint at;
};

// Dies at the n-th crash point that is reached, of a given name or of any.
class KillSwitch final : public CrashPoints {
 public:
  void reach(CrashPoint point) override;
  void arm(int nth) { any_ = nth; }
  void arm(CrashPoint point) { at_ = point; }
  void disarm() {
    any_ = 0;
    at_.reset();
  }

 private:
  int any_ = 0;  // 0: off
  std::optional<CrashPoint> at_{};
};

// Kernel locks of simulated processes.
class Lives final : public Holders {
 public:
  Result<void> hold(std::int64_t run_id) override {
    alive_.insert(run_id);
    return {};
  }
  bool alive(std::int64_t run_id) override { return alive_.contains(run_id); }
  void die(std::int64_t run_id) { alive_.erase(run_id); }

 private:
  std::set<std::int64_t> alive_{};
};

class SilentEvents final : public Events {
 public:
  void emit(const Event& event) override { counts[event.name] += 1; }
  std::map<std::string, int> counts{};
};

// The vendor: whatever arrives is in its log before it answers.
class Vendor {
 public:
  void receive(const std::string& message_id) { ++log_[message_id]; }
  int received(const std::string& message_id) const;
  std::size_t distinct() const { return log_.size(); }
  int most() const;  // the greatest number of times one message arrived

 private:
  std::map<std::string, int> log_{};
};

// A driver that is never asked to send: the world makes the calls itself.
class NullChannel final : public Channel {
 public:
  Result<void> check(const Dispatch&) const override { return {}; }
  void send(Dispatch, Done) override { ADD_FAILURE_UNREACHABLE(); }

 private:
  static void ADD_FAILURE_UNREACHABLE();
};

// Lists of recipients in memory. Hands out a few lines at a time, so that fanning out takes many steps.
class MemorySpool final : public Spool {
 public:
  static constexpr std::size_t kMost = 64;

  void keep(const std::string& name, std::string list) { lists_[name] = std::move(list); }
  Result<std::string> read(const std::string& name, std::int64_t offset, std::size_t max) override;
  Result<bool> intact(const std::string& name) override;
  Result<void> sweep(const std::set<std::string>& needed, Duration age) override;

 private:
  std::map<std::string, std::string> lists_{};
};

class World;

// One relay, worker or reconcile process.
class Process {
 public:
  enum class Kind { kRelay, kWorker, kReconciler };
  Process(World& world, Kind kind);
  ~Process();

  Kind kind() const noexcept { return kind_; }
  std::int64_t run() const noexcept { return run_; }
  KillSwitch& kill_switch() noexcept { return kill_switch_; }
  SqliteStore& store() noexcept { return *store_; }
  Worker& worker() { return *worker_; }
  Relay& relay() { return *relay_; }

  // Relay: recover, one step of fanning out and one batch. Returns recipients and rows looked at.
  Result<int> relay_step();
  // Reconciler: the next of its steps. False: that was the last one.
  Result<bool> reconcile_step();
  Reconciler& reconciler() { return *reconciler_; }
  // Worker: recover dead ones and one turn with what has come back. New calls are in `calls`.
  Result<Turn> worker_turn();

  std::deque<Call> calls{};      // claimed, not yet called
  std::deque<Call> out{};        // the vendor has it
  std::vector<Finished> back{};  // the answer is here, not yet written

 private:
  World& world_;
  Kind kind_;
  KillSwitch kill_switch_{};
  std::unique_ptr<SqliteStore> store_{};
  std::int64_t run_ = 0;
  std::unique_ptr<Transport> transport_{};
  std::unique_ptr<FanOut> fan_out_{};
  std::unique_ptr<Relay> relay_{};
  std::unique_ptr<Worker> worker_{};
  std::unique_ptr<Reconciler> reconciler_{};
  int step_ = 0;
};

class World {
 public:
  explicit World(std::uint64_t seed = 1);
  ~World();

  // --- the parts; public, since tests look at everything
  LossyDisk disk{};
  bool lazy_sync = false;  // a bug: commits are not synced
  Config config{};
  test::FakeClock clock{};
  test::FakeRandom random;
  Lives lives{};
  SilentEvents events{};
  Vendor vendor{};
  MemorySpool spool{};
  NullChannel driver{};
  std::set<std::string> broken{};  // channels whose driver cannot be made
  TemplateSet templates{};
  std::unique_ptr<Broker> broker{};  // set before the first process starts: messages go through it

  void execute(const std::string& sql);  // on the database, as it stands

  const std::string& database() const noexcept { return path_; }
  SqliteStore& observer() { return *observer_; }
  std::unique_ptr<SqliteStore> open();

  // A channel "sms" (at most once) is there from the start; more can be added before processes start.
  ChannelConfig& add_channel(const std::string& name);

  // Inserts a message and commits. Returns its id.
  std::string enqueue(const std::string& key, const std::string& channel = "sms", int priority = 5);

  // Accepts a broadcast to these recipients. Returns its id.
  std::int64_t broadcast(const std::string& key, const std::vector<std::string>& recipients, const std::string& channel,
                         CrashPoints& crash_points);

  Process& start(Process::Kind kind);
  // SIGKILL: its lock is free, its memory gone.
  void kill(Process& process);
  // The power fails: all processes are gone, and what was not synced is, too.
  void lose_power();
  std::vector<std::unique_ptr<Process>>& processes() noexcept { return processes_; }

  // Relays everything, works everything off with `outcome` for each call, until nothing is due.
  void relay_all();
  void work_all(const std::function<Outcome(const Call&)>& outcome);
  // One whole run, after taking these receipts.
  ReconcileSummary reconcile(const std::vector<Receipt>& receipts = {});
  // What an operator's replay does to a message that is not SENT.
  void replay(const std::string& message_id);
  std::vector<Alert> open_alerts();

  std::optional<InboxState> inbox(const std::string& message_id);
  OutboxState outbox(const std::string& message_id);
  StatusReport status();
  // The identity holds and the counters are true. Fails the test otherwise.
  void check_accounts();

 private:
  std::string directory_{};
  std::string path_{};
  test::FakeRandom luck_;  // of what is written when the power fails
  std::unique_ptr<SqliteStore> observer_{};
  std::vector<std::unique_ptr<Process>> processes_{};
};

Outcome sent();
inline Outcome always_sent(const Call&) { return sent(); }
Outcome refused();
Outcome not_sent(const std::string& reason = "connect-refused");
Outcome unknown();

}  // namespace notify::sim

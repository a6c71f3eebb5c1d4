#pragma once

// One seeded run: relays, workers, reconcilers and operators over the real store, interleaved and killed by a random
// sequence, with a vendor that is logged, a clock that jumps, and the invariants checked after every step.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string>

#include "core/cancel.hpp"
#include "core/park.hpp"
#include "core/replay.hpp"
#include "sim/world.hpp"

namespace notify::sim {

// A bug that is planted to see that the invariants find it.
struct PlantedBug {
  std::string_view name{};
  std::string_view sql{};  // triggers that undo what the program relies on
  bool with_broker = false;
  bool unknown_is_not_sent = false;  // what may have been accepted is called again
  bool lazy_sync = false;
};

inline constexpr int kSteps = 400;
inline constexpr int kMessages = 60;
inline constexpr int kBroadcasts = 3;
inline constexpr int kPeople = 6;  // that a broadcast is for
inline constexpr std::size_t kProcesses = 5;
inline constexpr Duration kWindow = 5min;  // in which the vendor of the channel at least once knows a key again

class Simulation {
 public:
  // `failed`: whether an invariant was broken so far.
  Simulation(std::uint64_t seed, const PlantedBug& bug, std::function<bool()> failed)
      : world_(seed), dice_(seed * 977 + 5), bug_(bug), failed_(std::move(failed)) {
    world_.lazy_sync = bug.lazy_sync;
    if (!bug.sql.empty()) world_.execute(std::string(bug.sql));
    if (bug.with_broker) {
      world_.broker = std::make_unique<Broker>();
      world_.broker->on_publish = [this] {
        const int dice = roll(10);
        return dice == 0 ? Broker::Fate::kLostAfterwards : dice == 1 ? Broker::Fate::kRefused : Broker::Fate::kOk;
      };
      world_.broker->ack_is_lost = [this] { return roll(8) == 0; };
    }
    world_.config.channels[0].concurrency = 4;
    ChannelConfig& hook = world_.add_channel("hook");
    hook.semantics = Semantics::kAtLeastOnce;
    hook.idempotency_window = kWindow;
    world_.config.work.concurrency = 6;
    world_.config.relay.batch = 5;
  }

  void run() {
    for (int step = 0; step < kSteps; ++step) {
      action();
      meet_fanned_out();
      check();
      if (failed_()) return;
    }
    finish();
  }

 private:
  int roll(int sides) { return static_cast<int>(dice_.next64() % static_cast<std::uint64_t>(sides)); }

  Process* some_process() {
    auto& all = world_.processes();
    return all.empty() ? nullptr : all[static_cast<std::size_t>(roll(static_cast<int>(all.size())))].get();
  }

  void action() {
    if (roll(200) == 0) return world_.lose_power();
    if (roll(90) == 0) return kill();
    switch (roll(20)) {
      case 0:
      case 1: return enqueue();
      case 2: return start();
      case 3: return move_clock();
      case 4: return operate();
      default: return step(some_process());
    }
  }

  void enqueue() {
    if (roll(12) == 0) return broadcast();
    if (single_ >= kMessages) return;
    ++single_;
    const bool hook = roll(4) == 0;
    ids_.push_back(world_.enqueue("key" + std::to_string(ids_.size()), hook ? "hook" : "sms", roll(10)));
    if (!hook) at_most_once_.insert(ids_.back());
  }

  // To a list that names some recipients twice. The same run may be made again, as after one that died.
  void broadcast() {
    const std::size_t number = std::min(broadcasts_.size(), static_cast<std::size_t>(roll(kBroadcasts)));
    const std::string key = "all" + std::to_string(number);
    std::vector<std::string> list;
    for (int i = 0; i < kPeople * 3 / 2; ++i) list.push_back("+821000000" + std::to_string(100 + i % kPeople));
    KillSwitch kill_switch;
    if (roll(3) == 0) kill_switch.arm(1 + roll(2));
    try {
      world_.broadcast(key, list, "sms", kill_switch);
    } catch (const Killed&) {
    }
    if (const auto accepted = world_.observer().broadcasts().find(key); *accepted) broadcasts_[key] = (*accepted)->id;
  }

  // Messages that a relay has made of a broadcast.
  void meet_fanned_out() {
    for (const auto& [key, broadcast] : broadcasts_) {
      const auto made = world_.observer().broadcasts().message_ids(broadcast);
      ASSERT_TRUE(made);
      for (const std::string& id : *made)
        if (at_most_once_.insert(id).second) ids_.push_back(id);
    }
  }

  void start() {
    if (world_.processes().size() >= kProcesses) return;
    constexpr std::array kKinds{Process::Kind::kRelay, Process::Kind::kWorker, Process::Kind::kRelay,
                                Process::Kind::kWorker, Process::Kind::kReconciler};
    const Process::Kind kind = kKinds[static_cast<std::size_t>(roll(kKinds.size()))];
    const auto& all = world_.processes();
    const bool one_reconciles = std::any_of(
        all.begin(), all.end(), [](const auto& process) { return process->kind() == Process::Kind::kReconciler; });
    if (kind == Process::Kind::kReconciler && one_reconciles) return;  // its kernel lock
    world_.start(kind);
  }

  void kill() {
    if (Process* victim = some_process()) world_.kill(*victim);
  }

  void move_clock() {
    switch (roll(8)) {
      case 0: return world_.clock.advance(7min);   // longer than a queue lease
      case 1: return world_.clock.advance(20min);  // longer than everything
      case 2: world_.clock.wall = world_.clock.wall + (roll(2) == 0 ? 1h : -1h); return;
      default: return world_.clock.advance(Duration{roll(3000)});
    }
  }

  void step(Process* process) {
    if (process == nullptr) return;
    if (roll(25) == 0) {
      process->kill_switch().arm(1 + roll(6));
    } else {
      process->kill_switch().disarm();
    }
    world_.disk.fail_at(roll(60) == 0 ? 1 + roll(12) : 0, roll(2) == 0 ? SQLITE_FULL : SQLITE_IOERR);
    bool ends = false;
    try {
      if (process->kind() == Process::Kind::kRelay) {
        done(process->relay_step());
      } else if (process->kind() == Process::Kind::kReconciler) {
        ends = reconcile(*process);
      } else {
        work(*process);
      }
    } catch (const Killed&) {
      ends = true;
    }
    if (ends || world_.disk.has_failed()) world_.kill(*process);
    world_.disk.fail_at(0);
  }

  // A use case succeeds, or has met the disk's failure.
  template <class T>
  void done(const Result<T>& result) {
    if (!result && !world_.disk.has_failed()) ADD_FAILURE() << result.error().message;
  }

  // An operator does one thing to one message, and may die of it.
  void operate() {
    if (ids_.empty()) return;
    const std::string id = ids_[static_cast<std::size_t>(roll(static_cast<int>(ids_.size())))];
    const bool was_error = world_.inbox(id) == InboxState::kError;
    KillSwitch kill_switch;
    if (roll(4) == 0) kill_switch.arm(1 + roll(2));
    const std::unique_ptr<SqliteStore> store = world_.open();
    const OperatorPorts ports{*store, store->operators(), world_.lives, world_.clock, kill_switch};
    try {
      operate(ports, id);
    } catch (const Killed&) {
    }
    // Only a replay ends an ERROR so, and only with the acceptance of a second delivery.
    if (was_error && !world_.inbox(id)) ++accepted_duplicates_[id];
    if (!world_.inbox(id)) first_call_.erase(id);
  }

  void operate(const OperatorPorts& ports, const std::string& id) {
    const std::vector<std::string> ids{id};
    ReplayOptions how;
    how.accept_duplicates = roll(3) == 0;
    how.copies_may_be_out = world_.broker != nullptr;
    if (roll(4) == 0) how.patch = *PayloadPatch::parse({}, std::vector<std::string>{"body=mended"});
    if (roll(4) == 0) how.rate = Rate{1, 1min};
    switch (roll(6)) {
      case 0: ASSERT_TRUE(cancel_messages(ports, ids, "sim")); return;
      case 1: ASSERT_TRUE(park_messages(ports, ids, "sim")); return;
      case 2: ASSERT_TRUE(drop_parked(ports, ids, "sim")); return;
      default: ASSERT_TRUE(replay(ports, ids, how)); return;
    }
  }

  // Receipts come in the middle of everything, or the next step is done. Returns whether it was the last.
  bool reconcile(Process& process) {
    if (roll(4) == 0) {
      const std::vector<Receipt> receipts{receipt(), receipt()};
      done(process.reconciler().take(receipts));
      return false;
    }
    const Result<bool> more = process.reconcile_step();
    done(more);
    return more && !*more;
  }

  // What the vendor says about some message, always true; sometimes about none of ours.
  Receipt receipt() {
    Receipt said;
    said.message_id = "nobody-knows-this-" + std::to_string(roll(3));
    const bool accepted = roll(2) == 0;
    const std::set<std::string>& from = accepted ? accepted_ : refused_;
    if (!from.empty()) said.message_id = *std::next(from.begin(), roll(static_cast<int>(from.size())));
    said.verdict = accepted ? ReceiptVerdict::kAccepted : ReceiptVerdict::kRefused;
    if (roll(2) == 0) said.at = world_.clock.now();
    said.halt_channel = roll(16) == 0;
    return said;
  }

  // One of the things that can happen next in a worker: a turn, a call begins, an answer comes.
  void work(Process& worker) {
    switch (roll(4)) {
      case 0:
      case 1: return done(worker.worker_turn());
      case 2:
        for (int n = roll(6); n >= 0; --n) begin_call(worker);
        return;
      default:
        for (int n = roll(6); n >= 0; --n) answer(worker);
    }
  }

  void begin_call(Process& worker) {
    if (worker.calls.empty()) return;
    Call call = std::move(worker.calls.front());
    worker.calls.pop_front();
    static const Policies& policies = *new Policies(*new Config(), nullptr);
    if (auto refused = refuse_late(call, world_.clock, policies)) {
      worker.back.push_back({std::move(call), std::move(*refused)});
      return;
    }
    worker.kill_switch().reach(CrashPoint::kWorkBeforeCall);
    if (roll(8) == 0) {  // it never left this machine
      worker.back.push_back({std::move(call), not_sent()});
      return;
    }
    meet_window(call);
    world_.vendor.receive(call.delivery.message_id);
    ++may_be_accepted_[call.delivery.message_id];
    worker.out.push_back(std::move(call));
  }

  // A key goes out again only while the vendor knows it.
  void meet_window(const Call& call) {
    const std::string& id = call.delivery.message_id;
    if (!call.unknown_before) first_call_.erase(id);
    const Instant first = first_call_.try_emplace(id, world_.clock.now()).first->second;
    const bool known = world_.clock.now() - first < kWindow;
    ASSERT_TRUE(known || at_most_once_.contains(id)) << id << " was called again after its key was forgotten";
  }

  void answer(Process& worker) {
    if (worker.out.empty()) return;
    Call call = std::move(worker.out.front());
    worker.out.pop_front();
    worker.kill_switch().reach(CrashPoint::kWorkAfterCall);
    const int dice = roll(10);
    Outcome outcome = dice < 7 ? sent() : dice == 7 ? refused() : unknown();
    const bool has_it = outcome.cls == OutcomeClass::kSent || dice == 8;  // with dice 8 and 9 nobody hears of it
    if (has_it) {
      accepted_.insert(call.delivery.message_id);
    } else {
      --may_be_accepted_[call.delivery.message_id];
    }
    if (bug_.unknown_is_not_sent && outcome.cls == OutcomeClass::kUnknown) outcome = not_sent();
    // Where the same key goes out again, a refusal of one call ends nothing.
    if (!has_it && at_most_once_.contains(call.delivery.message_id)) refused_.insert(call.delivery.message_id);
    worker.back.push_back({std::move(call), std::move(outcome)});
  }

  void check() {
    // At most one call whose outcome may be acceptance, and one more for each second delivery that an operator accepted.
    for (const std::string& id : at_most_once_)
      ASSERT_LE(may_be_accepted_[id], 1 + accepted_duplicates_[id]) << id << " was sent twice";
    if (!world_.broker) world_.check_accounts();  // what a broker holds is not in the database
  }

  // An operator has mended what receipts had halted.
  void open_lanes() {
    const auto lanes = world_.observer().lanes().all();
    ASSERT_TRUE(lanes);
    for (const Lane& lane : *lanes)
      ASSERT_TRUE(world_.observer().write(
          [&] { return world_.observer().lanes().resume(lane.channel, world_.clock.now()).map([](bool) {}); }));
  }

  // Everybody dies; then good times: what is left is relayed and sent, and every message must be accounted for.
  void finish() {
    while (!world_.processes().empty()) world_.kill(*world_.processes().front());
    const auto good = [&](const Call& call) {
      accepted_.insert(call.delivery.message_id);
      ++may_be_accepted_[call.delivery.message_id];
      return sent();
    };
    if (world_.broker) {
      world_.broker->on_publish = [] { return Broker::Fate::kOk; };
      world_.broker->ack_is_lost = [] { return false; };
    }
    for (int round = 0; round < 12; ++round) {
      open_lanes();
      world_.relay_all();
      meet_fanned_out();
      world_.work_all(good);
      world_.reconcile();
      world_.clock.advance(4h);
    }
    check();
    for (const auto& [key, broadcast] : broadcasts_) {
      const auto made = world_.observer().broadcasts().message_ids(broadcast);
      EXPECT_EQ(made->size(), static_cast<std::size_t>(kPeople))
          << "not every recipient of a broadcast has one message";
    }
    const StatusReport report = world_.status();
    EXPECT_EQ(report.outbox.total(), static_cast<std::int64_t>(ids_.size()));
    EXPECT_EQ(report.outbox.published + report.outbox.skipped, static_cast<std::int64_t>(ids_.size()));
    EXPECT_EQ(report.queue.total(), 0);
    EXPECT_EQ(report.inbox.sending, 0);
    for (const std::string& id : ids_) {
      const auto state = world_.inbox(id);
      if (state == InboxState::kSent) {
        EXPECT_TRUE(accepted_.contains(id)) << id << " is SENT but the vendor never said so";
      } else {
        const bool parked = *world_.observer().parked().contains(id);
        const bool cancelled = world_.outbox(id) == OutboxState::kSkipped;
        EXPECT_TRUE(state || parked || cancelled) << id << " is nowhere";
        EXPECT_FALSE(state == InboxState::kFailed && accepted_.contains(id)) << id << " is FAILED, the vendor has it";
      }
    }
  }

  World world_;
  test::FakeRandom dice_;
  PlantedBug bug_;
  std::function<bool()> failed_;
  int single_ = 0;
  std::map<std::string, std::int64_t> broadcasts_{};  // ids, by key
  std::vector<std::string> ids_{};
  std::set<std::string> at_most_once_{};
  std::set<std::string> accepted_{};
  std::set<std::string> refused_{};
  std::map<std::string, int> may_be_accepted_{};      // calls that arrived, without those that were refused
  std::map<std::string, int> accepted_duplicates_{};  // replays of an ERROR
  std::map<std::string, Instant> first_call_{};       // of those that rest between their calls
};

}  // namespace notify::sim

#pragma once

// What operators' commands (replay, cancel, park) have in common: a set of messages that was fixed at the start, taken in
// bounded transactions, each message whole within one; what cannot be done to one of them is said and stops nobody else.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/holders.hpp"
#include "core/ports/operator_table.hpp"
#include "core/ports/store.hpp"

namespace notify {

struct OperatorPorts {
  Store& store;
  OperatorTable& table;
  Holders& holders;  // who is alive; this process holds nothing
  Clock& clock;
  CrashPoints& crash_points;
};

// What became of one message.
struct Answer {
  enum class Kind {
    kDone,
    kUnchanged,  // it was so already
    kRefused,
    kBusy,  // refused because somebody is working on it at this moment
  };
  Kind kind = Kind::kDone;
  std::string reason{};  // for kRefused and kBusy: why, for people

  static Answer done() { return {}; }
  static Answer unchanged() { return {Kind::kUnchanged, {}}; }
  static Answer refused(std::string why) { return {Kind::kRefused, std::move(why)}; }
  static Answer busy(std::string why) { return {Kind::kBusy, std::move(why)}; }
};

struct Refusal {
  std::string message_id{};
  std::string reason{};
  bool busy = false;
};

struct OperatorSummary {
  static constexpr std::size_t kRefusalsKept = 100;

  std::int64_t selected = 0;
  std::int64_t done = 0;
  std::int64_t unchanged = 0;
  std::int64_t refused = 0;  // busy ones included
  std::int64_t busy = 0;
  std::vector<Refusal> refusals{};   // the first of them
  std::set<std::string> channels{};  // of what was done

  void add(std::string_view message_id, const Answer& answer);
};

// Judges or changes one message; `done_before` is how many of the set were done before it. Runs inside Store::write, perhaps
// several times, so it keeps nothing.
using OperateOne = std::function<Result<Answer>(const Whereabouts& at, std::int64_t done_before, Instant now)>;

// Applies `one` to every id (or key) in bounded transactions. On an error what was committed before it stays.
Result<OperatorSummary> operate(const OperatorPorts& ports, std::span<const std::string> ids, CrashPoint before_commit,
                                CrashPoint after_commit, const OperateOne& one);

// The same without changing anything.
Result<OperatorSummary> operate_dry(const OperatorPorts& ports, std::span<const std::string> ids,
                                    const OperateOne& judge);

// A living worker has taken the message from the queue and may claim it at any moment. Its lease's end is not looked at:
// clocks jump, and whoever serves the channel ends such a lease soon.
bool in_worker_hands(const Whereabouts& at, Holders& holders);

// Takes the message's copy out of the queue, inside Store::write. What a living worker holds stays leased: that worker
// meets the message's new place instead of its claim, and acks.
Result<void> clear_queue(const OperatorPorts& ports, const Whereabouts& at);

// Closes the alerts "parked" and "error" of channels that have nothing left of the kind.
Result<void> close_settled_alerts(const OperatorPorts& ports, const std::set<std::string>& channels);

}  // namespace notify

#pragma once

// Runs a Worker: turns on a thread of their own, calls on the event loop. Neither waits for the other: while
// a group is being committed the loop goes on calling, and what finishes meanwhile becomes the next group.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/ports/holders.hpp"
#include "core/ports/loop.hpp"
#include "core/work.hpp"

namespace notify {

struct WorkServiceOptions {
  bool drain = false;                 // leave when nothing is ready
  std::optional<Duration> max_run{};  // then stop in an orderly way
  std::int64_t max_messages = INT64_MAX;
  Duration give_up_writing = 60s;  // a draining run ends when the store refused for so long
};

class WorkService {
 public:
  // `recover` runs on the store thread: takes back what dead workers held. `finished` is called on the loop
  // thread when the service has ended, with the error that ended it, if any. All references outlive this.
  WorkService(Loop& loop, Worker& worker, WorkPorts ports, std::vector<WorkLane> lanes, WorkServiceOptions options,
              std::function<Result<void>()> recover, std::function<void(Result<void>)> finished);
  ~WorkService();  // after `finished` was called, or when start() never was
  WorkService(const WorkService&) = delete;
  WorkService& operator=(const WorkService&) = delete;

  void start();
  // Somebody may have committed something. Any thread.
  void wake();
  // A lane that had no driver has one now: it is served, and its alert closed. Loop thread.
  void open_lane(std::size_t lane, Channel& driver);
  // Orderly end: no new claims; every claimed call is finished, written and acked. Any thread.
  void stop();
  // Called on the store thread after it has looked at what others committed.
  std::function<void()> on_settled{};

 private:
  void store_thread();
  Result<void> turns();
  bool wait(Duration at_most, std::vector<Finished>& finished);
  void take_opened_lanes();
  void sweep();
  Duration pause_until(const Turn& turn);
  bool done(const Turn& turn);
  void start_call(Call call);
  void finish_call(Call call, Outcome outcome);

  Loop& loop_;
  Worker& worker_;
  WorkPorts ports_;
  std::vector<WorkLane> lanes_;
  WorkServiceOptions options_;
  std::function<Result<void>()> recover_;
  std::function<void(Result<void>)> finished_;

  std::thread thread_{};
  Duration started_at_{0};
  Duration next_sweep_{0};
  bool swept_idle_ = false;

  std::mutex mutex_{};  // guards the rest
  std::condition_variable changed_{};
  std::vector<Finished> results_{};
  std::vector<std::pair<std::size_t, Channel*>> opened_{};  // lanes, for the store thread
  bool woken_ = false;
  bool stopping_ = false;
};

}  // namespace notify

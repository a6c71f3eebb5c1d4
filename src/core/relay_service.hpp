#pragma once

// Runs a Relay on the event loop: batch after batch until nothing is due (cron), or for ever (--watch), woken by
// commits and by the clock.

#include <functional>
#include <optional>

#include "core/broadcast.hpp"
#include "core/ports/loop.hpp"
#include "core/relay.hpp"

namespace notify {

struct RelayServiceOptions {
  bool watch = false;
  std::int64_t max_rows = INT64_MAX;
  std::optional<Duration> max_run{};  // then end in an orderly way
};

// Loop thread only. All references outlive it.
class RelayService {
 public:
  // `fan_out` may be null: no broadcasts. `finished` is called once, on the loop thread. kUnavailable: the transport is down (never with `watch`,
  // which goes on when it is back).
  RelayService(Loop& loop, Relay& relay, FanOut* fan_out, RelayPorts ports, RelayServiceOptions options,
               std::function<void(Result<void>)> finished);

  void start();
  // Somebody may have committed something.
  void wake();
  // Orderly end after the current batch.
  void stop();
  // Called when what others committed has been looked at.
  std::function<void()> on_settled{};

 private:
  void schedule(Duration delay);
  void tick();
  Result<int> work(std::int64_t left);
  void tidy(Duration now);
  void rest();
  void end(Result<void> result);

  Loop& loop_;
  Relay& relay_;
  FanOut* fan_out_;
  RelayPorts ports_;
  RelayServiceOptions options_;
  std::function<void(Result<void>)> finished_;
  Duration started_at_{0};
  Duration next_recovery_{0};
  Duration next_tidying_{0};
  Loop::Timer timer_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  int refused_in_a_row_ = 0;
};

}  // namespace notify

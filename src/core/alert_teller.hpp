#pragma once

// Tells somebody of alerts that are due: a program ([alerts] exec), a channel ([alerts] channel), or both. At least
// once: an alert counts as told only when every configured way has taken it.

#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/store.hpp"

namespace notify {

class AlertTeller {
 public:
  // All outlive this.
  AlertTeller(Store& store, Clock& clock, const AlertsConfig& config) : store_(store), clock_(clock), config_(config) {}

  // None when no way is configured.
  Result<std::vector<Alert>> due();

  // What the program gets on its standard input: one JSON object a line.
  static std::string lines(const std::vector<Alert>& alerts);

  // Takes note that the program was told (`exec_done`), and enqueues the messages that tell the channel, in one
  // transaction. Returns how many alerts count as told.
  Result<std::int64_t> tell(const std::vector<Alert>& alerts, bool exec_done);

 private:
  Result<bool> enqueue(const Alert& alert, Instant now);

  Store& store_;
  Clock& clock_;
  const AlertsConfig& config_;
};

}  // namespace notify

#pragma once

// park add: what is queued waits until an operator says more. park drop: what is parked is closed for good, visibly.

#include <span>
#include <string>

#include "core/operate.hpp"

namespace notify {

// Parks what is handed on and not yet claimed. `reason` (one line, at most limits::kReason bytes) is what status counts.
Result<OperatorSummary> park_messages(const OperatorPorts& ports, std::span<const std::string> ids,
                                      const std::string& reason);

// Ends as FAILED where the vendor refused the message, as SKIPPED(dropped) where nobody was asked.
Result<OperatorSummary> drop_parked(const OperatorPorts& ports, std::span<const std::string> ids,
                                    const std::string& reason);

}  // namespace notify

#pragma once

// cancel: what has not been sent is not sent. Whoever is first wins: an operator's SKIPPED and a worker's claim are inserts
// under the same unique message id.

#include <span>
#include <string>

#include "core/operate.hpp"

namespace notify {

// `why` is kept in the history and may be empty.
Result<OperatorSummary> cancel_messages(const OperatorPorts& ports, std::span<const std::string> ids,
                                        const std::string& why);

// What cancel_messages() would do.
Result<OperatorSummary> cancel_dry(const OperatorPorts& ports, std::span<const std::string> ids);

}  // namespace notify

#pragma once

// replay: puts messages back to their start, under the same id. One message is one transaction: parked row and claim are
// deleted (by status and token), the outbox row is PENDING again, and the relay publishes it like any other.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/operate.hpp"
#include "core/payload_patch.hpp"
#include "core/ports/zone.hpp"

namespace notify {

struct ReplayOptions {
  std::string why{};                 // kept in the history
  std::optional<Instant> expires{};  // a new expiry; empty: as it was
  std::optional<Rate> rate{};        // spreads due_at; empty: all at once
  bool accept_duplicates = false;    // messages whose outcome is unknown may be delivered a second time
  PayloadPatch patch{};
  const Zone* zone = nullptr;  // for times in reasons; without one they are UTC
  // The transport is outside the store: a copy of a published message may still be on its way.
  bool copies_may_be_out = false;
};

Result<OperatorSummary> replay(const OperatorPorts& ports, std::span<const std::string> ids,
                               const ReplayOptions& options);

// What replay() would do.
Result<OperatorSummary> replay_dry(const OperatorPorts& ports, std::span<const std::string> ids,
                                   const ReplayOptions& options);

}  // namespace notify

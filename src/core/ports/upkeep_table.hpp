#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// What reconcile remembers from one run to the next, and the counters it mends.
class UpkeepTable {
 public:
  virtual ~UpkeepTable() = default;
  virtual Result<std::optional<std::int64_t>> recall(std::string_view name) = 0;
  virtual Result<void> remember(std::string_view name, std::int64_t value) = 0;
  // Adds `change` to a counter (see CounterDrift). Relative, so that what others count meanwhile stays counted.
  virtual Result<void> correct_counter(std::string_view name, std::int64_t change) = 0;
};

}  // namespace notify

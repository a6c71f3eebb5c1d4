#pragma once

#include <cstdint>

namespace notify {

// Thread-safe. Claim tokens, generations and jitter come from here. System implementation: getrandom(2).
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next64() = 0;
};

// A claim token: positive, fits SQLite's signed integer, never 0.
inline std::int64_t new_token(Random& random) { return static_cast<std::int64_t>(random.next64() >> 1U) | 1; }

}  // namespace notify

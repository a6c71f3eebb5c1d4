#pragma once

#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// A date and a time of day as a clock on the wall shows them.
struct CivilTime {
  int year = 1970;
  int month = 1;  // 1-12
  int day = 1;    // 1-31
  int hour = 0;
  int minute = 0;
  int second = 0;

  friend constexpr auto operator<=>(const CivilTime&, const CivilTime&) = default;
};

// A time zone with its rules. Immutable and thread-safe; lives as long as the program. Core never reads TZ.
class Zone {
 public:
  virtual ~Zone() = default;

  // The instant of a local time. A time that the clocks skip (start of summer time) means the first instant
  // after the gap; a time that comes twice means the first one. Fails for dates that do not exist (February
  // 30) and years outside 1-9999.
  virtual Result<Instant> from_local(const CivilTime& local) const = 0;
  virtual CivilTime to_local(Instant t) const = 0;
  // Local time minus UTC at that instant.
  virtual Duration offset(Instant t) const = 0;
  virtual std::string_view name() const = 0;  // "Asia/Seoul"
};

}  // namespace notify

#pragma once

#include <string_view>

namespace notify {

// Named places at which a test ends the process as a power cut would. crash_points.def is the list; every
// point in it has a test.
enum class CrashPoint {
#define NOTIFY_CRASH_POINT(id, name, where) id,
#include "core/crash_points.def"
#undef NOTIFY_CRASH_POINT
};

std::string_view name(CrashPoint point) noexcept;

class CrashPoints {
 public:
  virtual ~CrashPoints() = default;
  // Returns, unless this build and environment say that the process dies here. The simulator's throws.
  virtual void reach(CrashPoint point) = 0;
};

}  // namespace notify

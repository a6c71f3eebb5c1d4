#include "core/ports/crash_points.hpp"

namespace notify {

std::string_view name(CrashPoint point) noexcept {
  switch (point) {
#define NOTIFY_CRASH_POINT(id, text, where) \
  case CrashPoint::id:                      \
    return text;
#include "core/crash_points.def"
#undef NOTIFY_CRASH_POINT
  }
  return "?";
}

}  // namespace notify

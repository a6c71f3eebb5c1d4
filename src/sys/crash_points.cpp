#include "sys/crash_points.hpp"

// The only file that differs between the program and its test build.
#ifdef NOTIFYCTL_CRASH_POINTS
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sys/environment.hpp"
#endif

namespace notify {
namespace {

#ifdef NOTIFYCTL_CRASH_POINTS

constexpr std::array kPoints{
#define NOTIFY_CRASH_POINT(id, name, where) CrashPoint::id,
#include "core/crash_points.def"
#undef NOTIFY_CRASH_POINT
};

class KillingCrashPoints final : public CrashPoints {
 public:
  KillingCrashPoints() {
    const std::string wish = environment_variable("NOTIFYCTL_CRASH_AT").value_or("");
    if (wish.empty()) return;
    const std::size_t colon = wish.find(':');
    const std::string_view wanted = std::string_view(wish).substr(0, colon);
    if (colon != std::string::npos) {
      const char* end = wish.data() + wish.size();
      const auto [rest, error] = std::from_chars(wish.data() + colon + 1, end, countdown_init_);
      if (error != std::errc() || rest != end || countdown_init_ < 1) refuse(wish);
    }
    for (const CrashPoint point : kPoints) {
      if (name(point) != wanted) continue;
      armed_ = true;
      point_ = point;
      countdown_ = countdown_init_;
    }
    if (!armed_) refuse(wish);
  }

  void reach(CrashPoint point) override {
    if (!armed_ || point != point_) return;
    if (countdown_.fetch_sub(1) == 1) _exit(137);  // what a shell reports for SIGKILL
  }

 private:
  [[noreturn]] static void refuse(const std::string& wish) {
    std::fprintf(stderr, "notifyctl: NOTIFYCTL_CRASH_AT: no such crash point: %s\n", wish.c_str());
    std::_Exit(70);
  }

  bool armed_ = false;
  CrashPoint point_{};
  int countdown_init_ = 1;
  std::atomic<int> countdown_{1};
};

using SystemCrashPoints = KillingCrashPoints;

#else

class NoCrashPoints final : public CrashPoints {
 public:
  void reach(CrashPoint) override {}
};

using SystemCrashPoints = NoCrashPoints;

#endif

}  // namespace

CrashPoints& system_crash_points() {
  static SystemCrashPoints points;
  return points;
}

}  // namespace notify

#include "sys/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/outcome.hpp"
#include "sys/files.hpp"

namespace notify {
namespace {

// The database with its companions, the loop, the watches, standard streams, certificates, connections that are kept.
constexpr std::int64_t kOfTheProcess = 64;
// A program takes most: two pipes with both ends and what tells of its end. A connection takes one, and two more while
// its name is resolved.
constexpr std::int64_t kOfOneCall = 6;

}  // namespace

std::int64_t raise_descriptor_limit(int calls) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOfTheProcess;
  const auto needed = static_cast<rlim_t>(kOfTheProcess + kOfOneCall * calls);
  if (limit.rlim_cur < needed) {
    rlimit raised = limit;
    raised.rlim_cur = std::min(needed, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<std::int64_t>(std::min(limit.rlim_cur, rlim_t{INT32_MAX}));
}

int calls_within(std::int64_t limit, int wanted) noexcept {
  return static_cast<int>(std::clamp<std::int64_t>((limit - kOfTheProcess) / kOfOneCall, 1, wanted));
}

int descriptor_shortage() noexcept {
  std::array<Fd, kOfOneCall> trial{};
  for (Fd& one : trial) {
    one = Fd(::open("/", O_PATH | O_CLOEXEC));
    if (!one) return is_shortage(errno) ? errno : 0;
  }
  return 0;
}

}  // namespace notify

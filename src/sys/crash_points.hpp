#pragma once

#include "core/ports/crash_points.hpp"

namespace notify {

// The process's crash points. The shipped program's do nothing. The test program's (built from the same source file
// with NOTIFYCTL_CRASH_POINTS) end the process with _exit(137) when the environment says so:
//   NOTIFYCTL_CRASH_AT=name     at the first time that point is reached
//   NOTIFYCTL_CRASH_AT=name:N   at the N-th time
// A name that does not exist ends the test program at once, so that a typing error cannot pass as a survived crash.
CrashPoints& system_crash_points();

}  // namespace notify

#pragma once

#include <functional>

#include "core/error.hpp"
#include "core/ports/loop.hpp"

namespace notify {

// To be called first thing in main, before anything opens a file: puts /dev/null on those of 0, 1 and 2 that are
// closed (so that no database ever gets one of those numbers and is written to by a stray message), and ignores
// SIGPIPE (a reader that went away shows as EPIPE where it is handled) and SIGXFSZ (a file at its size limit shows as
// EFBIG). Where memory ends, the process ends with a word on standard error and the status of kInternal.
void prepare_process();

// Orderly stopping. While this object lives, the first SIGTERM, SIGINT or SIGHUP calls `stop(signal)` on the loop
// thread; a second one, at least 100 ms later, ends the process at once with 128 + signal, whatever the loop is doing
// (closer ones are the same keystroke reaching us twice: from the terminal and through a wrapper like sudo). SIGINT
// and SIGHUP that were ignored when the program started (nohup, a script's background job) stay ignored.
// At most one object at a time.
class StopSignals {
 public:
  static Result<StopSignals> install(Loop& loop, std::function<void(int signal)> stop);
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();  // restores what was before

 private:
  explicit StopSignals(Loop& loop) : loop_(&loop) {}
  Loop* loop_;
};

}  // namespace notify

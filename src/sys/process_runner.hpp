#pragma once

#include <memory>

#include "core/ports/process.hpp"

namespace notify {

class EpollLoop;

// ProcessRunner over posix_spawn and pidfds; the loop's thread only. The child starts with default signal dispositions
// and an empty mask, in a process group of its own, with descriptors 0, 1 and 2 and no other. Its result is there when
// it has ended, even if a process it left behind still holds its output open. Needs prepare_process() (SIGPIPE).
//
// Destroying the object kills what still runs, without calling `done`.
class SystemProcessRunner final : public ProcessRunner {
 public:
  explicit SystemProcessRunner(EpollLoop& loop);
  ~SystemProcessRunner() override;

  // `done` is called exactly once, from the loop, never from inside run().
  void run(ProcessRequest request, std::function<void(ProcessResult)> done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify

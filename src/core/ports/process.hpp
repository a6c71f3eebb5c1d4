#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/instant.hpp"

namespace notify {

struct ProcessRequest {
  std::vector<std::string> argv{};  // argv[0] is looked up in PATH when it has no slash; no shell
  std::string input{};              // written to the child's standard input
  std::vector<std::pair<std::string, std::string>> environment{};  // added to ours
  Duration timeout{10000};        // then SIGTERM to its process group, and SIGKILL after 2 s
  std::size_t max_output = 4096;  // what exceeds it is read and thrown away
  // kTogether: standard error is part of the output. kOurs: the child has our own standard error.
  enum class Errors { kTogether, kOurs } errors = Errors::kTogether;
};

struct ProcessResult {
  bool started = false;  // false: certainly nothing ran (see error)
  bool timed_out = false;
  int exit_code = -1;  // -1 when ended by a signal
  int signal = 0;
  std::string output{};   // raw bytes of the child's standard output (see errors)
  std::string error{};    // why it did not start
  bool shortage = false;  // that was for want of descriptors, processes or memory, and not the program's fault
};

// Runs programs without blocking the loop. The child has a process group of its own (Ctrl-C does not reach
// it) and inherits no descriptor besides 0, 1, 2.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  virtual void run(ProcessRequest request, std::function<void(ProcessResult)> done) = 0;
};

}  // namespace notify

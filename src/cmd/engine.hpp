#pragma once

// What the commands that claim (relay, work, enqueue --now, reconcile) have in common: an open store, a run of
// their own with its kernel lock, the embedded transport, the policies, an event loop and a log.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cmd/context.hpp"
#include "core/policy.hpp"
#include "core/ports/events.hpp"
#include "store/open.hpp"
#include "sys/epoll_loop.hpp"
#include "sys/log.hpp"
#include "sys/process_locks.hpp"
#include "sys/terminal.hpp"
#include "transport/embedded.hpp"

namespace notify {

// Events as log lines on standard error, and as progress on a terminal.
class LogEvents final : public Events {
 public:
  LogEvents(const Log::Options& options, ProgressLine& progress, Clock& clock);
  void emit(const Event& event) override;

 private:
  Log log_;
  ProgressLine& progress_;
  Clock& clock_;
  std::mutex mutex_{};  // guards the rest
  std::int64_t done_ = 0;
  Duration shown_at_{0};
};

class Engine {
 public:
  // `command` is the run's name. `commit_gap`: what is left between two commits, for others who want to write; zero
  // for a run of one or two commits.
  static Result<std::unique_ptr<Engine>> start(Context& context, std::string_view command, Duration commit_gap);

  Context& context() noexcept { return context_; }
  const Config& config() const noexcept { return *config_; }
  EpollLoop& loop() noexcept { return loop_; }
  SqliteStore& store() noexcept { return *store_; }
  ProcessLocks& locks() noexcept { return *locks_; }
  EmbeddedTransport& transport() noexcept { return *transport_; }
  Events& events() noexcept { return *events_; }
  const Policies& policies() const noexcept { return *policies_; }
  std::int64_t run() const noexcept { return run_; }

  // Closes the run with its summary (JSON); `ok` makes it the command's last successful run.
  Result<void> finish(bool ok, std::string_view summary);

 private:
  explicit Engine(Context& context);

  Context& context_;
  const Config* config_ = nullptr;
  EpollLoop loop_{};
  ProgressLine progress_;
  std::unique_ptr<LogEvents> events_{};
  std::unique_ptr<SqliteStore> store_{};
  std::unique_ptr<ProcessLocks> locks_{};
  std::string command_{};
  std::int64_t run_ = 0;
  std::unique_ptr<EmbeddedTransport> transport_{};
  std::unique_ptr<Policies> policies_{};
};

// Turns the result of a claiming run into the process's: prints the summary (JSON always with --json; a line of
// words on a terminal), and passes the error on.
Result<int> conclude(Context& context, const Result<void>& result, std::string_view json, std::string_view words);

}  // namespace notify

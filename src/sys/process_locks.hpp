#pragma once

#include <mutex>
#include <set>
#include <string>

#include "core/ports/holders.hpp"

namespace notify {

// Jobs of which only one process at a time may do each.
enum class SingleJob { kReconcile = 0, kPrune = 1, kAlerts = 2, kMigrate = 3 };

// Holders over open-file-description locks on the file "<database>-procs" (mode 0600): run N is alive while somebody
// holds the write lock on byte N. The kernel drops the lock when the process dies, however it dies; nobody ever has to
// delete the file. Thread-safe.
//
// Take the lock before the transaction that makes the run's row visible commits: an open run whose byte is free counts
// as dead.
class ProcessLocks final : public Holders {
 public:
  explicit ProcessLocks(const std::string& database_path);
  ~ProcessLocks() override;  // drops everything held
  ProcessLocks(const ProcessLocks&) = delete;
  ProcessLocks& operator=(const ProcessLocks&) = delete;

  // Creates the file when there is none. kBusy when another process holds that run already.
  Result<void> hold(std::int64_t run_id) override;
  // Own runs are alive. So is everything while the file cannot be opened or asked.
  bool alive(std::int64_t run_id) override;
  // Whether any other process holds a run's lock.
  bool anyone();

  // True: this process does the job from now on, until release_job() or its end. False: another process does it.
  Result<bool> try_job(SingleJob job);
  void release_job(SingleJob job);

  // When somebody has deleted or replaced the file under us: takes all our locks again in the new one. Cheap; for
  // long-lived processes to call now and then.
  Result<void> refresh();

 private:
  Result<void> open_file();
  Result<bool> lock_byte(std::int64_t byte);

  std::string path_;
  std::string database_path_;
  std::mutex mutex_;
  int fd_ = -1;
  std::set<std::int64_t> held_{};  // bytes
};

}  // namespace notify

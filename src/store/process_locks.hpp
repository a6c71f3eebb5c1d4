#pragma once

#include <string>
#include <vector>

#include "core/ports/holders.hpp"

namespace notify {

// Kernel locks (open file description locks) on single bytes of "<db>-procs": byte N is locked as long as the
// process of run N lives. The file is empty, stays for ever and is made with the mode and owner of the database.
class ProcessLocks final : public Holders {
 public:
  explicit ProcessLocks(std::string database_path);
  ~ProcessLocks() override;
  ProcessLocks(const ProcessLocks&) = delete;
  ProcessLocks& operator=(const ProcessLocks&) = delete;

  Result<void> hold(std::int64_t run_id) override;
  bool alive(std::int64_t run_id) override;

 private:
  Result<void> open_file();

  std::string database_path_;
  int fd_ = -1;
  std::vector<std::int64_t> own_{};
};

}  // namespace notify

#pragma once

#include "core/ports/side_tables.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteRuns final : public RunTable {
 public:
  explicit SqliteRuns(Session& session) : session_(session) {}

  Result<std::int64_t> begin(std::string_view command, std::int64_t pid, Instant now) override;
  // The last success of each command outlives its run (notification_meta, "last-run.COMMAND").
  Result<void> end(std::int64_t run_id, bool ok, std::string_view summary, Instant now) override;
  Result<std::int64_t> mark() override;
  Result<std::vector<OpenRun>> open_runs() override;
  Result<void> mark_dead(std::int64_t run_id, Instant now) override;

 private:
  // A day of cron runs is some 2,000.
  static constexpr std::int64_t kRunsKept = 10'000;
  static constexpr int kRunsDroppedAtOnce = 10;

  Session& session_;
};

}  // namespace notify

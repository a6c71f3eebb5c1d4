#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ports/operator_table.hpp"
#include "core/ports/prune_table.hpp"
#include "core/ports/store.hpp"
#include "core/report.hpp"

namespace notify {

namespace sqlite {
class Database;
}

struct StoreSettings {
  Duration busy_timeout{10'000};
  std::optional<Duration> commit_gap{};
  std::string filesystem{};  // for reports
};

// The store over one SQLite database in WAL mode. One instance belongs to one thread at a time. Made by open_store.
class SqliteStore final : public Store, public Reports {
 public:
  SqliteStore(std::unique_ptr<sqlite::Database> database, StoreSettings settings);
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  Result<void> write(const std::function<Result<void>()>& body) override;
  OutboxTable& outbox() override;
  QueueTable& queue() override;
  InboxTable& inbox() override;
  ParkedTable& parked() override;
  AlertTable& alerts() override;
  LaneTable& lanes() override;
  RecipientTable& recipients() override;
  HistoryTable& history() override;
  RunTable& runs() override;
  Result<void> fence(std::int64_t number) override;
  ReceiptTable& receipts() override;
  BroadcastTable& broadcasts() override;
  UpkeepTable& upkeep() override;
  Result<bool> changed_elsewhere() override;
  // Whether the fence file says that this is an old copy, restored from a backup; for those who only read.
  Result<void> check_fence();
  OperatorTable& operators();  // for replay, cancel and park
  PruneTable& prune();

  Result<StatusReport> status(Instant now) override;
  Result<void> list(ListSubject subject, const ListFilter& filter, Instant now,
                    const std::function<bool(const ListRow&)>& row) override;
  Result<std::optional<MessageStory>> story(std::string_view id_or_key, Instant now) override;
  // See read_pruned().
  Result<std::optional<std::string>> pruned_message(std::string_view id_or_key);
  Result<std::vector<CounterDrift>> verify_counters() override;

  // The name of this database in message ids.
  Result<std::string> source();
  // The file, for those who watch it for commits ("<path>-wal") and for the lock file ("<path>-procs").
  const std::string& path() const noexcept;

  // PRAGMA integrity_check (quick: quick_check): what is wrong, at most `limit` lines; empty when sound.
  Result<std::vector<std::string>> check_integrity(bool quick, int limit = 20);

  sqlite::Database& database();  // for tests

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace notify

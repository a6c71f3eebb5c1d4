#include "store/sqlite_store.hpp"
#include "store/broadcast.hpp"

#include <cstring>

#include "store/alert.hpp"
#include "store/fence.hpp"
#include "store/history.hpp"
#include "store/inbox.hpp"
#include "store/lane.hpp"
#include "store/list.hpp"
#include "store/operators.hpp"
#include "store/outbox.hpp"
#include "store/parked.hpp"
#include "store/prune.hpp"
#include "store/queue.hpp"
#include "store/receipt.hpp"
#include "store/recipient.hpp"
#include "store/run.hpp"
#include "store/show.hpp"
#include "store/sqlite/transaction.hpp"
#include "store/status.hpp"
#include "store/upkeep.hpp"
#include "store/write_pacer.hpp"

namespace notify {

using sqlite::Transaction;

struct SqliteStore::Parts {
  Parts(std::unique_ptr<sqlite::Database> database, StoreSettings given)
      : settings(std::move(given)), session(std::move(database)), pacer(settings.commit_gap) {}

  // One try of a write transaction.
  Result<void> try_write(const std::function<Result<void>()>& body) {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(session.database(), Transaction::Kind::kWrite));
    TRY(require_still_ours());
    session.begin_writing();
    Result<void> done = body();
    if (done) done = session.flush_counters();
    session.end_writing();
    if (!done) return done;  // rolled back
    return transaction.commit();
  }

  // Somebody else has written: maybe an older copy over it, while this process lives.
  Result<void> require_still_ours() {
    TRY_ASSIGN(const std::int64_t version, session.database().integer("PRAGMA data_version"));
    if (version == fenced_version) return {};
    TRY(require_fence(session.database()));
    fenced_version = version;
    return {};
  }

  StoreSettings settings;
  Session session;
  SqliteOutbox outbox{session};
  SqliteQueue queue{session};
  SqliteInbox inbox{session};
  SqliteParked parked{session};
  SqliteAlerts alerts{session};
  SqliteLanes lanes{session};
  SqliteRecipients recipients{session};
  SqliteHistory history{session};
  SqliteRuns runs{session};
  SqliteOperators operators{session};
  SqlitePrune prune{session};
  SqliteReceipts receipts{session};
  SqliteBroadcasts broadcasts{session};
  SqliteUpkeep upkeep{session};
  WritePacer pacer;
  std::int64_t data_version = 0;
  std::int64_t fenced_version = -1;  // as of which the fence was looked at
};

SqliteStore::SqliteStore(std::unique_ptr<sqlite::Database> database, StoreSettings settings)
    : parts_(std::make_unique<Parts>(std::move(database), std::move(settings))) {}

SqliteStore::~SqliteStore() = default;

// The busy handler has waited already. What still comes back as busy (a lock that SQLite never waits for, such as a
// snapshot that became old) is tried again from the start of the transaction, never from the statement that failed.
Result<void> SqliteStore::write(const std::function<Result<void>()>& body) {
  ASSERT(!parts_->session.writing());  // not re-entrant
  sqlite::Database& database = parts_->session.database();
  const auto deadline = std::chrono::steady_clock::now() + parts_->settings.busy_timeout;
  while (true) {
    parts_->pacer.before_begin();
    database.forget_busy();
    Result<void> done = parts_->try_write(body);
    parts_->pacer.after_end();
    if (done || !database.was_busy() || std::chrono::steady_clock::now() >= deadline) return done;
    sqlite::nap(false);
  }
}

OutboxTable& SqliteStore::outbox() { return parts_->outbox; }
QueueTable& SqliteStore::queue() { return parts_->queue; }
InboxTable& SqliteStore::inbox() { return parts_->inbox; }
ParkedTable& SqliteStore::parked() { return parts_->parked; }
AlertTable& SqliteStore::alerts() { return parts_->alerts; }
LaneTable& SqliteStore::lanes() { return parts_->lanes; }
RecipientTable& SqliteStore::recipients() { return parts_->recipients; }
HistoryTable& SqliteStore::history() { return parts_->history; }
RunTable& SqliteStore::runs() { return parts_->runs; }
OperatorTable& SqliteStore::operators() { return parts_->operators; }
PruneTable& SqliteStore::prune() { return parts_->prune; }
ReceiptTable& SqliteStore::receipts() { return parts_->receipts; }
BroadcastTable& SqliteStore::broadcasts() { return parts_->broadcasts; }
UpkeepTable& SqliteStore::upkeep() { return parts_->upkeep; }
sqlite::Database& SqliteStore::database() { return parts_->session.database(); }
Result<std::string> SqliteStore::source() {
  TRY_ASSIGN(const MessageIds* ids, parts_->session.ids());
  return ids->source();
}

const std::string& SqliteStore::path() const noexcept { return parts_->session.database().path(); }

Result<void> SqliteStore::fence(std::int64_t number) { return raise_fence(path(), number); }
Result<void> SqliteStore::check_fence() { return require_fence(database()); }

Result<bool> SqliteStore::changed_elsewhere() {
  TRY_ASSIGN(sqlite::Use query, database().use("PRAGMA data_version"));
  TRY(query.row());
  const std::int64_t before = std::exchange(parts_->data_version, query.integer(0));
  return before != parts_->data_version;
}

// --- reports: one unchanging view each --------------------------------------------------------------------

Result<StatusReport> SqliteStore::status(Instant now) {
  TRY_ASSIGN(Transaction view, Transaction::begin(database(), Transaction::Kind::kRead));
  return read_status(parts_->session, now, parts_->settings.filesystem);
}

Result<void> SqliteStore::list(ListSubject subject, const ListFilter& filter, Instant now,
                               const std::function<bool(const ListRow&)>& row) {
  return list_rows(parts_->session, subject, filter, now, row);
}

Result<std::optional<MessageStory>> SqliteStore::story(std::string_view id_or_key, Instant now) {
  TRY_ASSIGN(Transaction view, Transaction::begin(database(), Transaction::Kind::kRead));
  TRY_ASSIGN(const std::optional<std::int64_t> outbox_id, parts_->outbox.find(id_or_key));
  return read_story(parts_->session, outbox_id, id_or_key, now);
}

Result<std::optional<std::string>> SqliteStore::pruned_message(std::string_view id_or_key) {
  return read_pruned(parts_->session, id_or_key);
}

Result<std::vector<CounterDrift>> SqliteStore::verify_counters() {
  TRY_ASSIGN(Transaction view, Transaction::begin(database(), Transaction::Kind::kRead));
  return compare_counters(database());
}

// --- care -------------------------------------------------------------------------------------------------

Result<std::vector<std::string>> SqliteStore::check_integrity(bool quick, int limit) {
  TRY_ASSIGN(sqlite::Use query, database().use_once((quick ? "PRAGMA quick_check(" : "PRAGMA integrity_check(") +
                                                    std::to_string(limit) + ")"));
  std::vector<std::string> problems;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return problems;
    if (query.view(0) != "ok") problems.push_back(query.text(0));
  }
}

}  // namespace notify

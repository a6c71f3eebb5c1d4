#include "store/sqlite/database.hpp"

#include <ctime>

#include "store/sqlite/failure.hpp"

namespace notify::sqlite {
namespace {

// Who waits longer than this is behind something long (an import, a restore) and need not hurry.
constexpr auto kHurry = std::chrono::seconds(2);

// Pages in the log from which a commit moves them into the main file; more of them bought nothing but stalls.
constexpr int kCheckpointPages = 1000;
// Pages in the log from which the last one who closes removes it. That takes three more syncs, so a short command, whose
// commit adds some five pages, leaves a short log behind.
constexpr int kRemovePages = 200;

// Counting memory costs a lock at every allocation, and nobody asks for the counts.
void configure_once() {
  static const int done = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(done);  // refused when something else has used SQLite before: then it counts
}

}  // namespace

void nap(bool patient) noexcept {
  std::uint32_t random = 0;
  sqlite3_randomness(sizeof random, &random);
  const long us = static_cast<long>(100 + random % 200) * (patient ? 10 : 1);
  const timespec time{0, us * 1000};
  nanosleep(&time, nullptr);
}

Result<std::unique_ptr<Database>> Database::connect(const std::string& path, const ConnectOptions& options) {
  configure_once();
  std::unique_ptr<Database> database(new Database(path, options.busy_timeout));
  const int access = options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  // One connection belongs to one thread: no mutexes. No URI: a path is a path, whatever characters it has.
  const int rc =
      sqlite3_open_v2(path.c_str(), &database->handle_,
                      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, nullptr);
  if (rc != SQLITE_OK) return database->failure(rc, "cannot open");
  TRY(database->configure(options));
  return database;
}

Result<void> Database::configure(const ConnectOptions& options) {
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_handler(handle_, &Database::on_busy, this);
  const auto set = [&](int option, int value) { sqlite3_db_config(handle_, option, value, nullptr); };
  set(SQLITE_DBCONFIG_DEFENSIVE, 1);
  set(SQLITE_DBCONFIG_ENABLE_TRIGGER, options.triggers ? 1 : 0);
  set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
  sqlite3_wal_hook(handle_, &Database::on_commit, nullptr);
  if (options.read_only) return execute("PRAGMA query_only=ON");
  // secure_delete=FAST overwrites what is deleted as long as that costs no further page. A log that has grown is cut
  // back, so that its size tells whether checkpoints get through.
  return execute("PRAGMA synchronous=FULL; PRAGMA secure_delete=FAST; PRAGMA journal_size_limit=16777216");
}

Database::~Database() {
  for (const auto& [text, statement] : statements_) sqlite3_finalize(statement);
  ASSERT(sqlite3_close(handle_) == SQLITE_OK);  // not OK: a Use has outlived its Database
}

// Checkpoints as SQLite does by itself, and says what becomes of the log when the last connection closes. A process that
// comes to a database which nobody has open reads the whole log, and does not know how much of it was checkpointed: a
// log that short commands never removed would grow for ever.
int Database::on_commit(void*, sqlite3* handle, const char* name, int pages) noexcept {
  if (pages >= kCheckpointPages) sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, pages < kRemovePages ? 1 : 0, nullptr);
  return SQLITE_OK;
}

int Database::on_busy(void* self, int calls) noexcept {
  auto& database = *static_cast<Database*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (calls == 0) database.busy_since_ = now;
  const auto waited = now - database.busy_since_;
  if (waited >= database.busy_timeout_) return 0;
  nap(waited > kHurry);
  return 1;
}

Result<sqlite3_stmt*> Database::prepare(std::string_view sql, unsigned flags) {
  sqlite3_stmt* statement = nullptr;
  const int rc = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), flags, &statement, nullptr);
  if (rc != SQLITE_OK) return failure(rc, "cannot use");
  return statement;
}

Result<Use> Database::use(Sql sql) {
  auto& statement = statements_[sql.text];
  if (statement == nullptr) {
    TRY_ASSIGN(statement, prepare(sql.text, SQLITE_PREPARE_PERSISTENT));
  }
  // A statement in use cannot be used again inside: its rows would be lost without a word.
  ASSERT(sqlite3_stmt_busy(statement) == 0);
  return Use(*this, statement, false);
}

Result<Use> Database::use_once(std::string_view sql) {
  TRY_ASSIGN(sqlite3_stmt * statement, prepare(sql, 0));
  return Use(*this, statement, true);
}

Result<void> Database::execute(const std::string& sql) {
  const int rc = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return failure(rc, "cannot use");
  return {};
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  TRY_ASSIGN(Use query, use_once(sql));
  TRY_ASSIGN(const bool found, query.row());
  return found ? query.integer(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) {
  TRY_ASSIGN(Use query, use_once(sql));
  TRY_ASSIGN(const bool found, query.row());
  return found ? query.text(0) : std::string();
}

tl::unexpected<Error> Database::failure(int rc, std::string_view what) {
  const int primary = rc & 0xff;
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) was_busy_ = true;
  return fail(
      describe_failure(Failure{rc, handle_ == nullptr ? 0 : sqlite3_system_errno(handle_),
                               handle_ == nullptr ? sqlite3_errstr(rc) : sqlite3_errmsg(handle_), what, path_}));
}

}  // namespace notify::sqlite

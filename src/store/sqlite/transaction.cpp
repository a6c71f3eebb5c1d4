#include "store/sqlite/transaction.hpp"

namespace notify::sqlite {
namespace {

Result<void> run(Database& database, Sql sql) {
  TRY_ASSIGN(Use statement, database.use(sql));
  TRY(statement.row());
  return {};
}

// Fails only when SQLite has rolled back by itself already, or cannot reach the file; the connection's next
// transaction then tells.
void roll_back(Database& database) {
  if (database.in_transaction()) static_cast<void>(run(database, "ROLLBACK"));
}

}  // namespace

Result<Transaction> Transaction::begin(Database& database, Kind kind) {
  ASSERT(!database.in_transaction());
  TRY(kind == Kind::kWrite ? run(database, "BEGIN IMMEDIATE") : run(database, "BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) roll_back(*database_);
}

Result<void> Transaction::commit() {
  Database& database = *std::exchange(database_, nullptr);
  auto done = run(database, "COMMIT");
  if (done) return {};
  roll_back(database);
  // After a failed sync the log may hold the whole transaction all the same, and a crash could bring it to light.
  if (done.error().code == Code::kIo) {
    done.error().message += "; whether the last change was saved is not known";
  }
  return done;
}

}  // namespace notify::sqlite

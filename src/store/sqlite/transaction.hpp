#pragma once

#include "store/sqlite/database.hpp"

namespace notify::sqlite {

// A transaction that rolls back unless it was committed.
class Transaction {
 public:
  enum class Kind {
    kWrite,  // BEGIN IMMEDIATE: is a writer from the start, so it never has to be upgraded
    kRead,   // one unchanging view of the database
  };
  static Result<Transaction> begin(Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // Durable when this succeeds. When it fails the transaction is over: rolled back, as far as this can be known.
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace notify::sqlite

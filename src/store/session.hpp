#pragma once

#include <memory>
#include <optional>

#include "store/counters.hpp"
#include "store/message_ids.hpp"
#include "store/sqlite/database.hpp"

namespace notify {

// What the tables of one store share.
class Session {
 public:
  explicit Session(std::unique_ptr<sqlite::Database> database) : database_(std::move(database)) {}

  sqlite::Database& database() noexcept { return *database_; }

  // For writing operations: asserts that Store::write is running.
  sqlite::Database& writer() noexcept {
    ASSERT(writing_);
    return *database_;
  }
  void count(Counter counter, std::int64_t change, Instant now) noexcept {
    ASSERT(writing_);
    counters_.add(counter, change, now);
  }

  void take_back(Counter counter, Instant counted_at, Instant now) {
    ASSERT(writing_);
    counters_.take_back(counter, counted_at, now);
  }

  // Read at most once a transaction: a restore may open a new generation between two.
  Result<const MessageIds*> ids() {
    if (!ids_ || !writing_) {
      TRY_ASSIGN(ids_, MessageIds::load(*database_));
    }
    return &*ids_;
  }

  // Called by the store around each try of a write transaction.
  void begin_writing() noexcept {
    ASSERT(!writing_);
    writing_ = true;
    ++transaction_;
    ids_.reset();
    counters_.forget();
  }
  void end_writing() noexcept { writing_ = false; }
  bool writing() const noexcept { return writing_; }
  // Another number for every try of a write transaction.
  std::uint64_t transaction() const noexcept { return transaction_; }
  Result<void> flush_counters() { return counters_.flush(*database_); }

 private:
  std::unique_ptr<sqlite::Database> database_;
  Counters counters_{};
  std::optional<MessageIds> ids_{};
  bool writing_ = false;
  std::uint64_t transaction_ = 0;
};

}  // namespace notify

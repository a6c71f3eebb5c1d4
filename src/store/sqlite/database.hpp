#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "store/sqlite/statement.hpp"

namespace notify::sqlite {

struct ConnectOptions {
  bool read_only = false;
  Duration busy_timeout{10'000};
  bool triggers = true;
};

// One connection: owns the handle and its prepared statements. Belongs to one thread at a time. The file must exist.
class Database {
 public:
  // The busy handler is in place before the first statement of any kind. synchronous is FULL. Nothing is read yet.
  static Result<std::unique_ptr<Database>> connect(const std::string& path, const ConnectOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The statement, prepared at its first use and kept.
  Result<Use> use(Sql sql);
  // A statement made for this one use.
  Result<Use> use_once(std::string_view sql);
  // Any number of statements without parameters, results thrown away (DDL, PRAGMA).
  Result<void> execute(const std::string& sql);
  // The first column of the first row.
  Result<std::int64_t> integer(std::string_view sql);
  Result<std::string> text(std::string_view sql);

  int changes() const noexcept { return sqlite3_changes(handle_); }
  std::int64_t last_insert_id() const noexcept { return sqlite3_last_insert_rowid(handle_); }
  bool in_transaction() const noexcept { return sqlite3_get_autocommit(handle_) == 0; }
  const std::string& path() const noexcept { return path_; }
  sqlite3* raw() const noexcept { return handle_; }

  // An Error from the connection's last failure. `what` reads on with the path: "cannot write to".
  tl::unexpected<Error> failure(int rc, std::string_view what);

  // Whether an operation since forget_busy() failed because another connection was in the way.
  bool was_busy() const noexcept { return was_busy_; }
  void forget_busy() noexcept { was_busy_ = false; }

 private:
  Database(std::string path, Duration busy_timeout) : path_(std::move(path)), busy_timeout_(busy_timeout) {}
  Result<void> configure(const ConnectOptions& options);
  Result<sqlite3_stmt*> prepare(std::string_view sql, unsigned flags);
  static int on_busy(void* self, int calls) noexcept;
  static int on_commit(void*, sqlite3* handle, const char* name, int pages) noexcept;

  std::string path_;
  Duration busy_timeout_;
  std::chrono::steady_clock::time_point busy_since_{};
  sqlite3* handle_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_{};
  bool was_busy_ = false;
};

// Sleeps for a random 100 to 300 µs (1 to 3 ms when `patient`): the write lock is not fair, and those who wait
// in step would miss every gap together.
void nap(bool patient) noexcept;

}  // namespace notify::sqlite

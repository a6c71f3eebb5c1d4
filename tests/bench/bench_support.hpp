#pragma once

// What the bare programs share: no more than they need, and nothing of the product's, so that a fault there
// cannot slow both sides of a comparison down. Any failure ends the program.

#include <sqlite3.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace bench {

[[noreturn]] inline void die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::int64_t wall_ms() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// "--name value" pairs.
class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
    if (argc % 2 == 0) die(std::string(argv[0]) + ": options come in pairs: --name value");
  }
  std::string text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) die(name + " is missing");
    return found->second;
  }
  int number(const std::string& name) const {
    const std::string value = text(name);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size()) die(name + ": not a number: " + value);
    return number;
  }
  int number(const std::string& name, int otherwise) const { return values_.contains(name) ? number(name) : otherwise; }

 private:
  std::map<std::string, std::string> values_{};
};

class Database {
 public:
  explicit Database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) die("cannot open " + path + ": " + sqlite3_errmsg(db_));
    sqlite3_busy_timeout(db_, 10'000);
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
  }
  ~Database() { sqlite3_close_v2(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql) {
    char* error = nullptr;
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &error) != SQLITE_OK) die(sql + ": " + error);
  }
  sqlite3* get() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

// A prepared statement, to be run again and again.
class Statement {
 public:
  Statement(Database& db, const char* sql) : db_(db.get()) {
    const int result = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
    if (result != SQLITE_OK) die(std::string(sql) + ": " + sqlite3_errmsg(db_));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int at, std::int64_t value) {
    sqlite3_bind_int64(statement_, at, value);
    return *this;
  }
  // `value` must live until the statement has run.
  Statement& bind(int at, std::string_view value) {
    sqlite3_bind_text(statement_, at, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
    return *this;
  }
  bool step() {
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) die(std::string("SQLite: ") + sqlite3_errmsg(db_));
    sqlite3_reset(statement_);
    return false;
  }
  void run() {
    while (step()) {
    }
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
};

// Ids of the product's form and length.
inline std::string message_id(std::int64_t n) { return "notification-outbox-0a1b2c3d-" + std::to_string(n); }

}  // namespace bench

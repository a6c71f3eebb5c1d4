#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify::sqlite {

class Database;

// SQL text that lives as long as the program: only literals convert. Its address is the key of the statement cache.
struct Sql {
  consteval Sql(const char* literal) : text(literal) {}  // NOLINT(google-explicit-constructor)
  const char* text;
};

// Bytes to be bound as a BLOB.
struct Blob {
  std::string_view bytes;
};

// Binds NULL for an empty text.
struct OrNull {
  std::string_view text;
};

// A prepared statement while it is being used. However the scope is left, it is reset and its bindings are cleared:
// a statement that is left standing would hold a read mark, and no checkpoint could finish. What was bound must
// outlive the use (texts are not copied).
class Use {
 public:
  Use(Database& database, sqlite3_stmt* statement, bool owned) noexcept
      : database_(&database), statement_(statement), owned_(owned) {}
  Use(Use&& other) noexcept
      : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)), owned_(other.owned_) {}
  Use& operator=(Use&&) = delete;
  ~Use();

  // Binds the arguments to ?1, ?2, … .
  template <class... Args>
  Use& bind(Args&&... args) {
    static_assert((!kDangles<Args> && ...), "a temporary string would be gone before the statement runs");
    int index = 0;
    (bind_one(++index, args), ...);
    return *this;
  }

  // Binds one more after bind(); for statements whose parameters are not known beforehand.
  void bind_at(int index, std::string_view value) { bind_one(index, value); }
  void bind_at(int index, std::int64_t value) { bind_one(index, value); }

  // One step: true when there is a row. Columns are valid until the next step.
  Result<bool> row();
  // Runs a statement that returns no rows; the number of rows it changed itself (without triggers).
  Result<int> run();
  // Runs again with other values.
  void reset() noexcept;

  bool is_null(int column) const noexcept { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::int64_t integer(int column) const noexcept { return sqlite3_column_int64(statement_, column); }
  int small(int column) const noexcept { return sqlite3_column_int(statement_, column); }
  bool flag(int column) const noexcept { return integer(column) != 0; }
  Instant instant(int column) const noexcept { return {integer(column)}; }
  std::optional<Instant> maybe_instant(int column) const noexcept {
    return is_null(column) ? std::nullopt : std::optional(instant(column));
  }
  std::string_view view(int column) const noexcept;  // NULL reads as ""
  std::string text(int column) const { return std::string(view(column)); }

  sqlite3_stmt* raw() const noexcept { return statement_; }

 private:
  template <class T>
  static constexpr bool kDangles =
      std::is_same_v<std::remove_cvref_t<T>, std::string> && !std::is_lvalue_reference_v<T>;

  void bind_one(int index, std::int64_t value) noexcept;
  void bind_one(int index, std::string_view value) noexcept;
  void bind_one(int index, Blob value) noexcept;
  void bind_one(int index, std::nullptr_t) noexcept;
  void bind_one(int index, Instant value) noexcept { bind_one(index, value.ms); }
  void bind_one(int index, Duration value) noexcept { bind_one(index, std::int64_t{value.count()}); }
  void bind_one(int index, const std::string& value) noexcept { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const char* value) noexcept { bind_one(index, std::string_view(value)); }
  void bind_one(int index, std::optional<Instant> value) noexcept;
  void bind_one(int index, OrNull value) noexcept;
  void bind_one(int index, std::integral auto value) noexcept { bind_one(index, static_cast<std::int64_t>(value)); }

  Database* database_;
  sqlite3_stmt* statement_;
  bool owned_;
};

}  // namespace notify::sqlite

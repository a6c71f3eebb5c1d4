#include "store/sqlite/statement.hpp"

#include "store/sqlite/database.hpp"

namespace notify::sqlite {

Use::~Use() {
  if (statement_ == nullptr) return;
  if (owned_) {
    sqlite3_finalize(statement_);
  } else {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

void Use::reset() noexcept { sqlite3_reset(statement_); }

Result<bool> Use::row() {
  const int rc = sqlite3_step(statement_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  // COMMIT counts as one that reads.
  const bool reads =
      sqlite3_stmt_readonly(statement_) != 0 && std::string_view(sqlite3_sql(statement_)) != std::string_view("COMMIT");
  return database_->failure(rc, reads ? "cannot read" : "cannot write to");
}

Result<int> Use::run() {
  TRY_ASSIGN(const bool unexpected_row, row());
  ASSERT(!unexpected_row);
  return database_->changes();
}

std::string_view Use::view(int column) const noexcept {
  // First the pointer, then the length: asking for the bytes of a text may convert it.
  const void* bytes = sqlite3_column_type(statement_, column) == SQLITE_BLOB
                          ? sqlite3_column_blob(statement_, column)
                          : static_cast<const void*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

// Binding fails only for a wrong index (our error), want of memory, or texts over a gigabyte: no message is so long.
void Use::bind_one(int index, std::int64_t value) noexcept {
  ASSERT(sqlite3_bind_int64(statement_, index, value) == SQLITE_OK);
}

void Use::bind_one(int index, std::string_view value) noexcept {
  const char* text = value.data() == nullptr ? "" : value.data();  // a null pointer would bind NULL
  ASSERT(sqlite3_bind_text64(statement_, index, text, value.size(), SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
}

void Use::bind_one(int index, Blob value) noexcept {
  const int rc = value.bytes.empty()
                     ? sqlite3_bind_null(statement_, index)
                     : sqlite3_bind_blob64(statement_, index, value.bytes.data(), value.bytes.size(), SQLITE_STATIC);
  ASSERT(rc == SQLITE_OK);
}

void Use::bind_one(int index, std::nullptr_t) noexcept { ASSERT(sqlite3_bind_null(statement_, index) == SQLITE_OK); }

void Use::bind_one(int index, std::optional<Instant> value) noexcept {
  value ? bind_one(index, value->ms) : bind_one(index, nullptr);
}

void Use::bind_one(int index, OrNull value) noexcept {
  value.text.empty() ? bind_one(index, nullptr) : bind_one(index, value.text);
}

}  // namespace notify::sqlite

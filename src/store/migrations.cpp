#include "store/migrations.hpp"

#include <embedded/sql.hpp>

#include "store/fence.hpp"
#include "store/sqlite/transaction.hpp"

namespace notify {
namespace {

// Sets up what belongs to this one database: its name in message ids, and the first generation.
Result<void> name_it(sqlite::Database& database, const std::string& source) {
  forget_fence(database.path());
  TRY_ASSIGN(sqlite::Use meta, database.use(R"sql(
    INSERT OR IGNORE INTO notification_meta (key, value)
    VALUES ('source', ?1), ('created-at', strftime('%Y-%m-%dT%H:%M:%SZ', 'now')))sql"));
  TRY(meta.bind(source).run());
  TRY_ASSIGN(sqlite::Use generation, database.use(R"sql(
    INSERT OR IGNORE INTO notification_generation (first_id, generation, opened_at)
    VALUES (0, lower(hex(randomblob(4))), CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)))sql"));
  TRY(generation.run());
  return {};
}

Result<void> apply(sqlite::Database& database, int from, const std::string& source) {
  const auto files = embedded::sql();
  for (std::size_t i = static_cast<std::size_t>(from); i < files.size(); ++i) {
    if (auto done = database.execute(std::string(files[i].text)); !done) {
      return fail(with_context(done.error(), "cannot make the notification tables"));
    }
  }
  if (from == 0) TRY(name_it(database, source));
  TRY_ASSIGN(sqlite::Use version,
             database.use("INSERT OR REPLACE INTO notification_meta (key, value) VALUES ('schema', ?1)"));
  const std::string number = std::to_string(newest_schema());
  TRY(version.bind(number).run());
  return {};
}

}  // namespace

int newest_schema() noexcept { return static_cast<int>(embedded::sql().size()); }

Result<int> schema_version(sqlite::Database& database) {
  {
    TRY_ASSIGN(sqlite::Use table, database.use_once(R"sql(
      SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'notification_meta' -- may scan: the schema)sql"));
    TRY_ASSIGN(const bool found, table.row());
    if (!found) return 0;
  }
  TRY_ASSIGN(sqlite::Use version, database.use_once(R"sql(
    SELECT CAST(value AS INTEGER) FROM notification_meta WHERE key = 'schema')sql"));
  TRY_ASSIGN(const bool found, version.row());
  return found ? version.small(0) : 0;
}

Result<Migrated> migrate(sqlite::Database& database, const std::string& source) {
  TRY_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::begin(database, sqlite::Transaction::Kind::kWrite));
  TRY_ASSIGN(const int from, schema_version(database));
  if (from > newest_schema()) return newer_schema(database.path(), from);
  if (from < newest_schema()) {
    TRY(apply(database, from, source));
    TRY(transaction.commit());
  }
  return Migrated{from, newest_schema()};
}

tl::unexpected<Error> newer_schema(const std::string& path, int version) {
  return fail(Code::kConfig,
              "cannot use " + path + ": its tables have schema " + std::to_string(version) + ", this program knows " +
                  std::to_string(newest_schema()),
              "use the newer notifyctl that has migrated it");
}

}  // namespace notify

#pragma once

#include <string>

#include "store/sqlite/database.hpp"

namespace notify {

// The schema this program was built for: the number of files in src/store/migrations.
int newest_schema() noexcept;

// The schema in the file: 0 when it has none of our tables.
Result<int> schema_version(sqlite::Database& database);

struct Migrated {
  int from = 0;
  int to = 0;
};

// Brings the schema up to date in one transaction, under the write lock, so that two processes that start together do it
// once. `source` names the message ids of a new schema. kConfig when the schema is newer than this program.
Result<Migrated> migrate(sqlite::Database& database, const std::string& source);

// The kConfig error for a schema that a newer program has made.
tl::unexpected<Error> newer_schema(const std::string& path, int version);

}  // namespace notify

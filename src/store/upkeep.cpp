#include "store/upkeep.hpp"

namespace notify {

using sqlite::Use;

// Kept in notification_meta under "upkeep.NAME".
Result<std::optional<std::int64_t>> SqliteUpkeep::recall(std::string_view name) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT CAST(value AS INTEGER) FROM notification_meta WHERE key = 'upkeep.' || ?1)sql"));
  TRY_ASSIGN(const bool found, query.bind(name).row());
  if (!found) return std::nullopt;
  return query.integer(0);
}

Result<void> SqliteUpkeep::remember(std::string_view name, std::int64_t value) {
  TRY_ASSIGN(Use keep, session_.writer().use(R"sql(
    INSERT OR REPLACE INTO notification_meta (key, value) VALUES ('upkeep.' || ?1, CAST(?2 AS TEXT)))sql"));
  TRY(keep.bind(name, value).run());
  return {};
}

Result<void> SqliteUpkeep::correct_counter(std::string_view name, std::int64_t change) {
  TRY_ASSIGN(Use add, session_.writer().use(R"sql(
    INSERT INTO notification_counter (bucket, name, value) VALUES (0, ?1, ?2)
    ON CONFLICT (bucket, name) DO UPDATE SET value = value + excluded.value)sql"));
  TRY(add.bind(name, change).run());
  return {};
}

}  // namespace notify

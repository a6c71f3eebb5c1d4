#include "store/message_ids.hpp"

#include <algorithm>
#include <charconv>

#include "store/migrations.hpp"

namespace notify {

Result<MessageIds> MessageIds::load(sqlite::Database& database) {
  MessageIds ids;
  {
    TRY_ASSIGN(sqlite::Use meta, database.use(R"sql(
      SELECT (SELECT value FROM notification_meta WHERE key = 'source'),
             (SELECT CAST(value AS INTEGER) FROM notification_meta WHERE key = 'schema'))sql"));
    TRY(meta.row());
    ids.source_ = meta.text(0);
    // A newer program may have migrated the database under this one.
    if (meta.small(1) > newest_schema()) return newer_schema(database.path(), meta.small(1));
  }
  TRY_ASSIGN(sqlite::Use ranges, database.use(R"sql(
    SELECT first_id, generation FROM notification_generation ORDER BY first_id -- may scan: a row per restore)sql"));
  while (true) {
    TRY_ASSIGN(const bool more, ranges.row());
    if (!more) break;
    ids.ranges_.push_back({ranges.integer(0), ranges.text(1)});
  }
  if (ids.source_.empty() || ids.ranges_.empty()) {
    return fail(Code::kConfig,
                "cannot use " + database.path() + ": its notification tables have no source or generation",
                "run: notifyctl init");
  }
  return ids;
}

std::string MessageIds::make(std::int64_t outbox_id) const {
  auto range = ranges_.rbegin();
  while (range + 1 != ranges_.rend() && range->first_id > outbox_id) ++range;
  std::string id;
  id.reserve(source_.size() + 30);
  id.append(source_).append(1, '-').append(range->generation).append(1, '-').append(std::to_string(outbox_id));
  return id;
}

std::int64_t MessageIds::last_of_range(std::int64_t outbox_id) const noexcept {
  for (const Range& range : ranges_)
    if (range.first_id > outbox_id) return range.first_id - 1;
  return INT64_MAX;
}

std::optional<std::int64_t> MessageIds::parse(std::string_view message_id) const {
  const std::size_t dash = message_id.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == message_id.size()) return std::nullopt;
  const char* const end = message_id.data() + message_id.size();
  std::int64_t id = 0;
  const auto [stop, error] = std::from_chars(message_id.data() + dash + 1, end, id);
  if (error != std::errc{} || stop != end || id <= 0) return std::nullopt;
  // The same text back: neither another generation nor leading zeros.
  return make(id) == message_id ? std::optional(id) : std::nullopt;
}

}  // namespace notify

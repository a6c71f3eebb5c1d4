#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "store/sqlite/database.hpp"

namespace notify {

// Outbox ids as message ids and back: source-generation-id. Generations are ranges of ids: a restored backup opens a new
// one, so that what was enqueued after the backup and is lost with it never shares a message id with something new.
class MessageIds {
 public:
  // kConfig when the schema has become newer than this program.
  static Result<MessageIds> load(sqlite::Database& database);

  std::string make(std::int64_t outbox_id) const;
  // The outbox id, when source and generation are those of this database.
  std::optional<std::int64_t> parse(std::string_view message_id) const;

  // The last id of the range that `outbox_id` is in: all ids up to it share a generation.
  std::int64_t last_of_range(std::int64_t outbox_id) const noexcept;

  const std::string& source() const noexcept { return source_; }
  const std::string& newest_generation() const noexcept { return ranges_.back().generation; }

 private:
  struct Range {
    std::int64_t first_id = 0;
    std::string generation{};
  };
  std::string source_{};
  std::vector<Range> ranges_{};  // by first_id; never empty once loaded
};

}  // namespace notify

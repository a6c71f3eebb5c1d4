#include "support/memory_outbox.hpp"

#include <algorithm>

namespace notify::test {

Result<void> MemoryOutbox::write(const std::function<Result<void>()>& body) {
  ASSERT(!writing);
  const std::vector<NewMessage> before = rows;
  writing = true;
  auto result = body();
  if (repeats > 0) {
    --repeats;
    rows = before;
    result = body();
  }
  writing = false;
  if (result && !commit_errors.empty()) {
    result = fail(commit_errors.front());
    commit_errors.pop_front();
  }
  if (!result)
    rows = before;
  else
    ++commits;
  return result;
}

Result<InsertResult> MemoryOutbox::insert(const NewMessage& message, Instant) {
  ASSERT(writing);
  if (before_insert) TRY(before_insert(message));
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const NewMessage& row) {
    return !message.dedup_key.empty() && row.dedup_key == message.dedup_key;
  });
  InsertResult result;
  result.outbox_id = found - rows.begin() + 1;
  result.message_id = "m-" + std::to_string(result.outbox_id);
  if (found == rows.end()) {
    rows.push_back(message);
    return result;
  }
  result.kind =
      found->fingerprint == message.fingerprint ? InsertResult::Kind::kExisting : InsertResult::Kind::kConflict;
  result.existing_fingerprint = found->fingerprint;
  return result;
}

}  // namespace notify::test

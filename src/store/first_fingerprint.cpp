#include "store/first_fingerprint.hpp"

#include "core/fingerprint.hpp"
#include "store/change_one.hpp"

namespace notify {
Result<void> keep_first_fingerprint(Session& session, std::int64_t outbox_id) {
  std::string first(kFingerprintBytes, '\0');
  {
    TRY_ASSIGN(sqlite::Use row, session.database().use(R"sql(
      SELECT channel, recipient, kind, category, payload FROM notification_outbox
       WHERE id = ?1 AND fingerprint IS NULL AND dedup_key IS NOT NULL)sql"));
    TRY_ASSIGN(const bool missing, row.bind(outbox_id).row());
    if (!missing) return {};
    if (const auto content = fingerprint(row.view(0), row.view(1), row.view(2), row.view(3), row.view(4)))
      first = *content;
  }
  TRY(change_one(session, "UPDATE notification_outbox SET fingerprint = ?2 WHERE id = ?1 AND fingerprint IS NULL",
                 outbox_id, sqlite::Blob{first}));
  return {};
}

}  // namespace notify

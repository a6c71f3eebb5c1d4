#include "store/parked.hpp"

#include "store/change_one.hpp"

namespace notify {

Result<bool> SqliteParked::park(const ParkedMessage& message) {
  const Envelope& envelope = message.envelope;
  return change_one(session_, R"sql(
    INSERT INTO notification_parked (message_id, outbox_id, reason, detail, tries, parked_at, channel, kind, category,
                                     priority, expires_at, enqueued_at, recipient, dedup_key, correlation, payload)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    ON CONFLICT (message_id) DO NOTHING)sql",
                    envelope.message_id, envelope.outbox_id, message.reason, message.detail, message.tries, message.now,
                    envelope.channel, envelope.kind, envelope.category, envelope.priority, envelope.expires,
                    envelope.enqueued_at, envelope.recipient, sqlite::OrNull{envelope.dedup_key}, envelope.correlation,
                    envelope.payload);
}

Result<bool> SqliteParked::contains(std::string_view message_id) {
  TRY_ASSIGN(sqlite::Use query, session_.database().use("SELECT 1 FROM notification_parked WHERE message_id = ?1"));
  return query.bind(message_id).row();
}

Result<bool> SqliteParked::remove(std::string_view message_id) {
  return change_one(session_, "DELETE FROM notification_parked WHERE message_id = ?1", message_id);
}

Result<bool> SqliteParked::any(std::string_view channel, std::string_view reason) {
  if (!reason.empty()) {
    TRY_ASSIGN(sqlite::Use query, session_.database().use(R"sql(
      SELECT 1 FROM notification_parked WHERE reason = ?2 AND channel = ?1 LIMIT 1)sql"));
    return query.bind(channel, reason).row();
  }
  TRY_ASSIGN(sqlite::Use query, session_.database().use(R"sql(
    SELECT 1 FROM notification_parked WHERE reason > '' AND channel = ?1 LIMIT 1)sql"));
  return query.bind(channel).row();
}

}  // namespace notify

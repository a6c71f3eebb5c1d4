#include "store/receipt.hpp"

#include <algorithm>

#include "store/change_one.hpp"

namespace notify {
namespace {

using sqlite::Use;

// One message has one reference; a few more show that it is ambiguous.
constexpr int kReferencesLookedAt = 4;

constexpr std::string_view kAccepted = "accepted";
constexpr std::string_view kRefused = "refused";

}  // namespace

Result<std::optional<std::int64_t>> SqliteReceipts::keep(const Receipt& receipt, Instant now) {
  const bool accepted = receipt.verdict == ReceiptVerdict::kAccepted;
  TRY_ASSIGN(const bool kept,
             change_one(session_, R"sql(
    INSERT INTO notification_receipt (message_id, reference, channel, verdict, disable_endpoint, halt_channel, attempt, at,
                                      reason, received_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING)sql",
                        receipt.message_id, receipt.reference, receipt.channel, accepted ? kAccepted : kRefused,
                        receipt.disable_endpoint, receipt.halt_channel, receipt.attempt, receipt.at.value_or(Instant{}),
                        receipt.reason, now));
  if (!kept) return std::nullopt;
  return session_.database().last_insert_id();
}

Result<std::vector<Receipt>> SqliteReceipts::waiting(std::int64_t after, int limit) {
  TRY_ASSIGN(Use query, session_.database().use(R"sql(
    SELECT id, message_id, reference, channel, verdict, attempt, at, reason, received_at, disable_endpoint, halt_channel
      FROM notification_receipt WHERE applied_at IS NULL AND id > ?1 ORDER BY id LIMIT ?2)sql"));
  query.bind(after, limit);
  std::vector<Receipt> receipts;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return receipts;
    Receipt& receipt = receipts.emplace_back();
    receipt.id = query.integer(0);
    receipt.message_id = query.text(1);
    receipt.reference = query.text(2);
    receipt.channel = query.text(3);
    receipt.verdict = query.view(4) == kAccepted ? ReceiptVerdict::kAccepted : ReceiptVerdict::kRefused;
    receipt.attempt = query.small(5);
    if (query.integer(6) != 0) receipt.at = query.instant(6);
    receipt.reason = query.text(7);
    receipt.received_at = query.instant(8);
    receipt.disable_endpoint = query.flag(9);
    receipt.halt_channel = query.flag(10);
  }
}

Result<void> SqliteReceipts::close(std::int64_t id, std::string_view result, Instant now) {
  TRY(change_one(session_, R"sql(
    UPDATE notification_receipt SET applied_at = ?3, result = ?2 WHERE id = ?1 AND applied_at IS NULL)sql",
                 id, result, now));
  return {};
}

Result<std::vector<std::string>> SqliteReceipts::messages_of(std::string_view reference) {
  std::vector<std::string> found;
  const auto add = [&](Use query) -> Result<void> {
    query.bind(reference, kReferencesLookedAt);
    while (true) {
      TRY_ASSIGN(const bool more, query.row());
      if (!more) return {};
      std::string message_id = query.text(0);
      if (std::find(found.begin(), found.end(), message_id) == found.end()) found.push_back(std::move(message_id));
    }
  };
  TRY_ASSIGN(Use settled, session_.database().use(R"sql(
    SELECT message_id FROM notification_inbox WHERE reference <> '' AND reference = ?1 LIMIT ?2)sql"));
  TRY(add(std::move(settled)));
  TRY_ASSIGN(Use tried, session_.database().use(R"sql(
    SELECT message_id FROM notification_attempt WHERE reference <> '' AND reference = ?1 LIMIT ?2)sql"));
  TRY(add(std::move(tried)));
  return found;
}

}  // namespace notify

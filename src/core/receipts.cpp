#include "core/receipts.hpp"

#include "core/alert.hpp"

namespace notify {
namespace {

constexpr std::string_view kReceiptActor = "receipt";

// A receipt that belongs to nothing is kept for so long.
constexpr Duration kKeepUnknown = 7 * 24h;

// The vendor's clock and ours may differ by this much.
constexpr Duration kSkew = 1min;

// The vendor's own words are for people; what is counted is our word.
Proof proof_of(const Receipt& receipt) {
  const bool accepted = receipt.verdict == ReceiptVerdict::kAccepted;
  return {accepted ? "receipt" : "receipt-refused", receipt.reason, receipt.reference, std::string(kReceiptActor)};
}

std::string_view fate_name(ReceiptFate fate) { return fate == ReceiptFate::kSettled ? "settled" : "noted"; }

}  // namespace

Result<ReceiptFate> Receipts::take(Receipt receipt, Instant now) {
  TRY_ASSIGN(const std::optional<std::int64_t> id, store_.receipts().keep(receipt, now));
  if (!id) return ReceiptFate::kKnown;
  receipt.id = *id;
  receipt.received_at = now;
  return apply(receipt, now);
}

Result<ReceiptFate> Receipts::apply(const Receipt& receipt, Instant now) {
  TRY_ASSIGN(const ReceiptFate fate, judge(receipt, now));
  if (fate == ReceiptFate::kWaits) return fate;
  if (fate == ReceiptFate::kUnknown) {
    if (now - receipt.received_at > kKeepUnknown) TRY(store_.receipts().close(receipt.id, "unknown", now));
    return fate;
  }
  TRY(store_.receipts().close(receipt.id, fate_name(fate), now));
  return fate;
}

Result<ReceiptFate> Receipts::judge(const Receipt& receipt, Instant now) {
  TRY_ASSIGN(const std::optional<std::string> message_id, message_of(receipt));
  if (!message_id) return ReceiptFate::kUnknown;
  if (receipt.verdict == ReceiptVerdict::kRefused) return refuse(receipt, *message_id, now);
  TRY_ASSIGN(const bool settled, evidence_.accepted(*message_id, proof_of(receipt), now));
  return settled ? ReceiptFate::kSettled : ReceiptFate::kNoted;
}

// The one message that the receipt is about.
Result<std::optional<std::string>> Receipts::message_of(const Receipt& receipt) {
  std::vector<std::string> named{receipt.message_id};
  if (receipt.message_id.empty()) {
    TRY_ASSIGN(named, store_.receipts().messages_of(receipt.reference));
  }
  std::optional<std::string> found;
  for (std::string& message_id : named) {
    TRY_ASSIGN(const bool concerned, concerns(receipt, message_id));
    if (!concerned) continue;
    if (found) return std::nullopt;
    found = std::move(message_id);
  }
  return found;
}

// Whether the message is ours, and of the vendor that speaks.
Result<bool> Receipts::concerns(const Receipt& receipt, const std::string& message_id) {
  TRY_ASSIGN(const std::optional<InboxRow> row, store_.inbox().find(message_id));
  if (row) return receipt.channel.empty() || row->channel == receipt.channel;
  TRY_ASSIGN(const std::optional<std::int64_t> outbox_id, store_.outbox().find(message_id));
  if (!outbox_id) return false;
  TRY_ASSIGN(const std::optional<Envelope> envelope, store_.outbox().envelope(*outbox_id));
  return envelope && envelope->message_id == message_id &&
         (receipt.channel.empty() || envelope->channel == receipt.channel);
}

// A refusal ends its own call and no other.
Result<ReceiptFate> Receipts::refuse(const Receipt& receipt, const std::string& message_id, Instant now) {
  TRY_ASSIGN(const std::optional<InboxRow> row, store_.inbox().find(message_id));
  if (row && row->state == InboxState::kSending) return ReceiptFate::kWaits;
  if (row && row->state == InboxState::kSent) return undelivered(receipt, *row, now);
  if (row && row->state == InboxState::kError) {
    TRY_ASSIGN(const bool own, names_this_call(receipt, *row));
    if (own) {
      TRY_ASSIGN(const bool settled, evidence_.refused(*row, proof_of(receipt), now));
      return settled ? ReceiptFate::kSettled : ReceiptFate::kNoted;
    }
  }
  TRY(store_.history().event(message_id, "receipt-refused", receipt.reason, kReceiptActor, now));
  return ReceiptFate::kNoted;
}

// By the vendor's reference, by its number, or because there was only one call that it can mean.
Result<bool> Receipts::names_this_call(const Receipt& receipt, const InboxRow& row) {
  if (receipt.at && *receipt.at + kSkew < row.claimed_at) return false;
  TRY_ASSIGN(const auto mark, store_.history().last_attempt(row.message_id, row.claimed_at));
  if (!receipt.reference.empty()) {
    if (receipt.reference == row.reference || (mark && receipt.reference == mark->reference)) return true;
    if (!row.reference.empty() || (mark && !mark->reference.empty())) return false;
  }
  if (row.calls != 1 || row.unknown_before) return false;
  if (receipt.attempt != 0 && mark) return receipt.attempt == mark->number;
  TRY_ASSIGN(const bool replayed, store_.history().happened(row.message_id, "replayed"));
  return !replayed && receipt.attempt <= 1;
}

// SENT is final for ever; but somebody should know.
Result<ReceiptFate> Receipts::undelivered(const Receipt& receipt, const InboxRow& row, Instant now) {
  TRY(store_.history().event(row.message_id, "undelivered", receipt.reason, kReceiptActor, now));
  const bool of_another_call =
      !receipt.reference.empty() && !row.reference.empty() && receipt.reference != row.reference;
  if (of_another_call) return ReceiptFate::kNoted;
  TRY_ASSIGN(const std::optional<Envelope> envelope, store_.outbox().envelope(row.outbox_id));
  if (envelope) TRY(raise_alert(store_.alerts(), "undelivered", *envelope, {}, receipt.reason, now));
  return ReceiptFate::kNoted;
}

}  // namespace notify

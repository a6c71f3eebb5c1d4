#include "core/receipts.hpp"

#include "core/alert.hpp"
#include "core/report_effects.hpp"

namespace notify {
namespace {

constexpr std::string_view kReceiptActor = "receipt";

// A receipt that belongs to nothing is kept for so long.
constexpr Duration kKeepUnknown = 7 * 24h;

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
  TRY_ASSIGN(const std::optional<InboxRow> row, store_.inbox().find(*message_id));
  ReceiptFate fate = ReceiptFate::kNoted;
  if (receipt.verdict == ReceiptVerdict::kRefused) {
    TRY_ASSIGN(fate, refuse(receipt, *message_id, row, now));
  } else {
    TRY_ASSIGN(const bool settled, evidence_.accepted(*message_id, proof_of(receipt), now));
    if (settled) fate = ReceiptFate::kSettled;
  }
  if (row && fate != ReceiptFate::kWaits) TRY(take_effect(store_, receipt, *row, kReceiptActor, now));
  return fate;
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
Result<ReceiptFate> Receipts::refuse(const Receipt& receipt, const std::string& message_id,
                                     const std::optional<InboxRow>& row, Instant now) {
  if (row && row->state == InboxState::kSending) return ReceiptFate::kWaits;
  if (row && row->state == InboxState::kSent) return undelivered(receipt, *row, now);
  if (row && row->state == InboxState::kError) {
    TRY_ASSIGN(const bool own, names_call(store_, receipt, *row));
    if (own) {
      TRY_ASSIGN(const bool settled, evidence_.refused(*row, proof_of(receipt), now));
      return settled ? ReceiptFate::kSettled : ReceiptFate::kNoted;
    }
  }
  TRY(store_.history().event(message_id, "receipt-refused", receipt.reason, kReceiptActor, now));
  return ReceiptFate::kNoted;
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

#include "core/report_effects.hpp"

#include <span>

#include "core/lane_book.hpp"
#include "core/message.hpp"
#include "core/ports/operator_table.hpp"
#include "core/recipient.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

// The vendor's clock and ours may differ by this much.
constexpr Duration kSkew = 1min;

// Where the call went; empty when that is not known any more.
Result<std::string> address_of(Store& store, const InboxRow& row) {
  if (!row.address.empty()) return row.address;
  TRY_ASSIGN(const std::optional<Envelope> envelope, store.outbox().envelope(row.outbox_id));
  const bool known = envelope && envelope->message_id == row.message_id &&
                     !is_recipient_reference(envelope->recipient) && envelope->recipient != kScrubbedRecipient;
  return known ? envelope->recipient : std::string();
}

// By its address, so that an endpoint that leads elsewhere by now stays as it is. What a mail server says about an address
// often repeats it.
Result<void> disable(Store& store, const InboxRow& row, std::string_view said, std::string_view actor, Instant now) {
  TRY_ASSIGN(const std::string address, address_of(store, row));
  if (address.empty()) return {};
  const std::string reason = safe_text_without(said, std::span(&address, 1), limits::kReason);
  TRY_ASSIGN(const bool changed,
             store.recipients().disable_address(row.channel, address, reason, row.claimed_at + 1ms, now));
  if (!changed) return {};
  return store.history().event(row.message_id, "endpoint-disabled", reason, actor, now);
}

Result<void> note_lane(Store& store, const InboxRow& row, const LaneReport& report, Instant now) {
  TRY_ASSIGN(const std::optional<Lane> found, store.lanes().find(row.channel));
  Lane lane = found.value_or(Lane{});
  lane.channel = row.channel;
  const LaneChange change = lane_note_report(lane, report, now);
  if (change == LaneChange::kNone) return {};
  TRY(store.lanes().save(lane, now));
  if (change == LaneChange::kReopened) return store.alerts().close("lane-halted", row.channel, now);
  return store.alerts().raise("lane-halted", row.channel, row.message_id, report.reason, now);
}

// Nearly always nothing is halted, and an acceptance costs one look-up.
Result<bool> waits_for_delivery(Store& store, const std::string& channel) {
  TRY_ASSIGN(const std::optional<Lane> lane, store.lanes().find(channel));
  return lane && lane->reported_at;
}

}  // namespace

Result<bool> names_call(Store& store, const Receipt& receipt, const InboxRow& row) {
  if (receipt.at && *receipt.at + kSkew < row.claimed_at) return false;
  TRY_ASSIGN(const auto mark, store.history().last_attempt(row.message_id, row.claimed_at));
  if (!receipt.reference.empty()) {
    if (receipt.reference == row.reference || (mark && receipt.reference == mark->reference)) return true;
    if (!row.reference.empty() || (mark && !mark->reference.empty())) return false;
  }
  if (row.calls != 1 || row.unknown_before) return false;
  if (receipt.attempt != 0 && mark) return receipt.attempt == mark->number;
  TRY_ASSIGN(const bool replayed, store.history().happened(row.message_id, "replayed"));
  return !replayed && receipt.attempt <= 1;
}

Result<void> take_effect(Store& store, const Receipt& receipt, const InboxRow& row, std::string_view actor,
                         Instant now) {
  bool works = false;
  if (receipt.verdict == ReceiptVerdict::kAccepted && !receipt.halt_channel) {
    TRY_ASSIGN(works, waits_for_delivery(store, row.channel));
  }
  if (!works && !receipt.disable_endpoint && !receipt.halt_channel) return {};
  TRY_ASSIGN(const bool own, names_call(store, receipt, row));
  if (!own) return {};
  const std::string reason = receipt.reason.empty() ? std::string(actor) : receipt.reason;
  if (receipt.disable_endpoint) TRY(disable(store, row, reason, actor, now));
  if (!works && !receipt.halt_channel) return {};
  return note_lane(store, row, {receipt.halt_channel, row.claimed_at, reason}, now);
}

}  // namespace notify

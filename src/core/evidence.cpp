#include "core/evidence.hpp"

#include "core/alert.hpp"

namespace notify {
namespace {

// The claim of an outbox row that is claimed and confirmed within one transaction.
constexpr Duration kLease = 1min;

}  // namespace

Result<bool> Evidence::accepted(const std::string& message_id, const Proof& proof, Instant now) {
  TRY_ASSIGN(const std::optional<InboxRow> row, store_.inbox().find(message_id));
  if (row && row->state == InboxState::kSent) return false;
  const bool called_now = row && row->state == InboxState::kSending && row->holder != 0;
  if (row && (row->state == InboxState::kSending || row->state == InboxState::kError)) {
    const std::string& reference = proof.reference.empty() ? row->reference : proof.reference;
    TRY_ASSIGN(const bool settled, store_.inbox().settle({message_id, row->token, InboxState::kSent, proof.reason,
                                                          proof.detail, reference, 0, now}));
    ASSERT(settled);  // read in this very transaction
  } else {
    if (row) {
      TRY_ASSIGN(const bool forgotten, store_.inbox().forget(message_id, row->token, row->state, now));
      ASSERT(forgotten);
    }
    TRY_ASSIGN(const bool known, claim_and_settle(message_id, proof, now));
    if (!known) return false;
  }
  // The copy that a living worker holds is acknowledged by that worker.
  if (!called_now) TRY(remove_copies(message_id));
  TRY(store_.history().event(message_id, "accepted", proof.reason, proof.actor, now));
  return true;
}

// Nobody holds a claim: it was given back, replayed, or never made here. A row that is SENT stops every further call,
// and its message counts as handed on.
Result<bool> Evidence::claim_and_settle(const std::string& message_id, const Proof& proof, Instant now) {
  TRY_ASSIGN(const std::optional<std::int64_t> outbox_id, store_.outbox().find(message_id));
  if (!outbox_id) return false;
  TRY_ASSIGN(const std::optional<Envelope> envelope, store_.outbox().envelope(*outbox_id));
  if (!envelope || envelope->message_id != message_id) return false;  // it was a key, not an id
  TRY(remove_copies(message_id));                                     // what is parked cannot be claimed
  const std::int64_t token = new_token(random_);
  TRY_ASSIGN(const bool claimed,
             store_.inbox().claim({message_id, *outbox_id, envelope->channel, token, holder_, now}));
  ASSERT(claimed);
  TRY_ASSIGN(const bool settled, store_.inbox().settle({message_id, token, InboxState::kSent, proof.reason,
                                                        proof.detail, proof.reference, 0, now}));
  ASSERT(settled);
  TRY(bring_out(*outbox_id, now));
  return true;
}

// What was replayed, and perhaps closed since, is out already: no relay need hand it on.
Result<void> Evidence::bring_out(std::int64_t outbox_id, Instant now) {
  TRY_ASSIGN(const std::optional<OutboxState> state, store_.outbox().state(outbox_id));
  if (!state || *state == OutboxState::kPublished || *state == OutboxState::kPublishing) return {};
  if (*state != OutboxState::kPending) TRY(store_.outbox().reopen(outbox_id, {*state, now, {}, false, now}));
  const std::int64_t token = new_token(random_);
  TRY_ASSIGN(const bool claimed, store_.outbox().claim(outbox_id, {token, holder_, now, now + kLease}));
  ASSERT(claimed);
  TRY_ASSIGN(const bool confirmed, store_.outbox().confirm(outbox_id, token, now));
  ASSERT(confirmed);
  return {};
}

Result<void> Evidence::remove_copies(const std::string& message_id) {
  TRY(store_.parked().remove(message_id));
  if (transport_.in_store_transaction()) TRY(store_.queue().remove_any(message_id));
  return {};
}

Result<bool> Evidence::refused(const InboxRow& row, const Proof& proof, Instant now) {
  ASSERT(row.state == InboxState::kError);
  const std::string& reference = proof.reference.empty() ? row.reference : proof.reference;
  TRY_ASSIGN(const bool settled, store_.inbox().settle({row.message_id, row.token, InboxState::kFailed, proof.reason,
                                                        proof.detail, reference, 0, now}));
  if (!settled) return false;
  TRY(remove_copies(row.message_id));
  TRY(store_.history().event(row.message_id, "failed", proof.reason, proof.actor, now));
  TRY_ASSIGN(const std::optional<Envelope> envelope, store_.outbox().envelope(row.outbox_id));
  if (!envelope) return true;  // its outbox is elsewhere, and with it what would have to be parked
  TRY(store_.parked().park({*envelope, proof.reason, proof.detail, row.calls, now}));
  TRY(raise_alert(store_.alerts(), "parked", *envelope, proof.reason, proof.detail, now));
  return true;
}

Result<bool> Evidence::never_arrived(const InboxRow& row, const Proof& proof, Instant now) {
  constexpr std::string_view kReason = "never-arrived";
  ASSERT(row.state == InboxState::kError);
  TRY_ASSIGN(const std::optional<Envelope> envelope, store_.outbox().envelope(row.outbox_id));
  if (!envelope || envelope->message_id != row.message_id) return false;
  TRY_ASSIGN(const bool forgotten, store_.inbox().forget(row.message_id, row.token, InboxState::kError, now));
  if (!forgotten) return false;
  TRY(remove_copies(row.message_id));
  TRY(store_.parked().park({*envelope, std::string(kReason), proof.detail, row.calls, now}));
  TRY(store_.history().event(row.message_id, "parked", kReason, proof.actor, now));
  TRY(raise_alert(store_.alerts(), "parked", *envelope, kReason, proof.detail, now));
  return true;
}

}  // namespace notify

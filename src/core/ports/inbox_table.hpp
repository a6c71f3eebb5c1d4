#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/inbox_state.hpp"
#include "core/instant.hpp"

namespace notify {

struct InboxRow {
  std::string message_id{};
  std::int64_t outbox_id = 0;  // 0 when the outbox is elsewhere
  std::string channel{};
  InboxState state = InboxState::kSending;
  std::int64_t token = 0;
  std::int64_t holder = 0;  // run id; 0 while the claim rests until resume_at
  Instant claimed_at{};
  std::optional<Instant> resume_at{};
  Instant first_call_at{};      // the vendor's idempotency window counts from here
  int calls = 0;                // claims so far, resumed ones included
  bool unknown_before = false;  // an earlier call of this claim ended as unknown
  std::string reason{};
  std::string reference{};  // the vendor's id of the message
  std::optional<Instant> settled_at{};
  std::string address{};  // where the last call of a message to "@ID" went; empty: the recipient is the address
};

struct InboxClaim {
  std::string message_id{};
  std::int64_t outbox_id = 0;
  std::string channel{};
  std::int64_t token = 0;
  std::int64_t holder = 0;
  Instant now{};
  std::string address{};  // of a message to "@ID"
};

struct Settlement {
  std::string message_id{};
  std::int64_t token = 0;
  InboxState to = InboxState::kSent;  // kSent, kFailed or kError
  std::string reason{};
  std::string detail{};
  std::string reference{};
  int status = 0;
  Instant now{};
};

// notification_inbox: one row per message that was ever claimed or skipped. The unique message id decides
// who may call the vendor.
class InboxTable {
 public:
  virtual ~InboxTable() = default;

  virtual Result<std::optional<InboxRow>> find(std::string_view message_id) = 0;

  // Unless the message is parked: INSERT … ON CONFLICT DO NOTHING. True: this claim won. False: a row exists, or the
  // message is parked; find() tells which.
  virtual Result<bool> claim(const InboxClaim& claim) = 0;
  // Takes up a resting claim whose resume_at has come: a new token, this holder, and the address of this call. False also
  // when its first call was at or before `first_call_after`: the vendor has forgotten it, or will have before an answer can
  // come.
  virtual Result<bool> resume(std::int64_t old_token, const InboxClaim& claim, Instant first_call_after) = 0;
  // WHERE claim_token = ? AND status IN ('SENDING','ERROR').
  virtual Result<bool> settle(const Settlement& settlement) = 0;
  // SENDING stays SENDING without a holder until `resume_at`, remembering that an attempt is unknown.
  // `calls`: how many of its calls count, from now on.
  virtual Result<bool> rest(std::string_view message_id, std::int64_t token, Instant resume_at, int calls,
                            std::string_view reason, std::string_view detail, Instant now) = 0;
  // Deletes the claim: certainly not sent. Refused (false) after an unknown attempt.
  virtual Result<bool> release(std::string_view message_id, std::int64_t token) = 0;
  // Inserts SKIPPED unless a row exists. True: inserted.
  virtual Result<bool> skip(std::string_view message_id, std::int64_t outbox_id, std::string_view channel,
                            std::string_view reason, Instant now) = 0;

  // Deletes a row that is in state `from` (FAILED, ERROR, SKIPPED) under this token (0: it has none).
  virtual Result<bool> forget(std::string_view message_id, std::int64_t token, InboxState from, Instant now) = 0;

  // ERROR rows of a channel about which the vendor should be asked (again): never asked yet, or a quarter of their age
  // ago. Those settled before `oldest` are left alone. Oldest first.
  virtual Result<std::vector<InboxRow>> to_look_up(std::string_view channel, Instant oldest, Instant now,
                                                   int limit) = 0;
  virtual Result<bool> looked_up(std::string_view message_id, std::int64_t token, Instant now) = 0;
  // Whether a message of the channel is ERROR, for this reason (empty: any).
  virtual Result<bool> any_error(std::string_view channel, std::string_view reason) = 0;

  // SENDING rows of one holder.
  virtual Result<std::vector<InboxRow>> held_by(std::int64_t holder, int limit) = 0;
  // The channels that have SENDING rows.
  struct Standing {
    std::string channel{};
    std::optional<Instant> claimed_since{};  // the earliest claim that somebody holds
    std::optional<Instant> resting_since{};  // the earliest first call of those that rest
  };
  virtual Result<std::vector<Standing>> standing() = 0;
  // SENDING rows of a channel: those that somebody has held since before `claimed_before`, and those that rest and were
  // first called before `called_before`.
  virtual Result<std::vector<InboxRow>> stale(std::string_view channel, Instant claimed_before, Instant called_before,
                                              int limit) = 0;
};

}  // namespace notify

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/inbox_state.hpp"
#include "core/instant.hpp"
#include "core/outbox_state.hpp"

namespace notify {

// What stands instead of the recipient of a message whose content was scrubbed; its payload is then "{}".
inline constexpr std::string_view kScrubbedRecipient = "(scrubbed)";

// Why a message is SKIPPED that `park drop` has closed without a call.
inline constexpr std::string_view kDropped = "dropped";

// Where a message is, in all four tables: what operators' commands decide by. Read it in the write transaction that acts
// on it, and nobody else can have moved the message meanwhile.
struct Whereabouts {
  std::string message_id{};
  std::int64_t outbox_id = 0;  // 0: the id is not of this database

  std::optional<OutboxState>
      outbox{};  // empty: there is no such row here; the members up to the next gap are then empty
  std::string key{};
  std::string channel{};  // of the outbox row, else of whatever there is
  std::string kind{};
  std::string recipient{};
  std::string payload{};
  std::string original_payload{};
  std::string outbox_reason{};
  Instant changed_at{};  // when the outbox row came to its state
  Instant ready_at{};
  int attempts = 0;
  bool copy_may_be_out = false;
  std::optional<Instant> not_before{};
  std::optional<Instant> expires{};

  std::optional<InboxState> inbox{};
  std::int64_t inbox_token = 0;  // 0: none
  std::string inbox_reason{};

  bool parked = false;
  std::string parked_reason{};

  bool queued = false;
  std::int64_t leased_by = 0;  // run id of the worker that has it; 0: nobody
  int lost_leases = 0;

  bool scrubbed() const { return recipient == kScrubbedRecipient && payload == "{}"; }
  // Closed for good by `park drop`. What the vendor refused is parked with its claim, and stays so until somebody
  // replays or drops it.
  bool dropped() const {
    return inbox == InboxState::kFailed ? !parked : inbox == InboxState::kSkipped && inbox_reason == kDropped;
  }
};

struct Mending {
  std::string payload{};
  std::string original{};  // what is kept as original_payload
  std::string recipient{};
  Instant now{};
};

// The conditional changes of operators' commands, beside those of the other tables. Each is one statement whose answer says
// whether the row was as expected.
class OperatorTable {
 public:
  virtual ~OperatorTable() = default;

  // By message id or dedup key; nothing when no table knows it.
  virtual Result<std::optional<Whereabouts>> whereabouts(std::string_view id_or_key) = 0;

  // Changes what a PENDING row says. The fingerprint of its key is computed before, if there is none yet.
  virtual Result<bool> mend(std::int64_t outbox_id, const Mending& mending) = 0;
  // Makes the outbox row of a parked message anew from its envelope, PENDING. False: its key is another message's now.
  virtual Result<bool> restore(std::string_view message_id, Instant due, Instant now) = 0;
  // Takes a message out of the queue unless a worker other than `dead_holder` has it.
  virtual Result<bool> take_from_queue(std::string_view message_id, std::int64_t dead_holder) = 0;
  // Parks a PUBLISHED message that nobody has claimed.
  virtual Result<bool> park(std::string_view message_id, std::int64_t outbox_id, std::string_view reason,
                            Instant now) = 0;
};

}  // namespace notify

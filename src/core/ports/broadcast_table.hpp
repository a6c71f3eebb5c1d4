#pragma once

// Broadcasts: one accepted request that the relay fans out to one message per recipient endpoint.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/message.hpp"

namespace notify {

enum class BroadcastState {
  kOpen,       // accepted; not every recipient has a message yet
  kDone,       // the list was gone through to its end
  kCancelled,  // no further messages are made
  kFailed,     // its list cannot be read
};
const char* name(BroadcastState state) noexcept;  // as stored: "OPEN"
std::optional<BroadcastState> parse_broadcast_state(std::string_view text) noexcept;

struct NewBroadcast {
  std::string key{};
  std::string fingerprint{};    // 32 raw bytes
  std::string list{};           // SHA-256 of the list of recipients in hex: its name in the spool
  std::int64_t list_bytes = 0;  // > 0
  std::int64_t recipients = 0;  // lines of the list
  NewMessage message{};         // what each of them gets; key, recipient and fingerprint are not used
};

struct Broadcast {
  std::int64_t id = 0;
  NewBroadcast request{};
  BroadcastState state = BroadcastState::kOpen;
  std::string reason{};           // why FAILED or CANCELLED
  std::int64_t fanned_bytes = 0;  // of the list
  std::int64_t fanned_out = 0;    // recipients that were gone through
  std::int64_t messages = 0;      // made for them
  std::int64_t repeated = 0;      // endpoints that were named more than once
  std::int64_t unreachable = 0;   // recipients without an endpoint for the channel
  Instant created_at{};
  Instant updated_at{};
};

struct BroadcastInsert {
  enum class Kind { kCreated, kExisting, kConflict };
  Kind kind = Kind::kCreated;
  Broadcast broadcast{};
};

// What a step of fanning out has done.
struct BroadcastStep {
  std::int64_t recipients = 0;
  std::int64_t messages = 0;
  std::int64_t repeated = 0;
  std::int64_t unreachable = 0;
};

// What became of a broadcast's messages. Each is counted once; removed ones (prune) are not there any more.
struct BroadcastCounts {
  std::int64_t waiting = 0;  // not sent yet, whether in the outbox or the queue
  std::int64_t sending = 0;
  std::int64_t sent = 0;
  std::int64_t failed = 0;
  std::int64_t error = 0;
  std::int64_t skipped = 0;
  std::int64_t expired = 0;
  std::int64_t parked = 0;
};

// notification_broadcast and notification_broadcast_target.
class BroadcastTable {
 public:
  virtual ~BroadcastTable() = default;

  // Takes the request, or finds the one with the same key: kExisting when the fingerprints agree (a FAILED one is OPEN
  // again), kConflict when not.
  virtual Result<BroadcastInsert> insert(const NewBroadcast& request, Instant now) = 0;
  // The first OPEN one with a greater id.
  virtual Result<std::optional<Broadcast>> next_open(std::int64_t after) = 0;
  // An OPEN broadcast goes on from byte `from` of its list to byte `to`; at the end of the list it is DONE. False: somebody
  // else was first, or it is not OPEN any more.
  virtual Result<bool> advance(std::int64_t id, std::int64_t from, std::int64_t to, Instant now) = 0;
  virtual Result<void> count(std::int64_t id, const BroadcastStep& step) = 0;
  // False: this endpoint of this recipient has its message. `match_address`: the form in which addresses are compared.
  virtual Result<bool> add_target(std::int64_t id, std::string_view recipient, std::string_view match_address) = 0;
  // OPEN → CANCELLED or FAILED, FAILED → CANCELLED.
  virtual Result<bool> close(std::int64_t id, BroadcastState to, std::string_view reason, Instant now) = 0;
  // Forgets who had a message of broadcasts that make no more. Up to `limit`; how many.
  virtual Result<int> forget_targets(int limit) = 0;
  virtual Result<bool> any_target_to_forget() = 0;

  // By its key, or by "broadcast-ID".
  virtual Result<std::optional<Broadcast>> find(std::string_view key_or_id) = 0;
  // Those with smaller ids, newest first.
  virtual Result<std::vector<Broadcast>> all(std::int64_t before, int limit) = 0;
  // The names of the lists that OPEN and FAILED broadcasts need.
  virtual Result<std::vector<std::string>> lists_in_use() = 0;
  virtual Result<BroadcastCounts> counts(std::int64_t id) = 0;
  virtual Result<std::vector<std::string>> message_ids(std::int64_t id) = 0;
};

}  // namespace notify

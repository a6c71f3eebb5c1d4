#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/message.hpp"
#include "core/outbox_state.hpp"

namespace notify {

struct InsertResult {
  enum class Kind { kCreated, kExisting, kConflict };
  Kind kind = Kind::kCreated;
  std::int64_t outbox_id = 0;
  std::string message_id{};
  OutboxState state = OutboxState::kPending;
  std::string existing_fingerprint{};  // 32 raw bytes, for kExisting and kConflict
  std::string given_fingerprint{};     // likewise, of what was to be inserted
  bool pruned = false;                 // the message is gone, its key is not; kExisting and kConflict
};

// A PENDING row that may go now, as the relay's policies need it.
struct Candidate {
  Envelope envelope{};  // payload is filled only when asked for
  Instant created_at{};
  Instant due_at{};              // since when it may go; give_up_after counts from here
  Instant ready_at{};            // when it may be tried (next): due_at, moved by backoff
  int attempts = 0;              // failed publishes since it was due
  bool copy_may_be_out = false;  // an earlier publish ended as unknown
};

struct OutboxClaim {
  std::int64_t token = 0;
  std::int64_t holder = 0;  // run id
  Instant now{};
  Instant lease_until{};
};

// A row that starts again.
struct Reopening {
  OutboxState from = OutboxState::kPublished;  // any but kPublishing: a claim is its relay's to end
  Instant due{};
  std::optional<Instant> expires{};  // empty: as it was
  bool copy_may_be_out = false;
  Instant now{};
};

// Messages that were published within five minutes.
struct VolumeSpan {
  Instant begin{};
  std::int64_t messages = 0;
};

// notification_outbox. The relay owns the state column; enqueue only inserts.
class OutboxTable {
 public:
  virtual ~OutboxTable() = default;

  // Inserts the message, or finds the one with the same dedup key: kExisting when the fingerprints agree
  // (a row inserted by SQL gets its fingerprint computed and kept now), kConflict when not.
  virtual Result<InsertResult> insert(const NewMessage& message, Instant now) = 0;

  // Up to `limit` PENDING rows that are ready now: urgent first, fair between channels and kinds, oldest
  // first within one. `with_payload` says whether the transport needs the payload.
  virtual Result<std::vector<Candidate>> candidates(Instant now, int limit, bool with_payload) = 0;

  // The row, when it is PENDING (whether or not it is ready).
  virtual Result<std::optional<Candidate>> candidate(std::int64_t id, bool with_payload) = 0;

  // PENDING → PUBLISHING. Returns whether the row was still PENDING.
  virtual Result<bool> claim(std::int64_t id, const OutboxClaim& claim) = 0;
  // PUBLISHING → PUBLISHED, only under this token.
  virtual Result<bool> confirm(std::int64_t id, std::int64_t token, Instant now) = 0;
  // PUBLISHING → PENDING with a failed attempt counted, ready again at `ready`.
  virtual Result<bool> back_off(std::int64_t id, std::int64_t token, Instant ready, bool copy_may_be_out,
                                std::string_view reason, Instant now) = 0;
  // PUBLISHING → PENDING at once, nothing counted: the publish was not begun.
  virtual Result<bool> release(std::int64_t id, std::int64_t token, Instant now) = 0;
  // PENDING stays PENDING, ready and due at `until`.
  virtual Result<bool> defer(std::int64_t id, Instant until, std::string_view reason, Instant now) = 0;
  // PENDING → SKIPPED, EXPIRED or FAILED, for good.
  virtual Result<bool> finish(std::int64_t id, OutboxState to, std::string_view reason, Instant now) = 0;

  // PUBLISHING → PENDING (CLAIM_EXPIRED) for leases that ended, or that belonged to a dead process.
  virtual Result<int> recover_expired(Instant now, bool copy_may_be_out) = 0;
  virtual Result<int> recover_holder(std::int64_t holder, Instant now, bool copy_may_be_out) = 0;

  // `from` → PENDING (or still PENDING), due and ready at `due`, with its counters reset.
  virtual Result<bool> reopen(std::int64_t id, const Reopening& reopening) = 0;

  // PUBLISHED rows since before `published_before` that are in no queue, inbox or parked, from `after` on.
  virtual Result<std::vector<std::int64_t>> nowhere(std::int64_t after, Instant published_before, int limit) = 0;
  // PUBLISHED → PENDING, due now, when it still is nowhere; tested in the statement itself.
  virtual Result<bool> republish(std::int64_t id, Instant published_before, bool copy_may_be_out, Instant now) = 0;
  // What was published in the last 25 hours, by spans of five minutes, oldest first; spans without any are left out.
  virtual Result<std::vector<VolumeSpan>> volume(Instant now) = 0;

  // When the next PENDING row becomes ready, later than now; empty when none waits.
  virtual Result<std::optional<Instant>> next_ready(Instant now) = 0;

  // The row's message id, or the row behind a message id; nothing when the generation does not match.
  virtual Result<std::string> message_id(std::int64_t outbox_id) = 0;
  virtual Result<std::optional<std::int64_t>> find(std::string_view message_id_or_key) = 0;
  virtual Result<std::optional<OutboxState>> state(std::int64_t outbox_id) = 0;
  // The row as the transport carries it, whatever its state; nothing when there is none.
  virtual Result<std::optional<Envelope>> envelope(std::int64_t outbox_id) = 0;
};

}  // namespace notify

#pragma once

// What settles a message after its call: a receipt, or the vendor's answer to a question. Every function runs inside
// Store::write and is one legal walk through the state machines.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/random.hpp"
#include "core/ports/store.hpp"
#include "core/ports/transport.hpp"

namespace notify {

// Texts are bounded and safe.
struct Proof {
  std::string reason{};     // short stable word, or the vendor's
  std::string detail{};     // for people
  std::string reference{};  // the vendor's id; may be empty
  std::string actor{};      // "receipt" or "look-up"
};

class Evidence {
 public:
  // `holder` is this process's run id. All outlive this.
  Evidence(Store& store, Transport& transport, Random& random, std::int64_t holder)
      : store_(store), transport_(transport), random_(random), holder_(holder) {}

  // The vendor has accepted the message: it is SENT, whatever stood in the inbox, and no copy of it is called again.
  // False: nothing changed (it was SENT already, or nobody knows it).
  Result<bool> accepted(const std::string& message_id, const Proof& proof, Instant now);

  // The call that this ERROR row stands for was refused: FAILED, and parked. False: it is no longer that row.
  Result<bool> refused(const InboxRow& row, const Proof& proof, Instant now);

  // The vendor proves that the call of this ERROR row never arrived: parked(never-arrived), the claim deleted. False:
  // it is no longer that row, or its message is not in this database.
  Result<bool> never_arrived(const InboxRow& row, const Proof& proof, Instant now);

 private:
  Result<bool> claim_and_settle(const std::string& message_id, const Proof& proof, Instant now);
  Result<void> bring_out(std::int64_t outbox_id, Instant now);
  Result<void> remove_copies(const std::string& message_id);

  Store& store_;
  Transport& transport_;
  Random& random_;
  std::int64_t holder_;
};

}  // namespace notify

#pragma once

// Broadcasts: a list of recipients is accepted as one request, and the relay makes a message for each endpoint.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/broadcast_table.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/events.hpp"
#include "core/ports/spool.hpp"
#include "core/ports/store.hpp"

namespace notify {

// One line of a list: an address, or "@ID". The error's field is "to".
Result<void> check_broadcast_recipient(std::string_view line);

// Sets the fingerprint: what is said, and to whom (`source`: the list's name, or "group:NAME", whose members may change
// between two runs of the same job).
void sign_broadcast(NewBroadcast& broadcast, std::string_view source);

// Inserts the request durably. Its list must be in the spool already. A conflict is a result, not an error.
Result<BroadcastInsert> accept_broadcast(Store& store, Clock& clock, CrashPoints& crash_points,
                                         const NewBroadcast& broadcast);

// Makes the messages of OPEN broadcasts, a few hundred in one transaction, so that a relay may die anywhere and another
// goes on. Relays may overlap: the place up to which a list is done moves only from where it was read.
class FanOut {
 public:
  // All outlive this.
  FanOut(Store& store, Spool& spool, Clock& clock, CrashPoints& crash_points, Events& events)
      : store_(store), spool_(spool), clock_(clock), crash_points_(crash_points), events_(events) {}

  // One step for the next OPEN broadcast in turn. How many recipients were looked at; 0: there is nothing to fan out.
  Result<int> step();

  // Removes what no broadcast needs any more, a piece at a time. True: there is more. Once a run, and now and then.
  Result<bool> tidy();

  std::int64_t messages() const noexcept { return messages_; }

 private:
  struct Chunk {
    std::string lines{};   // whole ones
    std::int64_t end = 0;  // of them, in the list
  };

  Result<std::optional<Broadcast>> next();
  Result<std::optional<Chunk>> read_chunk(const Broadcast& broadcast);
  Result<bool> make_messages(const Broadcast& broadcast, const Chunk& chunk, BroadcastStep& step);
  Result<void> make_for(const Broadcast& broadcast, std::string_view recipient, Instant now, BroadcastStep& step);
  Result<void> make_one(const Broadcast& broadcast, std::string_view recipient, const std::string& address,
                        const std::string& locale, Instant now, BroadcastStep& step);
  Result<void> give_up(const Broadcast& broadcast, const std::string& why);

  Store& store_;
  Spool& spool_;
  Clock& clock_;
  CrashPoints& crash_points_;
  Events& events_;
  std::int64_t last_ = 0;  // the broadcast that had its turn
  std::int64_t messages_ = 0;
};

}  // namespace notify

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// What prune looks at and takes away. A message is finished when its outbox row and its claim have come to an end (SENT,
// FAILED, SKIPPED, EXPIRED), and it is neither queued nor parked. ERROR is no end: evidence may still come.
class PruneTable {
 public:
  virtual ~PruneTable() = default;

  struct Page {
    std::vector<std::int64_t> finished{};  // outbox ids: finished before the cutoff (and not scrubbed yet, if asked so)
    std::int64_t last = 0;                 // where the next page begins
    bool more = false;
  };
  // Looks at the rows after `after`, in the order of ids. No write lock is held.
  virtual Result<Page> finished_before(std::int64_t after, Instant cutoff, bool unscrubbed) = 0;

  // Inside Store::write: whether the message was still finished, and has been removed (its key is kept) or scrubbed (its
  // content is gone, its states and its key stay).
  virtual Result<bool> remove(std::int64_t outbox_id, Instant cutoff, Instant now) = 0;
  virtual Result<bool> scrub(std::int64_t outbox_id, Instant cutoff, Instant now) = 0;
  // The schema lets such rows go, or change, only between these two, in one transaction.
  virtual Result<void> begin() = 0;
  virtual Result<void> end() = 0;

  // Empties what broadcasts say that were closed before the cutoff and make no more messages; a page of them.
  virtual Result<int> scrub_broadcasts(Instant cutoff) = 0;

  // Keys of messages that were removed before the cutoff, and alerts that were closed before it; at most a page of each.
  virtual Result<int> forget_keys(Instant cutoff) = 0;
  virtual Result<int> count_keys(Instant cutoff) = 0;
  virtual Result<int> forget_alerts(Instant cutoff) = 0;
  // Receipts that were applied before it.
  virtual Result<int> forget_receipts(Instant cutoff) = 0;
  // Credentials that ended before it, and of which nobody is fetching a new one.
  virtual Result<int> forget_credentials(Instant cutoff) = 0;
};

}  // namespace notify

#pragma once

// Which messages an operator's command is about, when they are not named: found once, at the start.

#include <string>
#include <vector>

#include "core/report.hpp"

namespace notify {

// What a selection is of. Each covers the outbox and the inbox, and what is parked because of it. What `park drop` has
// closed is closed for good: none of them finds it.
enum class SelectionKind {
  kParked,   // set aside
  kFailed,   // FAILED: given up by the relay, refused by the vendor and still parked
  kExpired,  // EXPIRED in the outbox, SKIPPED because it had expired in the inbox
  kSkipped,  // SKIPPED for any other reason: cancelled, opted out, guard
  kError,    // ERROR: the outcome is unknown
};

struct Selected {
  std::vector<std::string> ids{};  // message ids, oldest first within each table, each once
  std::vector<ListRow> first{};    // of these the first ten, to be shown
};

// `filter.state` and `filter.newest_first` are set here. The filters mean what they mean for `list`.
Result<Selected> select_messages(Reports& reports, SelectionKind kind, ListFilter filter, Instant now);

}  // namespace notify

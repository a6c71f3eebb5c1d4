#pragma once

// What a vendor's report does beside settling its message: the address that it calls dead is disabled, the lane that it
// calls broken is halted, and opened when a later message was delivered.

#include <string_view>

#include "core/error.hpp"
#include "core/ports/store.hpp"

namespace notify {

// Whether the receipt is about the call of this row: by the vendor's reference, by its number, or because there was only
// one call that it can mean.
Result<bool> names_call(Store& store, const Receipt& receipt, const InboxRow& row);

// Inside Store::write, in the transaction that applies the report. `row` is the message's as it stood before. What is not
// about the call of this row has no effect: an earlier call may have gone to another address. Doing it twice changes
// nothing.
Result<void> take_effect(Store& store, const Receipt& receipt, const InboxRow& row, std::string_view actor,
                         Instant now);

}  // namespace notify

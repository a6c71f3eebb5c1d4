#pragma once

#include "core/report.hpp"

namespace notify {

// What usually happens leaves no line in a message's history: the rows tell of it. Adds it, so that events and attempts
// hold the whole life: that it was accepted, its publish, and the call of a success at the first try (whose phase and
// bytes nobody kept).
void tell_from_rows(MessageStory& story);

}  // namespace notify

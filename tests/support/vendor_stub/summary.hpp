// Reads request logs back and says whether anything came twice.
#pragma once

#include "settings.hpp"

namespace stub {

// Prints one JSON object; returns the exit status.
int print_summary(const SummarySettings& settings);

}  // namespace stub

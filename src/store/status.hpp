#pragma once

#include <string>
#include <vector>

#include "core/report.hpp"
#include "store/session.hpp"

namespace notify {

// Inside a read transaction.
Result<StatusReport> read_status(Session& session, Instant now, const std::string& filesystem);

// The counters against the tables they stand for (scans them).
Result<std::vector<CounterDrift>> compare_counters(sqlite::Database& database);

}  // namespace notify

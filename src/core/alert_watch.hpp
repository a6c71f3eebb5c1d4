#pragma once

#include "core/reconcile.hpp"

namespace notify {

// Alerts that come of looking (core/alert.hpp lists all): raises them, and closes every alert whose condition is over.
Result<void> watch_alerts(const ReconcilePorts& ports, const Config& config);

}  // namespace notify

#pragma once

// The summaries of the claiming commands, as JSON (PRODUCT's shapes) and in words.

#include <string>

#include "core/reconcile.hpp"
#include "core/relay.hpp"
#include "core/work.hpp"

namespace notify {

std::string summary_json(const RelaySummary& summary);
std::string summary_json(const WorkSummary& summary);
std::string summary_json(const ReconcileSummary& summary);
std::string summary_words(const RelaySummary& summary);  // "published 12, deferred 3"; empty when nothing happened
std::string summary_words(const WorkSummary& summary);
std::string summary_words(const ReconcileSummary& summary);

}  // namespace notify

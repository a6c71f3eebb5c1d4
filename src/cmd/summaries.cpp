#include "cmd/summaries.hpp"

#include <initializer_list>
#include <string_view>
#include <utility>

namespace notify {
namespace {

using NamedCounts = std::initializer_list<std::pair<std::string_view, std::int64_t>>;

std::string as_json(NamedCounts counts) {
  std::string text = "{";
  for (const auto& [name, count] : counts) {
    if (text.size() > 1) text += ',';
    text += '"';
    text += name;
    text += "\":" + std::to_string(count);
  }
  return text + "}";
}

std::string as_words(NamedCounts counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += name;
    text += ' ' + std::to_string(count);
  }
  return text;
}

template <class Format>
std::string each(const RelaySummary& s, Format format) {
  return format({{"recovered", s.recovered},
                 {"published", s.published},
                 {"deferred", s.deferred},
                 {"skipped", s.skipped},
                 {"expired", s.expired},
                 {"failed", s.failed},
                 {"retried", s.retried}});
}

template <class Format>
std::string each(const WorkSummary& s, Format format) {
  return format({{"sent", s.sent},
                 {"failed", s.failed},
                 {"error", s.error},
                 {"retried", s.retried},
                 {"parked", s.parked},
                 {"skipped", s.skipped},
                 {"duplicate", s.duplicate}});
}

template <class Format>
std::string each(const ReconcileSummary& s, Format format) {
  return format({{"recovered", s.recovered},
                 {"errors", s.errors},
                 {"resumed", s.resumed},
                 {"receipts", s.receipts},
                 {"known", s.known},
                 {"rejected", s.rejected},
                 {"unknown", s.unknown},
                 {"settled", s.settled},
                 {"republished", s.republished},
                 {"mended", s.mended},
                 {"alerts", s.alerts}});
}

}  // namespace

std::string summary_json(const RelaySummary& summary) { return each(summary, as_json); }
std::string summary_json(const WorkSummary& summary) { return each(summary, as_json); }
std::string summary_words(const RelaySummary& summary) { return each(summary, as_words); }
std::string summary_json(const ReconcileSummary& summary) { return each(summary, as_json); }
std::string summary_words(const ReconcileSummary& summary) { return each(summary, as_words); }
std::string summary_words(const WorkSummary& summary) { return each(summary, as_words); }

}  // namespace notify

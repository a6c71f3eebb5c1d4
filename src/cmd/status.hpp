#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cmd/command.hpp"
#include "core/report.hpp"

namespace notify {

struct StatusOptions {
  bool prometheus = false;
  std::optional<std::string> output{};
  bool check = false;
  Duration max_age = 15min;
  std::int64_t max_parked = 0;
  std::int64_t max_errors = 0;
  std::int64_t max_alerts = 0;
  std::optional<Duration> watch{};
  std::optional<std::string> broadcast{};
};

Page status_page();
void register_options(OptionSet& set, StatusOptions& options);
Result<int> run(const StatusOptions& options, Context& context);

// status_text.cpp: one screen, the stable JSON object, Prometheus' text format.
std::string status_text(const StatusReport& report, Context& context, std::size_t width);
std::string status_json(const StatusReport& report, Context& context);
std::string status_prometheus(const StatusReport& report);

// status_broadcast.cpp: --broadcast, by key or id.
Result<int> show_broadcast(const std::string& key, Context& context);
tl::unexpected<Error> unknown_broadcast(const std::string& key);

// --check: what a monitoring system gets.
struct Judgement {
  int status = 0;  // 0 all well, 1 warning, 2 critical
  std::string text{};
};
// `fence`: what SqliteStore::check_fence() says; with an error every write is refused.
Judgement judge(const StatusReport& report, const StatusOptions& options, const Result<void>& fence = {});

}  // namespace notify

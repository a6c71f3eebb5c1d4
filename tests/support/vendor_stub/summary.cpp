#include "summary.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "log.hpp"

namespace stub {

namespace {

// The log's own fields come before anything a client can write, and quotes inside values are escaped, so the
// first find is the right one.
std::string_view after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::string_view{} : line.substr(at + key.size());
}

std::uint64_t number_after(std::string_view line, std::string_view key) {
  const std::string_view rest = after(line, key);
  std::uint64_t value = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

// Still escaped, which does for telling ids apart.
std::string_view string_after(std::string_view line, std::string_view key) {
  const std::string_view rest = after(line, key);
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2U : 1U;
  return rest.substr(0, std::min(end, rest.size()));
}

struct Tally {
  Counters counters;
  IdCounter ids;
  std::vector<std::uint64_t> times;
  std::uint64_t refused = 0;
};

void take_line(std::string_view line, Tally& tally, bool keep_time) {
  Counters& counters = tally.counters;
  const std::uint64_t time = number_after(line, "\"t\":");
  ++counters.requests;
  counters.first = counters.first == 0 ? time : std::min(counters.first, time);
  counters.last = std::max(counters.last, time);
  counters.max_in_flight = std::max(counters.max_in_flight, number_after(line, "\"in_flight\":"));
  const bool refused = string_after(line, "\"outcome\":\"") == "refused";
  tally.refused += refused ? 1 : 0;
  tally.ids.count(string_after(line, "\"id\":\""), refused, counters);
  if (keep_time) tally.times.push_back(time);
}

std::uint64_t greatest_in_span(std::vector<std::uint64_t>& times, Nanos span) {
  std::sort(times.begin(), times.end());
  const auto width = static_cast<std::uint64_t>(span.count() / 1000);
  std::size_t greatest = 0, start = 0;
  for (std::size_t end = 0; end < times.size(); ++end) {
    while (times[end] - times[start] >= width) ++start;
    greatest = std::max(greatest, end - start + 1);
  }
  return greatest;
}

}  // namespace

int print_summary(const SummarySettings& settings) {
  Tally tally;
  std::string line;
  for (const std::string& name : settings.files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + name);
    while (std::getline(file, line)) {
      if (line.starts_with("{\"seq\":")) take_line(line, tally, settings.span.has_value());
    }
  }
  std::string out = "{";
  append_counters(out, tally.counters);
  out += ",\"refused\":" + std::to_string(tally.refused);
  if (settings.span) out += ",\"max_per_span\":" + std::to_string(greatest_in_span(tally.times, *settings.span));
  std::cout << out << "}" << std::endl;
  const Counters& counters = tally.counters;
  const std::uint64_t twice = settings.ignore_refused ? counters.taken_duplicates : counters.duplicates;
  return twice > 0 || (settings.expect && counters.distinct != *settings.expect) ? 1 : 0;
}

}  // namespace stub

// The request log, one JSON object a line. Its order of fields is fixed; the summary relies on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "behaviour.hpp"
#include "request.hpp"

namespace stub {

struct Counters {
  std::uint64_t requests = 0;
  std::uint64_t with_id = 0;
  std::uint64_t distinct = 0;
  std::uint64_t duplicates = 0;        // requests whose id had been seen before
  std::uint64_t taken_duplicates = 0;  // the same, leaving out answers that said "not processed"
  std::uint64_t body_bytes = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t max_in_flight = 0;
  std::uint64_t first = 0;  // µs
  std::uint64_t last = 0;
};

// Adds ,"requests":… and so on; shared by the stats page, the closing line and the summary.
void append_counters(std::string& out, const Counters& counters);

// Counts message ids by their hash: eight bytes each, and at a million ids a clash has odds of 3e-8.
class IdCounter {
 public:
  void count(std::string_view id, bool refused, Counters& counters);

 private:
  std::unordered_set<std::uint64_t> seen_;
  std::unordered_set<std::uint64_t> taken_;
};

class RequestLog {
 public:
  // An empty path keeps no log. An existing file is appended to: it is the truth over restarts of the stub.
  RequestLog(const std::string& path, bool with_body);
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  // Buffers the line and counts the request. Nothing may be answered before flush().
  void add(Request& request, const Behaviour& act);

  // Throws when the line cannot be kept: then nothing may be answered at all.
  void flush();

  void settle(std::uint64_t how_many) { counters_.in_flight -= how_many; }
  const Counters& counters() const { return counters_; }

  // Wall time in µs that never runs backwards: taken once, then carried on by the monotonic clock.
  std::uint64_t now() const;

 private:
  void append_line(const Request& request, const Behaviour& act, std::uint64_t time);
  void append_headers(const Request& request);
  void append_body(const Request& request);

  int fd_ = -1;
  bool with_body_ = true;
  std::string buffer_;
  std::int64_t wall_offset_ = 0;
  Counters counters_;
  IdCounter ids_;
};

}  // namespace stub

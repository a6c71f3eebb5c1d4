#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "text.hpp"

namespace stub {

namespace {

std::int64_t micros(auto duration) { return std::chrono::duration_cast<std::chrono::microseconds>(duration).count(); }

std::string_view name_of(Outcome outcome) {
  return outcome == Outcome::taken ? "taken" : outcome == Outcome::refused ? "refused" : "silent";
}

void append_field(std::string& out, std::string_view name, std::uint64_t value) {
  out += name;
  append_number(out, value);
}

}  // namespace

void append_counters(std::string& out, const Counters& counters) {
  append_field(out, "\"requests\":", counters.requests);
  append_field(out, ",\"with_id\":", counters.with_id);
  append_field(out, ",\"distinct\":", counters.distinct);
  append_field(out, ",\"duplicates\":", counters.duplicates);
  append_field(out, ",\"taken_duplicates\":", counters.taken_duplicates);
  append_field(out, ",\"max_in_flight\":", counters.max_in_flight);
  append_field(out, ",\"first\":", counters.first);
  append_field(out, ",\"last\":", counters.last);
}

void IdCounter::count(std::string_view id, bool refused, Counters& counters) {
  if (id.empty()) return;
  const std::uint64_t hash = std::hash<std::string_view>{}(id);
  ++counters.with_id;
  if (seen_.insert(hash).second)
    ++counters.distinct;
  else
    ++counters.duplicates;
  if (!refused && !taken_.insert(hash).second) ++counters.taken_duplicates;
}

RequestLog::RequestLog(const std::string& path, bool with_body) : with_body_(with_body) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  wall_offset_ = micros(wall) - micros(std::chrono::steady_clock::now().time_since_epoch());
  buffer_.reserve(1 << 20);
  if (path.empty()) return;
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) throw std::runtime_error("cannot open log " + path + ": " + std::strerror(errno));
}

RequestLog::~RequestLog() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t RequestLog::now() const {
  return static_cast<std::uint64_t>(wall_offset_ + micros(std::chrono::steady_clock::now().time_since_epoch()));
}

void RequestLog::add(Request& request, const Behaviour& act) {
  const std::uint64_t time = now();
  request.sequence = ++counters_.requests;
  if (counters_.first == 0) counters_.first = time;
  counters_.last = time;
  counters_.body_bytes += request.body.size();
  counters_.max_in_flight = std::max(counters_.max_in_flight, ++counters_.in_flight);
  ids_.count(request.get(Field::message_id), act.outcome() == Outcome::refused, counters_);
  if (fd_ < 0) return;
  append_line(request, act, time);
}

void RequestLog::append_line(const Request& request, const Behaviour& act, std::uint64_t time) {
  append_field(buffer_, "{\"seq\":", request.sequence);
  append_field(buffer_, ",\"t\":", time);
  append_field(buffer_, ",\"conn\":", request.connection);
  append_field(buffer_, ",\"req\":", request.number);
  append_field(buffer_, ",\"in_flight\":", counters_.in_flight);
  buffer_ += ",\"id\":";
  append_json_string(buffer_, request.get(Field::message_id));
  buffer_ += ",\"outcome\":\"";
  buffer_ += name_of(act.outcome());
  buffer_ += "\",\"mode\":";
  append_json_string(buffer_, act.label);
  buffer_ += ",\"proto\":\"";
  buffer_ += request.protocol;
  buffer_ += "\",\"method\":";
  append_json_string(buffer_, request.get(Field::method));
  buffer_ += ",\"path\":";
  append_json_string(buffer_, request.get(Field::path));
  buffer_ += ",\"to\":";
  append_json_string(buffer_, request.get(Field::to));
  append_headers(request);
  append_body(request);
  buffer_ += "}\n";
}

void RequestLog::append_headers(const Request& request) {
  buffer_ += ",\"headers\":{";
  bool first = true;
  for (auto i = static_cast<int>(Field::idempotency_key); i <= static_cast<int>(Field::apns_id); ++i) {
    const std::string_view value = request.get(static_cast<Field>(i));
    if (value.empty()) continue;
    if (!first) buffer_ += ',';
    first = false;
    append_json_string(buffer_, header_name(static_cast<Field>(i)));
    buffer_ += ':';
    append_json_string(buffer_, value);
  }
  buffer_ += '}';
  if (request.all_headers.empty()) return;
  buffer_ += ",\"all_headers\":[";
  for (std::size_t i = 0; i < request.all_headers.size(); ++i) {
    buffer_ += i == 0 ? "[" : ",[";
    append_json_string(buffer_, request.all_headers[i].first);
    buffer_ += ',';
    append_json_string(buffer_, request.all_headers[i].second);
    buffer_ += ']';
  }
  buffer_ += ']';
}

void RequestLog::append_body(const Request& request) {
  if (!request.recipients.empty()) {
    buffer_ += ",\"rcpt\":[";
    for (std::size_t i = 0; i < request.recipients.size(); ++i) {
      if (i > 0) buffer_ += ',';
      append_json_string(buffer_, request.recipients[i]);
    }
    buffer_ += ']';
  }
  append_field(buffer_, ",\"length\":", request.body.size());
  if (with_body_) append_json_bytes(buffer_, "body", request.body);
}

void RequestLog::flush() {
  std::size_t done = 0;
  while (done < buffer_.size() && fd_ >= 0) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::runtime_error(std::string("cannot write the log: ") + std::strerror(errno));
    done += static_cast<std::size_t>(n);
  }
  buffer_.clear();
}

}  // namespace stub

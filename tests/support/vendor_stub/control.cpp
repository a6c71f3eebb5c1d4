// The control pages: what the stub has counted, and changing its mind at run time.
#include <stdexcept>

#include "server.hpp"
#include "text.hpp"

namespace stub {

std::string Server::statistics() const {
  std::string out = "{";
  append_counters(out, log_.counters());
  const auto add = [&](std::string_view name, std::uint64_t value) {
    out += name;
    append_number(out, value);
  };
  add(",\"in_flight\":", log_.counters().in_flight);
  add(",\"body_bytes\":", log_.counters().body_bytes);
  add(",\"connections\":", accepted_);
  add(",\"open_connections\":", open_);
  out += ",\"mode\":";
  append_json_string(out, policy_.mode_label());
  std::unordered_map<std::string, std::uint64_t> by_label;
  for (const auto& [act, count] : used_) by_label[act->label] += count;
  out += ",\"modes\":{";
  bool first = true;
  for (const auto& [label, count] : by_label) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, label);
    add(":", count);
  }
  out += "}}";
  return out;
}

void Server::change(std::string_view what, std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (what == "mode")
    policy_.set_mode(text);
  else if (what == "rules")
    policy_.set_rules(text);
  else if (what == "latency")
    policy_.set_latency(text);
  else
    throw std::invalid_argument("no such page");
}

Response Server::control(const Request& request) {
  Response response;
  response.headers.emplace_back("Content-Type", "application/json");
  std::string_view page = request.get(Field::path);
  if (page.starts_with(control_prefix)) page.remove_prefix(control_prefix.size());
  if (page == "stats") {
    response.body = statistics() + "\n";
    return response;
  }
  try {
    if (request.get(Field::method) != "POST") throw std::invalid_argument("POST to change something");
    change(page, request.body);
    response.body = "{\"ok\":true}\n";
  } catch (const std::exception& error) {
    response.status = 400;
    response.body = "{\"ok\":false,\"error\":";
    append_json_string(response.body, error.what());
    response.body += "}\n";
  }
  return response;
}

}  // namespace stub

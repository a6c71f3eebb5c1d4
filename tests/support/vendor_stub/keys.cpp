#include "keys.hpp"

#include <array>
#include <stdexcept>
#include <unordered_map>

#include "modes.hpp"

namespace stub {

namespace {

using Value = const std::string&;

std::uint64_t number(Value value) {
  const auto parsed = parse_number(value);
  if (!parsed) reject("not a number: " + value);
  return *parsed;
}

std::uint64_t positive(Value value) {
  const std::uint64_t parsed = number(value);
  if (parsed == 0) reject("must be 1 or more");
  return parsed;
}

double probability(Value value) {
  const auto parsed = parse_real(value);
  if (!parsed || *parsed < 0 || *parsed > 1) reject("not between 0 and 1: " + value);
  return *parsed;
}

Nanos duration(Value value) {
  const auto parsed = parse_duration(value);
  if (!parsed) reject("not a duration: " + value);
  return *parsed;
}

bool truth(Value value) {
  if (value == "yes" || value == "1") return true;
  if (value == "no" || value == "0") return false;
  reject("yes or no, not " + value);
}

int status(Value value) {
  const std::uint64_t parsed = number(value);
  if (parsed < 100 || parsed > 999) reject("out of range: " + value);
  return static_cast<int>(parsed);
}

template <class Enum, std::size_t N>
Enum choice(Value value, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (same_ignoring_case(names[i], value)) return static_cast<Enum>(i);
  }
  reject("unknown value " + value);
}

constexpr std::array<std::string_view, 3> last_names{"below", "equal", "above"};
constexpr std::array<std::string_view, 9> smtp_stages{"banner", "ehlo", "starttls", "auth", "mail",
                                                      "rcpt",   "data", "dot",      "quit"};
constexpr std::array<std::string_view, 3> per_names{"", "to", "id"};

// In the order of their numbers.
constexpr std::array<std::string_view, 14> h2_codes{"NO_ERROR",
                                                    "PROTOCOL_ERROR",
                                                    "INTERNAL_ERROR",
                                                    "FLOW_CONTROL_ERROR",
                                                    "SETTINGS_TIMEOUT",
                                                    "STREAM_CLOSED",
                                                    "FRAME_SIZE_ERROR",
                                                    "REFUSED_STREAM",
                                                    "CANCEL",
                                                    "COMPRESSION_ERROR",
                                                    "CONNECT_ERROR",
                                                    "ENHANCE_YOUR_CALM",
                                                    "INADEQUATE_SECURITY",
                                                    "HTTP_1_1_REQUIRED"};

std::uint32_t h2_code(Value value) {
  const auto parsed = parse_number(value);
  return parsed ? static_cast<std::uint32_t>(*parsed) : choice<std::uint32_t>(value, h2_codes);
}

void add_header(Behaviour& act, Value line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) reject("needs a colon: " + line);
  const std::size_t start = line.find_first_not_of(' ', colon + 1);
  act.headers.emplace_back(line.substr(0, colon), start == std::string::npos ? "" : line.substr(start));
}

using Setter = void (*)(Rule&, Value);
using Table = std::unordered_map<std::string_view, Setter>;

const Table& match_keys() {
  static const Table table{
      {"to", [](Rule& r, Value v) { r.match.to = v; }},
      {"path", [](Rule& r, Value v) { r.match.path = v; }},
      {"method", [](Rule& r, Value v) { r.match.method = v; }},
      {"id", [](Rule& r, Value v) { r.match.id = v; }},
      {"body-has", [](Rule& r, Value v) { r.match.body_has = v; }},
      {"conn", [](Rule& r, Value v) { r.match.connection = positive(v); }},
      {"skip", [](Rule& r, Value v) { r.gate.skip = number(v); }},
      {"times", [](Rule& r, Value v) { r.gate.times = number(v); }},
      {"every", [](Rule& r, Value v) { r.gate.every = positive(v); }},
      {"from", [](Rule& r, Value v) { r.gate.from = positive(v); }},
      {"chance", [](Rule& r, Value v) { r.gate.chance = probability(v); }},
      {"per", [](Rule& r, Value v) { r.gate.per = choice<Per>(v, per_names); }},
  };
  return table;
}

const Table& answer_keys() {
  static const Table table{
      {"status", [](Rule& r, Value v) { r.act.status = status(v); }},
      {"reason", [](Rule& r, Value v) { r.act.reason = v; }},
      {"header", [](Rule& r, Value v) { add_header(r.act, v); }},
      {"type", [](Rule& r, Value v) { add_header(r.act, "Content-Type: " + v); }},
      {"location", [](Rule& r, Value v) { add_header(r.act, "Location: " + v); }},
      {"retry-after", [](Rule& r, Value v) { r.act.retry_after = v; }},
      {"body", [](Rule& r, Value v) { r.act.body = v; }},
      {"body-hex", [](Rule& r, Value v) { r.act.body = hex_decode(v); }},
      {"body-file", [](Rule& r, Value v) { r.act.body = read_file(v); }},
      {"sample", [](Rule& r, Value v) { r.act.body = sample_body(v); }},
      {"close", [](Rule& r, Value v) { r.act.then_close = truth(v); }},
      {"wait", [](Rule& r, Value v) { r.act.wait = duration(v); }},
      {"bytes", [](Rule& r, Value v) { r.act.bytes = v; }},
      {"bytes-hex", [](Rule& r, Value v) { r.act.bytes = hex_decode(v); }},
      {"interval", [](Rule& r, Value v) { r.act.interval = duration(v); }},
      {"after", [](Rule& r, Value v) { r.act.after = number(v); }},
      {"size", [](Rule& r, Value v) { r.act.after = number(v); }},
      {"code", [](Rule& r, Value v) { r.act.h2_code = h2_code(v); }},
      {"last", [](Rule& r, Value v) { r.act.last = choice<LastStream>(v, last_names); }},
      {"answer", [](Rule& r, Value v) { r.act.answer = truth(v); }},
      {"at", [](Rule& r, Value v) { r.act.at = choice<SmtpStage>(v, smtp_stages); }},
      {"text", [](Rule& r, Value v) { r.act.text = v; }},
  };
  return table;
}

}  // namespace

void reject(const std::string& what) { throw std::invalid_argument(what); }

void set_key(Rule& rule, const std::string& key, const std::string& value) {
  for (const Table* table : {&match_keys(), &answer_keys()}) {
    const auto found = table->find(key);
    if (found == table->end()) continue;
    try {
      return found->second(rule, value);
    } catch (const std::invalid_argument& error) {
      reject(key + ": " + error.what());
    }
  }
  reject("unknown key " + key);
}

}  // namespace stub

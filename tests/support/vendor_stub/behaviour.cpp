#include "behaviour.hpp"

#include <array>
#include <stdexcept>

#include "modes.hpp"

namespace stub {

namespace {

[[noreturn]] void reject(const std::string& what) { throw std::invalid_argument(what); }

std::uint64_t number_of(const std::string& key, std::string_view value) {
  const auto number = parse_number(value);
  if (!number) reject(key + ": not a number: " + std::string(value));
  return *number;
}

Nanos duration_of(const std::string& key, std::string_view value) {
  const auto duration = parse_duration(value);
  if (!duration) reject(key + ": not a duration: " + std::string(value));
  return *duration;
}

bool truth_of(const std::string& key, std::string_view value) {
  if (value == "yes" || value == "1" || value == "true") return true;
  if (value == "no" || value == "0" || value == "false") return false;
  reject(key + ": yes or no");
}

int status_of(const std::string& key, std::string_view value) {
  const std::uint64_t status = number_of(key, value);
  if (status < 100 || status > 999) reject("status out of range: " + std::string(value));
  return static_cast<int>(status);
}

template <class Enum, std::size_t N>
Enum choice_of(const std::string& key, std::string_view value, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == value) return static_cast<Enum>(i);
  }
  reject(key + ": unknown value " + std::string(value));
}

constexpr std::array<std::string_view, 9> smtp_stage_names{"banner", "ehlo", "starttls", "auth", "mail",
                                                           "rcpt",   "data", "dot",      "quit"};
constexpr std::array<std::string_view, 3> last_names{"below", "equal", "above"};

void add_header(Behaviour& act, const std::string& line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) reject("header needs a colon: " + line);
  const std::size_t value = line.find_first_not_of(' ', colon + 1);
  act.headers.emplace_back(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
}

bool set_match(Match& match, const std::string& key, const std::string& value) {
  if (key == "to") match.to = value;
  else if (key == "path") match.path = value;
  else if (key == "method") match.method = value;
  else if (key == "id") match.id = value;
  else if (key == "body-has") match.body_has = value;
  else if (key == "conn") match.connection = number_of(key, value);
  else return false;
  return true;
}

bool set_gate(Gate& gate, const std::string& key, const std::string& value) {
  if (key == "skip") gate.skip = number_of(key, value);
  else if (key == "times") gate.times = number_of(key, value);
  else if (key == "every") gate.every = number_of(key, value);
  else if (key == "from") gate.from = number_of(key, value);
  else if (key == "chance") gate.chance = parse_real(value).value_or(-1);
  else if (key == "per") gate.per = value;
  else return false;
  if (gate.every == 0) reject("every must be 1 or more");
  if (gate.chance < 0 || gate.chance > 1) reject("chance must be 0 to 1");
  if (!gate.per.empty() && gate.per != "to" && gate.per != "id") reject("per must be to or id");
  return true;
}

bool set_body(Behaviour& act, const std::string& key, const std::string& value) {
  if (key == "body") act.body = value;
  else if (key == "body-hex") act.body = hex_decode(value);
  else if (key == "body-file") act.body = read_file(value);
  else if (key == "sample") act.body = sample_body(value);
  else return false;
  return true;
}

bool set_act(Behaviour& act, const std::string& key, const std::string& value) {
  if (set_body(act, key, value)) return true;
  if (key == "status") act.status = status_of(key, value);
  else if (key == "reason") act.reason = value;
  else if (key == "header") add_header(act, value);
  else if (key == "type") add_header(act, "Content-Type: " + value);
  else if (key == "location") add_header(act, "Location: " + value);
  else if (key == "retry-after") act.retry_after = value;
  else if (key == "bytes") act.bytes = value;
  else if (key == "bytes-hex") act.bytes = hex_decode(value);
  else if (key == "text") act.text = value;
  else if (key == "wait") act.wait = duration_of(key, value);
  else if (key == "interval") act.interval = duration_of(key, value);
  else if (key == "after" || key == "size") act.after = number_of(key, value);
  else if (key == "close") act.then_close = act.announce_close = truth_of(key, value);
  else if (key == "code") act.h2_code = parse_h2_code(value);
  else if (key == "last") act.last = choice_of<LastStream>(key, value, last_names);
  else if (key == "answer") act.answer = truth_of(key, value);
  else if (key == "at") act.at = choice_of<SmtpStage>(key, value, smtp_stage_names);
  else return false;
  return true;
}

void set_key(Rule& rule, const std::string& key, const std::string& value) {
  if (!set_match(rule.match, key, value) && !set_gate(rule.gate, key, value) && !set_act(rule.act, key, value)) {
    reject("unknown key " + key);
  }
}

// "slow:3" or "slow", "3": the name, then its positional arguments. `name` may hold the first of them.
std::vector<std::string> positional_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (word.find('=') != std::string::npos) continue;
    std::size_t start = 0;
    while (out.size() < 8) {
      const std::size_t colon = word.find(':', start);
      out.push_back(word.substr(start, colon - start));
      if (colon == std::string::npos) break;
      start = colon + 1;
    }
  }
  return out;
}

void apply_mode(Rule& rule, const std::vector<std::string>& positional) {
  const Mode* mode = find_mode(positional.front());
  if (mode == nullptr) reject("unknown mode " + positional.front());
  rule.act.kind = mode->kind;
  for (const std::string& word : split_words(mode->presets)) {
    const std::size_t equals = word.find('=');
    set_key(rule, word.substr(0, equals), word.substr(equals + 1));
  }
  if (positional.size() > mode->arguments.size() + 1) reject("too many arguments for " + positional.front());
  for (std::size_t i = 1; i < positional.size(); ++i) {
    if (!positional[i].empty()) set_key(rule, std::string(mode->arguments[i - 1]), positional[i]);
  }
}

bool names_a_body(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.starts_with("body=") || word.starts_with("body-hex=") || word.starts_with("body-file=") ||
        word.starts_with("sample=")) return true;
  }
  return false;
}

std::string built_in_body(int status, const std::string& default_body) {
  return status < 300 ? default_body : R"({"ok":false,"status":)" + std::to_string(status) + "}";
}

std::string label_of(const std::vector<std::string>& words) {
  std::string label;
  for (const std::string& word : words) {
    if (word.size() > 60) continue;  // long bodies have no place on every log line
    if (!label.empty()) label += ' ';
    label += word;
  }
  return label.empty() ? "ok" : label;
}

}  // namespace

Stage Behaviour::stage() const {
  if (kind <= Kind::hello_close) return Stage::connect;
  if (kind <= Kind::early) return Stage::head;
  return kind < Kind::smtp_log ? Stage::whole : Stage::smtp;
}

Outcome Behaviour::outcome() const {
  switch (kind) {
    case Kind::reply:
      return status < 300 ? Outcome::taken : Outcome::refused;
    case Kind::drip: case Kind::cut_body: case Kind::cut_body_rst: case Kind::endless: case Kind::idle_close:
    case Kind::idle_rst: case Kind::smtp_log:
      return Outcome::taken;
    case Kind::h2_error:
      return h2_code == 7 || h2_code == 13 ? Outcome::refused : Outcome::silent;
    case Kind::h2_goaway:
      return last == LastStream::below ? Outcome::refused : answer ? Outcome::taken : Outcome::silent;
    case Kind::smtp_reply:
      return text.starts_with('2') ? Outcome::taken : Outcome::refused;
    default:
      return Outcome::silent;
  }
}

Rule parse_rule(const std::vector<std::string>& words, const std::string& default_body) {
  Rule rule;
  rule.act.body.clear();
  rule.act.label = label_of(words);
  std::vector<std::string> positional = positional_words(words);
  for (const std::string& word : words) {
    if (word.starts_with("mode=")) {
      const auto named = positional_words({word.substr(5)});
      positional.insert(positional.begin(), named.begin(), named.end());
    }
  }
  if (!positional.empty()) apply_mode(rule, positional);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || word.starts_with("mode=")) continue;
    set_key(rule, word.substr(0, equals), word.substr(equals + 1));
  }
  if (rule.act.body.empty() && !names_a_body(words)) rule.act.body = built_in_body(rule.act.status, default_body);
  return rule;
}

bool is_mode_name(std::string_view text) { return find_mode(text.substr(0, text.find(':'))) != nullptr; }

std::uint32_t parse_h2_code(std::string_view text) {
  constexpr std::array<std::string_view, 14> names{
      "NO_ERROR",     "PROTOCOL_ERROR",    "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
      "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL",             "COMPRESSION_ERROR",
      "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (same_ignoring_case(names[i], text)) return static_cast<std::uint32_t>(i);
  }
  return static_cast<std::uint32_t>(number_of("code", text));
}

}  // namespace stub

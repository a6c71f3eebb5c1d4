#include "policy.hpp"

#include <algorithm>
#include <stdexcept>

namespace stub {

namespace {

constexpr std::size_t max_cached_paths = 4096;

bool fits(const std::string& pattern, std::string_view value) { return pattern.empty() || glob(pattern, value); }

bool any_recipient_fits(const std::string& pattern, const Request& request) {
  if (fits(pattern, request.get(Field::to))) return true;
  return std::any_of(request.recipients.begin(), request.recipients.end(),
                     [&](const std::string& to) { return fits(pattern, to); });
}

bool matches(const Match& match, const Request& request) {
  return (match.connection == 0 || match.connection == request.connection) && any_recipient_fits(match.to, request) &&
         fits(match.path, request.get(Field::path)) && fits(match.method, request.get(Field::method)) &&
         fits(match.id, request.get(Field::message_id)) &&
         (match.body_has.empty() || request.body.find(match.body_has) != std::string::npos);
}

// "/slow:3/x?wait=2&junk=1" gives {"slow:3", "wait=2", "junk=1"}.
std::vector<std::string> words_of_path(std::string_view path) {
  const std::size_t query = std::min(path.find('?'), path.size());
  const std::size_t slash = std::min(path.find('/', 1), query);
  std::vector<std::string> words{percent_decode(path.substr(1, slash - 1), false)};
  for (std::size_t at = query + 1; at < path.size();) {
    const std::size_t end = std::min(path.find('&', at), path.size());
    words.push_back(percent_decode(path.substr(at, end - at), false));
    at = end + 1;
  }
  return words;
}

// A query may also hold words of the application; those the parser does not know are dropped. A client may
// not make the stub read files.
std::vector<std::string> known_words(std::vector<std::string> words, const std::string& ok_body) {
  const auto unknown = [&](const std::string& word) {
    if (word == words.front()) return false;
    if (word.find('=') == std::string::npos || word.starts_with("body-file=")) return true;
    try {
      parse_rule({word}, ok_body);
      return false;
    } catch (const std::invalid_argument&) {
      return true;
    }
  };
  std::vector<std::string> kept;
  std::copy_if(words.begin(), words.end(), std::back_inserter(kept), [&](const auto& word) { return !unknown(word); });
  return kept;
}

// A path is known only once the head is read, which is the earliest these can act.
Kind earliest_by_path(Kind kind) {
  switch (kind) {
    case Kind::accept_rst:
    case Kind::first_rst: return Kind::head_rst;
    case Kind::accept_close:
    case Kind::first_close:
    case Kind::unread_close: return Kind::head_close;
    case Kind::accept_hang: return Kind::never_read;
    default: return kind;
  }
}

Rule parse_failure(const std::string& text, const std::string& ok_body) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw std::invalid_argument("--fail wants P:STATUS or P:MODE, not " + text);
  std::vector<std::string> words = split_words(text.substr(colon + 1));
  if (!words.empty() && parse_number(words.front())) words.front() = "status=" + words.front();
  words.push_back("chance=" + text.substr(0, colon));
  return parse_rule(words, ok_body);
}

}  // namespace

Latency parse_latency(std::string_view text) {
  Latency latency;
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos) {
    const std::string_view shape = text.substr(comma + 1);
    if (shape != "uniform" && shape != "normal") throw std::invalid_argument("latency: uniform or normal");
    latency.uniform = shape == "uniform";
    text = text.substr(0, comma);
  }
  std::size_t sign = text.find("±");
  std::size_t width = std::string_view("±").size();
  if (sign == std::string_view::npos) sign = text.find("+-"), width = 2;
  const auto mean = parse_duration(text.substr(0, sign));
  const auto spread = sign == std::string_view::npos ? Nanos(0) : parse_duration(text.substr(sign + width));
  if (!mean || !spread) throw std::invalid_argument("latency: cannot read " + std::string(text));
  latency.mean = *mean;
  latency.spread = *spread;
  return latency;
}

Policy::Policy(const PolicySettings& settings) : settings_(settings), random_(settings.seed) {
  plain_ = &store_.emplace_back(parse_rule({"ok"}, settings_.ok_body));
  set_mode(settings_.mode);
  set_rules(settings_.rules_text);
  for (const std::string& failure : settings_.failures) {
    failures_.push_back(&store_.emplace_back(parse_failure(failure, settings_.ok_body)));
  }
}

void Policy::set_mode(std::string_view text) {
  default_ = &store_.emplace_back(parse_rule(split_words(text), settings_.ok_body));
}

void Policy::set_rules(std::string_view text) {
  std::vector<Rule> parsed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const auto words = line.starts_with('#') ? std::vector<std::string>{} : split_words(line);
    if (!words.empty()) parsed.push_back(parse_rule(words, settings_.ok_body));
  }
  rules_.clear();  // only now: a bad file leaves the old rules in force
  for (Rule& rule : parsed) rules_.push_back(&store_.emplace_back(std::move(rule)));
}

void Policy::set_latency(std::string_view text) { settings_.latency = parse_latency(text); }

bool Policy::gate_opens(Rule& rule, const Request& request) {
  const Gate& gate = rule.gate;
  if (request.number < gate.from) return false;
  if (gate.chance < 1 && std::uniform_real_distribution<double>(0, 1)(random_) >= gate.chance) return false;
  if (gate.skip == 0 && gate.times == UINT64_MAX && gate.every == 1) return true;
  std::string key;
  if (gate.per == Per::to) key = request.get(Field::to);
  if (gate.per == Per::id) key = request.get(Field::message_id);
  Count& count = rule.counts[key];
  ++count.seen;
  if (count.seen <= gate.skip || (count.seen - gate.skip) % gate.every != 0 || count.hits >= gate.times) return false;
  ++count.hits;
  return true;
}

bool Policy::applies(Rule& rule, Stage stage, const Request& request, SmtpStage at) {
  if (rule.act.stage() != stage || (stage == Stage::smtp && rule.act.at != at)) return false;
  return matches(rule.match, request) && gate_opens(rule, request);
}

Rule* Policy::rule_of_path(std::string_view path) {
  if (!settings_.path_modes || path.size() < 2) return nullptr;
  const std::size_t end = path.find_first_of("/?", 1);
  if (!is_mode_name(path.substr(1, end - 1))) return nullptr;
  const auto found = paths_.find(std::string(path));
  if (found != paths_.end()) return found->second;
  if (paths_.size() >= max_cached_paths) return nullptr;
  Rule* rule = nullptr;
  try {
    rule = &store_.emplace_back(parse_rule(known_words(words_of_path(path), settings_.ok_body), settings_.ok_body));
  } catch (const std::invalid_argument&) {
    // Not one of ours after all, such as /code:abc.
  }
  if (rule != nullptr) rule->act.kind = earliest_by_path(rule->act.kind);
  paths_.emplace(path, rule);
  return rule;
}

const Behaviour* Policy::decide(Stage stage, const Request& request, SmtpStage at) {
  for (Rule* rule : rules_) {
    if (applies(*rule, stage, request, at)) return &rule->act;
  }
  if (stage == Stage::head || stage == Stage::whole) {
    Rule* rule = rule_of_path(request.get(Field::path));
    if (rule != nullptr && applies(*rule, stage, request, at)) return &rule->act;
    if (rule != nullptr) return nullptr;  // of another stage, or its gate is shut: plain 200, not the default
  }
  if (applies(*default_, stage, request, at)) return &default_->act;
  return nullptr;
}

const Behaviour* Policy::at_connect(std::uint64_t connection) {
  Request request;
  request.connection = request.number = connection;
  return decide(Stage::connect, request, SmtpStage::banner);
}

const Behaviour* Policy::at_head(const Request& request) { return decide(Stage::head, request, SmtpStage::banner); }

const Behaviour* Policy::at_smtp(SmtpStage stage, const Request& request) {
  return decide(Stage::smtp, request, stage);
}

const Behaviour* Policy::chance_failure(const Request& request) {
  for (Rule* rule : failures_) {
    if (gate_opens(*rule, request)) return &rule->act;
  }
  return nullptr;
}

Nanos Policy::draw_latency() {
  const auto mean = static_cast<double>(settings_.latency.mean.count());
  const auto spread = static_cast<double>(settings_.latency.spread.count());
  if (spread <= 0) return settings_.latency.mean;
  const double drawn = settings_.latency.uniform
                           ? std::uniform_real_distribution<double>(mean - spread, mean + spread)(random_)
                           : std::normal_distribution<double>(mean, spread)(random_);
  return Nanos(static_cast<std::int64_t>(std::max(0.0, drawn)));
}

Plan Policy::at_end(const Request& request, Vendor* vendor) {
  const Behaviour* act = decide(Stage::whole, request, SmtpStage::banner);
  if (act == nullptr) act = &plain_->act;
  if (act->is_plain_success()) {
    const Behaviour* failure = chance_failure(request);
    if (failure != nullptr)
      act = failure;
    else if (vendor != nullptr)
      act = &vendor->answer(request);
  }
  return with_latency(*act);
}

Plan Policy::with_latency(const Behaviour& act) { return {&act, act.wait + draw_latency()}; }

}  // namespace stub

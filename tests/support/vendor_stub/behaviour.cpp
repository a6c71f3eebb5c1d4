#include "behaviour.hpp"

#include <stdexcept>

#include "keys.hpp"
#include "modes.hpp"

namespace stub {

namespace {

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
        word.starts_with("sample="))
      return true;
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
  if (kind <= Kind::unread_close) return Stage::connect;
  if (kind <= Kind::early) return Stage::head;
  return kind < Kind::smtp_log ? Stage::whole : Stage::smtp;
}

Outcome Behaviour::outcome() const {
  switch (kind) {
    case Kind::reply: return status < 300 ? Outcome::taken : Outcome::refused;
    case Kind::drip:
    case Kind::cut_body:
    case Kind::cut_body_rst:
    case Kind::endless:
    case Kind::idle_close:
    case Kind::idle_rst:
    case Kind::smtp_log: return Outcome::taken;
    case Kind::h2_error: return h2_code == 7 || h2_code == 13 ? Outcome::refused : Outcome::silent;
    case Kind::h2_goaway:
      return last == LastStream::below ? Outcome::refused : answer ? Outcome::taken : Outcome::silent;
    case Kind::smtp_reply: return text.starts_with('2') ? Outcome::taken : Outcome::refused;
    default: return Outcome::silent;
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

}  // namespace stub

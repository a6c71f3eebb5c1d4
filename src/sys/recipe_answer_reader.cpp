// Answers, look-ups and receipts of a recipe.

#include <algorithm>
#include <array>
#include <charconv>

#include "core/ascii.hpp"
#include "core/message.hpp"
#include "sys/recipe_reader.hpp"

namespace notify::recipe_file {
namespace {

constexpr std::string_view kHeaderSource = "header:";
constexpr std::size_t kLongestValue = 256;

std::optional<RecipeSource> parse_source(std::string_view text) {
  RecipeSource source;
  if (text.starts_with(kHeaderSource)) {
    source.header = lowered(text.substr(kHeaderSource.size()));
    if (source.header.empty()) return std::nullopt;
    return source;
  }
  auto pointer = parse_pointer(text);
  if (!pointer || pointer->empty()) return std::nullopt;
  source.pointer = std::move(*pointer);
  return source;
}

std::optional<int> status_in(std::string_view text) {
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (error != std::errc{} || end != text.data() + text.size() || status < 200 || status > 599) return std::nullopt;
  return status;
}

// "200", "4xx", "400-499"
std::optional<std::pair<int, int>> status_range(std::string_view text) {
  if (text.size() == 3 && text.ends_with("xx") && text[0] >= '2' && text[0] <= '5') {
    const int hundred = (text[0] - '0') * 100;
    return std::pair(hundred, hundred + 99);
  }
  const std::size_t dash = text.find('-');
  const auto from = status_in(text.substr(0, dash));
  const auto to = dash == std::string_view::npos ? from : status_in(text.substr(dash + 1));
  if (!from || !to || *from > *to) return std::nullopt;
  return std::pair(*from, *to);
}

// What a report says beside what became of its message.
void read_effects(Section& section, bool proves, bool& disable_endpoint, bool& halt_channel) {
  section.boolean("disable_endpoint", disable_endpoint);
  section.boolean("halt_channel", halt_channel);
  for (const auto& [key, set] :
       {std::pair{"disable_endpoint", disable_endpoint}, std::pair{"halt_channel", halt_channel}})
    if (set && !proves) section.problem(key, "means something only with outcome = \"accepted\" or \"refused\"");
}

bool is_word(std::string_view text) {
  return text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

std::optional<std::vector<std::string>> parse_pointer(std::string_view text) {
  std::vector<std::string> segments;
  if (text.empty()) return segments;
  if (text.front() != '/') return std::nullopt;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('/'), text.size());
    std::string segment;
    for (std::size_t i = 0; i < end; ++i) {
      if (text[i] != '~') {
        segment += text[i];
        continue;
      }
      if (i + 1 >= end || (text[i + 1] != '0' && text[i + 1] != '1')) return std::nullopt;
      segment += text[++i] == '0' ? '~' : '/';
    }
    segments.push_back(std::move(segment));
    text.remove_prefix(end);
  }
  if (segments.size() > limits::kJsonDepth) return std::nullopt;
  return segments;
}

bool RecipeReader::source(Section& section, std::string_view key, RecipeSource& target) {
  std::string written;
  if (!section.text(key, written)) return false;
  auto parsed = parse_source(written);
  if (!parsed)
    return section.problem(key, "is neither a JSON pointer nor header:NAME",
                           "\"/message/id\", \"header:X-Message-Id\""),
           false;
  target = std::move(*parsed);
  return true;
}

bool RecipeReader::sources(Section& section, std::string_view key, std::vector<RecipeSource>& target) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return false;
  std::vector<std::string> written(1);
  if (node->is_array() ? !section.texts(key, written) : !section.text(key, written.front())) return false;
  for (const std::string& one : written) {
    auto parsed = parse_source(one);
    if (!parsed)
      return section.problem(key, "\"" + one + "\" is neither a JSON pointer nor header:NAME",
                             "\"/message/id\", \"header:X-Message-Id\""),
             false;
    target.push_back(std::move(*parsed));
  }
  return true;
}

bool RecipeReader::pointer(Section& section, std::string_view key, std::optional<std::vector<std::string>>& target) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return false;
  const auto written = node->value_exact<std::string>();
  target = written ? parse_pointer(*written) : std::nullopt;
  if (!target) return section.problem(key, "is not a JSON pointer", "\"/messages\", or \"\" for the whole"), false;
  return true;
}

// --- what an answer must be

void RecipeReader::read_statuses(Section& section, std::vector<std::pair<int, int>>& statuses) {
  const toml::node* node = section.find("status");
  if (node == nullptr) return;
  const auto take = [&](const toml::node& item) {
    const std::optional<std::string> written = scalar_text(item);
    const auto range = written ? status_range(*written) : std::nullopt;
    if (!range)
      source_.problem(item, section.full("status"), "is no status from 200 to 599",
                      "200, [200, 202], \"5xx\", \"400-499\"");
    else
      statuses.push_back(*range);
  };
  const toml::array* list = node->as_array();
  if (list == nullptr) return take(*node);
  if (list->empty()) section.problem("status", "must not be an empty list");
  for (const toml::node& item : *list) take(item);
}

// `/…/` is a regular expression, everything else a value.
void RecipeReader::read_word(const toml::node& node, const std::string& where, RecipeWords& words) {
  std::optional<std::string> word = scalar_text(node);
  if (!word || word->size() > kLongestValue)
    return source_.problem(node, where, "must be a text, a whole number or a boolean, or a list of them");
  if (word->size() < 3 || !word->starts_with('/') || !word->ends_with('/'))
    return words.values.push_back(std::move(*word));
  Result<Pattern> pattern = Pattern::parse(std::string_view(*word).substr(1, word->size() - 2));
  if (!pattern) return source_.problem(node, where, pattern.error().message, "its syntax is RE2's; ( is written \\\\(");
  words.patterns.push_back(std::move(*pattern));
}

// One, or a list of them.
void RecipeReader::read_words(const toml::node& node, const std::string& where, RecipeWords& words) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return read_word(node, where, words);
  for (const toml::node& item : *list) read_word(item, where, words);
  if (list->empty()) source_.problem(node, where, "must not be an empty list");
}

void RecipeReader::read_tests(Section& section, std::string_view key, bool headers, std::vector<RecipeTest>& tests) {
  const toml::table* table = section.table(key);
  if (table == nullptr) return;
  for (const auto& [name, node] : *table) {
    const std::string where = section.full(key) + "." + std::string(name.str());
    RecipeTest test;
    const auto parsed =
        parse_source(headers ? std::string(kHeaderSource) + std::string(name.str()) : std::string(name.str()));
    if (!parsed) {
      source_.problem(node, where, "is not a JSON pointer", "it begins with /: \"/error/code\"");
      continue;
    }
    test.source = *parsed;
    read_words(node, where, test.words);
    tests.push_back(std::move(test));
  }
}

void RecipeReader::read_match(Section& section, RecipeMatch& match) {
  read_statuses(section, match.statuses);
  read_tests(section, "json", false, match.tests);
  read_tests(section, "header", true, match.tests);
  if (const toml::node* text = section.find("text")) read_words(*text, section.full("text"), match.text);
}

void RecipeReader::read_wait(Section& section, RecipeAnswer& answer) {
  const toml::node* node = section.find("retry_after");
  if (node == nullptr) return;
  const toml::table* table = node->as_table();
  if (table == nullptr) {
    Duration wait{};
    if (section.duration("retry_after", wait, config_file::kShortest, std::chrono::hours(24))) answer.wait = wait;
    return;
  }
  Section wait(source_, *table, section.full("retry_after"), {});
  wait.check_keys({"json", "header", "unit", "default"});
  RecipeWait from;
  if ((wait.find("json") == nullptr) == (wait.find("header") == nullptr))
    return section.problem("retry_after", "needs one of json and header");
  if (std::string header; wait.text("header", header))
    from.source.header = lowered(header);
  else if (!source(wait, "json", from.source))
    return;
  using Unit = RecipeWait::Unit;
  if (const auto unit = wait.choice("unit", {"s", "ms", "epoch"}))
    from.unit = std::array{Unit::kSeconds, Unit::kMilliseconds, Unit::kEpoch}.at(*unit);
  if (Duration otherwise{}; wait.duration("default", otherwise)) answer.wait = otherwise;
  answer.wait_from = std::move(from);
}

void RecipeReader::read_answer(Section& section, std::vector<RecipeAnswer>& answers) {
  constexpr std::array kClasses{OutcomeClass::kSent, OutcomeClass::kPermanent, OutcomeClass::kNotSent,
                                OutcomeClass::kUnknown};
  RecipeAnswer answer;
  answer.line = static_cast<int>(section.node().source().begin.line);
  read_match(section, answer.match);
  section.require("outcome");
  if (const auto word = section.choice("outcome", {"sent", "permanent", "not_sent", "unknown"}))
    answer.cls = kClasses.at(*word);
  section.boolean("disable_endpoint", answer.disable_endpoint);
  section.boolean("halt_channel", answer.halt_channel);
  if (bool wide = false; section.boolean("lane_wide", wide)) answer.lane_wide = wide;
  section.boolean("refresh_token", answer.refresh_token);
  read_wait(section, answer);
  section.text("reason", answer.reason);

  const auto only = [&](std::string_view key, bool set, bool allowed, std::string_view with) {
    if (set && !allowed) section.problem(key, "means something only with outcome = \"" + std::string(with) + "\"");
  };
  const bool not_sent = answer.cls == OutcomeClass::kNotSent;
  only("refresh_token", answer.refresh_token, not_sent, "not_sent");
  only("lane_wide", answer.lane_wide.has_value(), not_sent, "not_sent");
  only("disable_endpoint", answer.disable_endpoint, answer.cls == OutcomeClass::kPermanent, "permanent");
  if (answer.refresh_token && !recipe_.token) section.problem("refresh_token", "the recipe has no [token]");
  if (!is_word(answer.reason)) section.problem("reason", "must be a word of a-z, 0-9, - and _");
  const bool whole = &answers == &recipe_.answers;
  if (answer.cls == OutcomeClass::kSent && whole && answer.match.statuses.empty())
    section.problem("status", "is missing: an acceptance names its status");
  if (answer.cls == OutcomeClass::kSent && !whole && answer.match.tests.empty())
    section.problem("json", "is missing: an acceptance names what the result says");
  answers.push_back(std::move(answer));
}

void RecipeReader::read_evidence(Section& section, RecipeEvidence& evidence) {
  sources(section, "reference", evidence.reference);
  sources(section, "code", evidence.code);
  sources(section, "text", evidence.text);
}

// What tells an element of a list from the others.
void RecipeReader::read_find(Section& section, RecipeRoots roots,
                             std::vector<std::pair<RecipeSource, RecipeText>>& find) {
  std::vector<RecipeMember> members;
  read_members(section, "find", roots, members);
  for (RecipeMember& member : members) {
    auto parsed = parse_source(member.name);
    if (!parsed)
      section.problem("find", "\"" + member.name + "\" is not a JSON pointer");
    else
      find.emplace_back(std::move(*parsed), std::move(member.value));
  }
}

// --- look-up

void RecipeReader::read_look_up(Section& section) {
  using Kind = LookUpAnswer::Kind;
  RecipeLookUp& look_up = recipe_.look_up.emplace();
  conditions(section, "needs", recipe_roots::kQuestion, look_up.needs);
  const RecipeRoots roots = recipe_roots::kQuestion | credentials();
  section.require("request");
  if (auto request = child(section, "request", "request")) read_request(*request, look_up.request, roots, true);
  look_up.answered.statuses = {{200, 200}};
  if (const toml::table* table = section.table("answered")) {
    Section answered(source_, *table, section.full("answered"), {});
    answered.check_keys({"status", "json", "header", "text"});
    look_up.answered = {};
    read_match(answered, look_up.answered);
  }
  pointer(section, "list", look_up.list);
  read_find(section, roots, look_up.find);
  if (!look_up.find.empty() && !look_up.list) section.problem("find", "needs list");
  if (look_up.list && look_up.find.empty()) section.problem("list", "needs find, which says what is ours in it");
  if (const auto absent = section.choice("absent", {"unknown", "never_arrived"}))
    look_up.absent = *absent == 0 ? Kind::kUnknown : Kind::kNeverArrived;
  each(section, "answer", "look_up.answer", [&](Section& one) {
    RecipeLookUpRule rule;
    read_match(one, rule.match);
    one.require("outcome");
    if (const auto word = one.choice("outcome", {"accepted", "refused", "never_arrived", "unknown"}))
      rule.kind = std::array{Kind::kAccepted, Kind::kRefused, Kind::kNeverArrived, Kind::kUnknown}.at(*word);
    const bool proves = rule.kind == Kind::kAccepted || rule.kind == Kind::kRefused;
    read_effects(one, proves, rule.disable_endpoint, rule.halt_channel);
    one.text("reason", rule.reason);
    if (!is_word(rule.reason)) one.problem("reason", "must be a word of a-z, 0-9, - and _");
    look_up.rules.push_back(std::move(rule));
  });
  if (look_up.rules.empty()) section.problem("answer", "no rule says what an answer means");
  if (auto evidence = child(section, "evidence", "evidence")) read_evidence(*evidence, look_up.evidence);
}

// --- receipts

void RecipeReader::read_receipt_signature(Section& section) {
  using Kind = RecipeReceiptSignature::Kind;
  RecipeReceiptSignature& way = recipe_.receipt->signatures.emplace_back();
  read_tests(section, "header", true, way.match.tests);
  section.require("value");
  source(section, "value", way.source);
  text(section, "prefix", recipe_roots::kReceived, way.prefix);
  if (section.find("algorithm") == nullptr) {
    section.require("expected");
    text(section, "expected", recipe_roots::kSettings, way.expected);
    return;
  }
  if (section.find("expected") != nullptr) section.problem("expected", "is for a word without algorithm");
  const auto algorithm = section.choice("algorithm", {"hmac-sha256", "hmac-sha1", "ecdsa-p256-sha256"});
  way.kind = algorithm == 2U ? Kind::kEcdsa : Kind::kHmac;
  if (algorithm == 1U) way.made.algorithm = RecipeSignature::Algorithm::kHmacSha1;
  read_signed_text(section, way.made, recipe_roots::kReceived);
  if (way.kind == Kind::kEcdsa && way.made.encoding != RecipeSignature::Encoding::kBase64)
    section.problem("encoding", "must be base64 where the algorithm is ecdsa-p256-sha256");
}

// One way in which they are signed, or several.
void RecipeReader::read_receipt_signatures(Section& section) {
  if (const toml::node* node = section.find("signature"); node != nullptr && node->is_array())
    return each(section, "signature", "receipt.signature", [this](Section& one) { read_receipt_signature(one); });
  if (auto one = child(section, "signature", "receipt.signature")) read_receipt_signature(*one);
}

void RecipeReader::read_receipt(Section& section) {
  RecipeReceipt& receipt = recipe_.receipt.emplace();
  if (const auto body = section.choice("body", {"json", "form"}))
    receipt.body = *body == 0 ? RecipeReceipt::Body::kJson : RecipeReceipt::Body::kForm;
  pointer(section, "list", receipt.list);
  section.boolean("single", receipt.single);
  if (receipt.single && !receipt.list) section.problem("single", "needs list");
  if (receipt.list && receipt.body == RecipeReceipt::Body::kForm) section.problem("list", "a form holds no list");
  sources(section, "message_id", receipt.message_id);
  if (const auto form = section.choice("id_form", {"whole", "short"}))
    receipt.id_form = *form == 0 ? RecipeReceipt::IdForm::kWhole : RecipeReceipt::IdForm::kShort;
  sources(section, "reference", receipt.reference);
  sources(section, "reason", receipt.reason);
  if (receipt.message_id.empty() && receipt.reference.empty())
    section.problem("message_id", "is missing: a receipt names its message by message_id or reference");
  each(section, "rule", "receipt.rule", [&](Section& one) {
    RecipeReceiptRule rule;
    read_tests(one, "json", false, rule.match.tests);
    one.require("outcome");
    if (const auto word = one.choice("outcome", {"accepted", "refused", "ignore"}); word && *word < 2)
      rule.verdict = *word == 0 ? ReceiptVerdict::kAccepted : ReceiptVerdict::kRefused;
    read_effects(one, rule.verdict.has_value(), rule.disable_endpoint, rule.halt_channel);
    receipt.rules.push_back(std::move(rule));
  });
  if (receipt.rules.empty()) section.problem("rule", "no rule says what a receipt means");
  read_receipt_signatures(section);
}

}  // namespace notify::recipe_file

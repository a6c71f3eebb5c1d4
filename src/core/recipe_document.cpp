#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/ascii.hpp"
#include "core/message.hpp"
#include "core/policy.hpp"
#include "core/recipe_answer.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kAny = "*";

// Depth is bounded before anything else: the library recurses when it copies and destroys.
Json parse(std::string_view body) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= static_cast<int>(limits::kJsonDepth);
  };
  int depth = 0;
  int deepest = 0;
  bool string = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (string) {
      if (c == '\\') ++i;
      if (c == '"') string = false;
    } else if (c == '"') {
      string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  if (deepest > static_cast<int>(limits::kJsonDepth)) return Json(Json::value_t::discarded);
  return Json::parse(body, shallow, false);
}

std::optional<std::string> text_in(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string: return value.get<std::string>();
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return value.dump();
    default: return std::nullopt;
  }
}

const Json* child(const Json& value, const std::string& segment) {
  if (value.is_object()) {
    const auto found = value.find(segment);
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array() || segment.empty() || segment.size() > 6) return nullptr;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  if (error != std::errc{} || end != segment.data() + segment.size() || index >= value.size()) return nullptr;
  return &value[index];
}

const Json* descendant(const Json& value, std::span<const std::string> pointer) {
  const Json* at = &value;
  for (const std::string& segment : pointer)
    if (at != nullptr) at = child(*at, segment);
  return at;
}

// Every value that the pointer names; false as soon as one is missing or refused by `judge`. With `*` there must be one.
template <class Judge>
bool all_of(const Json& value, std::span<const std::string> pointer, const Judge& judge) {
  if (pointer.empty()) return judge(value);
  const auto rest = pointer.subspan(1);
  if (pointer.front() != kAny || (value.is_object() && value.contains(kAny))) {
    const Json* next = child(value, pointer.front());
    return next != nullptr && all_of(*next, rest, judge);
  }
  if (!value.is_structured() || value.empty()) return false;
  return std::all_of(value.begin(), value.end(), [&](const Json& each) { return all_of(each, rest, judge); });
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_inside(std::string_view text, std::string_view range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return false;
  const auto low = whole(range.substr(0, dots));
  const auto high = whole(range.substr(dots + 2));
  const auto number = whole(text);
  return low && high && number && *low <= *number && *number <= *high;
}

}  // namespace

bool is_one_of(std::string_view text, std::span<const std::string> values) {
  const std::string low = lowered(text);
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    if (value == kAny) return true;
    const std::string wanted = lowered(value);
    if (wanted == low || is_inside(text, value)) return true;
    return wanted.find('*') != std::string::npos && glob_match(wanted, low);
  });
}

namespace {

bool fits(std::string_view text, const RecipeWords& words) {
  return is_one_of(text, words.values) ||
         std::any_of(words.patterns.begin(), words.patterns.end(), [&](const Pattern& p) { return p.found_in(text); });
}

}  // namespace

struct RecipeDocument::Node {
  Json json{};
};

RecipeDocument::RecipeDocument(std::string_view body, std::span<const std::pair<std::string, std::string>> headers)
    : body_(body), headers_(headers.begin(), headers.end()), node_(std::make_unique<Node>(Node{parse(body)})) {}
RecipeDocument::RecipeDocument(std::unique_ptr<Node> node) : node_(std::move(node)) {}
RecipeDocument::~RecipeDocument() = default;
RecipeDocument::RecipeDocument(RecipeDocument&&) noexcept = default;
RecipeDocument& RecipeDocument::operator=(RecipeDocument&&) noexcept = default;

RecipeDocument RecipeDocument::of_form(std::span<const std::pair<std::string, std::string>> form) {
  auto node = std::make_unique<Node>(Node{Json::object()});
  for (const auto& [name, value] : form) node->json.emplace(name, value);
  return RecipeDocument(std::move(node));
}

bool RecipeDocument::is_json() const noexcept { return !node_->json.is_discarded(); }

std::optional<std::string> RecipeDocument::value(const RecipeSource& source) const {
  if (!source.header.empty()) {
    for (const auto& [name, value] : headers_)
      if (name == source.header) return value;
    return std::nullopt;
  }
  const Json* at = &node_->json;
  for (const std::string& segment : source.pointer) {
    // The first element stands for `*`.
    if (segment == kAny && at->is_structured() && !at->empty() && !(at->is_object() && at->contains(segment))) {
      at = &*at->begin();
      continue;
    }
    at = child(*at, segment);
    if (at == nullptr) return std::nullopt;
  }
  return text_in(*at);
}

std::optional<std::string> RecipeDocument::first_of(const std::vector<RecipeSource>& sources) const {
  for (const RecipeSource& source : sources)
    if (std::optional<std::string> found = value(source); found && !found->empty()) return found;
  return std::nullopt;
}

std::string RecipeDocument::joined(const std::vector<RecipeSource>& sources) const {
  std::string out;
  for (const RecipeSource& source : sources) {
    const std::optional<std::string> part = value(source);
    if (!part || part->empty()) return {};
    if (!out.empty()) out += ':';
    out += *part;
  }
  return out;
}

bool RecipeDocument::passes(const RecipeTest& test) const {
  if (!test.source.header.empty()) {
    const std::optional<std::string> found = value(test.source);
    return found && fits(*found, test.words);
  }
  return all_of(node_->json, test.source.pointer, [&](const Json& each) {
    if (const std::optional<std::string> found = text_in(each)) return fits(*found, test.words);
    const std::vector<std::string>& values = test.words.values;
    return each.is_structured() && std::find(values.begin(), values.end(), kAny) != values.end();
  });
}

bool RecipeDocument::matches(const RecipeMatch& match, int status) const {
  const bool status_fits =
      match.statuses.empty() || std::any_of(match.statuses.begin(), match.statuses.end(), [status](const auto& range) {
        return range.first <= status && status <= range.second;
      });
  return status_fits && (match.text.empty() || fits(trimmed(body_, kWhiteSpace), match.text)) &&
         std::all_of(match.tests.begin(), match.tests.end(), [this](const RecipeTest& test) { return passes(test); });
}

bool RecipeDocument::is_list(const std::vector<std::string>& pointer) const {
  const Json* at = descendant(node_->json, pointer);
  return at != nullptr && at->is_array();
}

std::optional<std::vector<RecipeDocument>> RecipeDocument::elements(const std::vector<std::string>& pointer) const {
  const Json* at = descendant(node_->json, pointer);
  if (at == nullptr || !at->is_structured()) return std::nullopt;
  std::vector<RecipeDocument> found;
  for (const Json& each : *at) found.push_back(RecipeDocument(std::make_unique<Node>(Node{each})));
  return found;
}

}  // namespace notify

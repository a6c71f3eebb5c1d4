// Several messages in one request, as a recipe describes them.

#include <algorithm>
#include <optional>
#include <utility>

#include "core/message.hpp"
#include "sys/recipe_reader.hpp"

namespace notify::recipe_file {
namespace {

// What is the same for all messages of a request.
constexpr RecipeRoots kCommon = recipe_roots::kSettings | root_bit(RecipeRoot::kNow) | root_bit(RecipeRoot::kNonce) |
                                root_bit(RecipeRoot::kToken) | root_bit(RecipeRoot::kJwt) |
                                root_bit(RecipeRoot::kSignature);
constexpr RecipeRoots kElement = recipe_roots::kSend;

// The member of a body's table; its key may end in a mark ("name?").
const toml::node* member_of(const toml::table& table, std::string_view name) {
  for (const auto& [key, value] : table)
    if (key.str().substr(0, key.str().find('?')) == name) return &value;
  return nullptr;
}

}  // namespace

void RecipeReader::check_common(const toml::node& node, const std::string& where, const RecipePlaceholder& place) {
  if (!common_) return;
  const auto look = [&](RecipeRoot root, const std::string& path) {
    if ((kCommon & root_bit(root)) != 0 || common_->contains({root, path})) return;
    RecipePlaceholder name;
    name.root = root;
    name.path = path;
    source_.problem(
        node, where,
        "{{" + placeholder_name(name) + "}} differs from message to message, and this is one request for all",
        "write it in the element that batch.each repeats, or name it in batch.together");
  };
  look(place.root, place.path);
  for (const RecipeFilter& filter : place.filters)
    if (filter.kind == RecipeFilter::Kind::kOr) look(filter.other, filter.path);
}

// The list that `each` names, as it stands in the file.
const toml::node* RecipeReader::repeated_list(Section& section) {
  std::optional<std::vector<std::string>> pointer;
  section.require("each");
  if (!this->pointer(section, "each", pointer)) return nullptr;
  const toml::table* request = section.table("request");
  const toml::node* at = request == nullptr ? nullptr : request->get("json");
  for (const std::string& segment : *pointer) {
    const toml::table* table = at == nullptr ? nullptr : at->as_table();
    at = table == nullptr ? nullptr : member_of(*table, segment);
  }
  if (at == nullptr || !at->is_array() || at->as_array()->size() != 1)
    return section.problem("each", "names no list with one element in batch.request.json",
                           "the element stands for a message, and is repeated for each"),
           nullptr;
  return at;
}

RecipeNode RecipeReader::read_repeated(const toml::array& list, const std::string& where, RecipeRoots roots) {
  RecipeNode out;
  out.kind = RecipeNode::Kind::kEach;
  RecipeNode& element = recipe_.batch->element;
  const auto common = std::exchange(common_, std::nullopt);
  element = read_node(*list.get(0), where, roots & kElement);
  common_ = common;
  if (!element.when.empty()) source_.problem(list, where, "no message may be left out: the element has a condition");
  return out;
}

void RecipeReader::read_batch_request(Section& section, RecipeBatch& batch) {
  common_.emplace();
  for (const RecipeText& text : batch.together)
    for (const RecipePiece& piece : text)
      if (piece.place) common_->insert({piece.place->root, piece.place->path});
  const RecipeRoots roots = recipe_roots::kSend | credentials();
  repeated_ = repeated_list(section);
  section.require("request");
  if (auto request = child(section, "request", "request")) read_request(*request, batch.request, roots, true);
  for (const RecipeText* text : {&recipe_.auth.user, &recipe_.auth.password})
    for (const RecipePiece& piece : *text)
      if (piece.place) check_common(section.node(), "auth", *piece.place);
  repeated_ = nullptr;
  common_.reset();
}

void RecipeReader::read_batch_results(Section& section, RecipeBatch& batch) {
  section.require("accepted");
  if (const toml::table* table = section.table("accepted")) {
    Section accepted(source_, *table, section.full("accepted"), {});
    accepted.check_keys({"status", "json", "header", "text"});
    read_match(accepted, batch.accepted);
    if (batch.accepted.statuses.empty()) accepted.problem("status", "is missing");
  }
  section.require("result");
  const auto take = [&](const toml::node& node) {
    const auto written = node.value_exact<std::string>();
    auto parsed = written ? parse_pointer(*written) : std::nullopt;
    if (!parsed)
      source_.problem(node, section.full("result"), "is not a JSON pointer", "\"/results\", or \"\" for the whole");
    else
      batch.results.push_back(std::move(*parsed));
  };
  if (const toml::node* result = section.find("result")) {
    if (const toml::array* list = result->as_array())
      for (const toml::node& one : *list) take(one);
    else
      take(*result);
    if (result->is_array() && batch.results.empty()) section.problem("result", "must not be an empty list");
  }
  read_find(section, kElement, batch.find);
  const bool by_index = section.choice("by", {"index"}).has_value();
  if (by_index == !batch.find.empty())
    section.problem("find", "a result is told by one of find and by", "find = { \"/id\" = \"{{message_id}}\" }");
  if (by_index && batch.results.size() > 1) section.problem("by", "there is no order over several lists");
  source(section, "reference", batch.reference);
}

void RecipeReader::read_batch(Section& section) {
  RecipeBatch& batch = recipe_.batch.emplace();
  section.require("max");
  if (int max = 0; section.integer("max", max, 2, static_cast<int>(limits::kBatch)))
    batch.max = static_cast<std::size_t>(max);
  if (const toml::node* together = section.find("together")) {
    std::vector<std::string> written(1);
    if (together->is_array() ? section.texts("together", written) : section.text("together", written.front()))
      for (const std::string& one : written)
        parse_text(*together, section.full("together"), one, recipe_roots::kMessage | root_bit(RecipeRoot::kValues),
                   false, batch.together.emplace_back());
  }
  read_batch_request(section, batch);
  read_batch_results(section, batch);
  each(section, "answer", "batch.answer", [&](Section& one) { read_answer(one, batch.answers); });
  const bool accepts = std::any_of(batch.answers.begin(), batch.answers.end(),
                                   [](const RecipeAnswer& rule) { return rule.cls == OutcomeClass::kSent; });
  if (!accepts) section.problem("answer", "no rule says when a message was accepted");
  if (auto evidence = child(section, "evidence", "evidence")) read_evidence(*evidence, batch.evidence);
  if (!recipe_.recipient_hosts.empty())
    section.problem("each", "where the recipient is the URL, no two messages can share a request");
}

}  // namespace notify::recipe_file

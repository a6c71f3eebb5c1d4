#pragma once

// From TOML to a Recipe, in parts; for recipe_file.cpp only. Problems are collected with their place, so that one run
// reports everything that is wrong.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/recipe.hpp"
#include "sys/config_reader.hpp"

namespace notify::recipe_file {

using config_file::Section;
using config_file::Source;

class RecipeReader {
 public:
  RecipeReader(Source& source, Recipe& recipe) : source_(source), recipe_(recipe) {}

  void read(const toml::table& root);

 private:
  // recipe_reader.cpp: the whole, settings, values, checks
  void read_settings(Section& top);
  void read_setting(Section& section, RecipeSetting& setting);
  void read_values(Section& top);
  void read_check(Section& section);
  void read_length(Section& section, RecipeCheck& check);
  RecipeRoots credentials() const;  // the names that stand for what the recipe declares
  void check_whole(Section& top);
  void check_reachable(const toml::table& root);

  // recipe_request_reader.cpp: requests and credentials
  void read_request(Section& section, RecipeRequest& request, RecipeRoots roots, bool signs);
  void read_url(Section& section, RecipeRequest& request, RecipeRoots roots);
  void read_headers(Section& section, RecipeRequest& request, RecipeRoots roots);
  void read_members(Section& section, std::string_view key, RecipeRoots roots, std::vector<RecipeMember>& members);
  RecipeNode read_node(const toml::node& node, const std::string& where, RecipeRoots roots);
  void read_auth(Section& section, RecipeAuth& auth, RecipeRoots roots);
  void read_signature(Section& section, RecipeSignature& signature, RecipeRoots roots);
  void read_signed_text(Section& section, RecipeSignature& signature, RecipeRoots roots);
  void read_jwt(Section& section);
  void read_token(Section& section);
  void member_name(const toml::node& node, const std::string& where, std::string_view key, RecipeRoots roots,
                   std::string& name, bool& optional, RecipeConditions& when);

  // recipe_batch_reader.cpp: several messages in one request
  void read_batch(Section& section);
  void read_batch_request(Section& section, RecipeBatch& batch);
  void read_batch_results(Section& section, RecipeBatch& batch);
  const toml::node* repeated_list(Section& section);
  RecipeNode read_repeated(const toml::array& list, const std::string& where, RecipeRoots roots);
  void check_common(const toml::node& node, const std::string& where, const RecipePlaceholder& place);

  // recipe_answer_reader.cpp: answers, look-up, receipts
  void read_match(Section& section, RecipeMatch& match);
  void read_statuses(Section& section, std::vector<std::pair<int, int>>& statuses);
  void read_word(const toml::node& node, const std::string& where, RecipeWords& words);
  void read_words(const toml::node& node, const std::string& where, RecipeWords& words);
  void read_tests(Section& section, std::string_view key, bool headers, std::vector<RecipeTest>& tests);
  void read_answer(Section& section, std::vector<RecipeAnswer>& answers);
  void read_wait(Section& section, RecipeAnswer& answer);
  void read_evidence(Section& section, RecipeEvidence& evidence);
  void read_look_up(Section& section);
  void read_receipt(Section& section);
  void read_receipt_signature(Section& section);
  void read_receipt_signatures(Section& section);
  void read_find(Section& section, RecipeRoots roots, std::vector<std::pair<RecipeSource, RecipeText>>& find);
  bool sources(Section& section, std::string_view key, std::vector<RecipeSource>& target);
  bool source(Section& section, std::string_view key, RecipeSource& target);
  bool pointer(Section& section, std::string_view key, std::optional<std::vector<std::string>>& target);

  // Shared
  bool text(Section& section, std::string_view key, RecipeRoots roots, RecipeText& target);
  bool parse_text(const toml::node& node, const std::string& where, const std::string& written, RecipeRoots roots,
                  bool json_place, RecipeText& target);
  bool condition(const toml::node& node, const std::string& where, std::string_view written, RecipeRoots roots,
                 RecipeConditions& target);
  void conditions(Section& section, std::string_view key, RecipeRoots roots, RecipeConditions& target);
  void use(const toml::node& node, const std::string& where, const RecipePlaceholder& place);
  // A child table, with its keys checked against `pattern`; nullptr when there is none.
  std::optional<Section> child(Section& parent, std::string_view key, std::string_view pattern);
  void each(Section& parent, std::string_view key, std::string_view pattern, const std::function<void(Section&)>& read);

  Source& source_;
  Recipe& recipe_;
  std::set<std::string, std::less<>> used_settings_{};
  RecipeRoots used_{0};  // in the request that sends

  // While the request of a batch is read: what may stand beside its list besides what never differs, and the list.
  std::optional<std::set<std::pair<RecipeRoot, std::string>>> common_{};
  const toml::node* repeated_ = nullptr;
};

// What a value of a match may be: a text, a whole number or a boolean as text.
std::optional<std::string> scalar_text(const toml::node& node);

// The decoded segments of a JSON pointer (RFC 6901).
std::optional<std::vector<std::string>> parse_pointer(std::string_view text);

}  // namespace notify::recipe_file

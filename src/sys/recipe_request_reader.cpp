// Requests and credentials of a recipe.

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/ascii.hpp"
#include "sys/recipe_keys.hpp"
#include "sys/recipe_reader.hpp"

namespace notify::recipe_file {
namespace {

constexpr std::size_t kDeepest = 32;

// What HTTP itself writes: a second one would contradict it.
bool is_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames{
      "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade"};
  return std::find(kNames.begin(), kNames.end(), lowered(name)) != kNames.end();
}

std::size_t depth_of(const RecipeNode& node) {
  std::size_t deepest = 0;
  for (const RecipeNode& member : node.members) deepest = std::max(deepest, depth_of(member));
  return deepest + 1;
}

}  // namespace

// "name", "name?" (left out when its value is empty), "name?condition & condition" (left out unless all hold).
void RecipeReader::member_name(const toml::node& node, const std::string& where, std::string_view key,
                               RecipeRoots roots, std::string& name, bool& optional, RecipeConditions& when) {
  const std::size_t mark = key.find('?');
  name = key.substr(0, mark);
  if (mark == std::string_view::npos) return;
  std::string_view written = key.substr(mark + 1);
  optional = written.empty();
  while (!written.empty()) {
    const std::size_t end = std::min(written.find('&'), written.size());
    condition(node, where, written.substr(0, end), roots, when);
    written.remove_prefix(std::min(end + 1, written.size()));
  }
}

void RecipeReader::read_members(Section& section, std::string_view key, RecipeRoots roots,
                                std::vector<RecipeMember>& members) {
  const toml::table* table = section.table(key);
  if (table == nullptr) return;
  for (const auto& [name, node] : *table) {
    const std::string where = section.full(key) + "." + std::string(name.str());
    RecipeMember member;
    member_name(node, where, name.str(), roots, member.name, member.optional, member.when);
    const std::optional<std::string> written = scalar_text(node);
    if (!written) {
      source_.problem(node, where, "must be a text, a whole number or a boolean");
      continue;
    }
    if (member.name.empty()) source_.problem(node, where, "has no name");
    if (parse_text(node, where, *written, roots, false, member.value)) members.push_back(std::move(member));
  }
}

RecipeNode RecipeReader::read_node(const toml::node& node, const std::string& where, RecipeRoots roots) {
  RecipeNode out;
  if (const toml::table* table = node.as_table()) {
    out.kind = RecipeNode::Kind::kObject;
    for (const auto& [key, value] : *table) {
      const std::string inside = where + "." + std::string(key.str());
      // "?" alone is the condition of the object itself: for elements of lists, which have no name to carry a mark.
      if (key.str() == "?") {
        const auto written = value.value_exact<std::string>();
        if (!written)
          source_.problem(value, inside, "must be a condition");
        else
          condition(value, inside, *written, roots, out.when);
        continue;
      }
      RecipeNode member = read_node(value, inside, roots);
      member_name(value, inside, key.str(), roots, member.name, member.optional, member.when);
      if (member.name.empty()) source_.problem(value, inside, "has no name");
      out.members.push_back(std::move(member));
    }
  } else if (&node == repeated_) {
    out = read_repeated(*node.as_array(), where, roots);
  } else if (const toml::array* array = node.as_array()) {
    out.kind = RecipeNode::Kind::kArray;
    for (const toml::node& element : *array) out.members.push_back(read_node(element, where, roots));
  } else if (const auto text = node.value_exact<std::string>()) {
    out.kind = RecipeNode::Kind::kText;
    parse_text(node, where, *text, roots, true, out.text);
  } else if (const std::optional<std::string> literal = scalar_text(node)) {
    out.literal = *literal;
  } else {
    source_.problem(node, where, "must be a text, a whole number, a boolean, a table or a list");
  }
  return out;
}

void RecipeReader::read_url(Section& section, RecipeRequest& request, RecipeRoots roots) {
  section.require("url");
  if (!text(section, "url", roots, request.url) || request.url.empty()) return;
  const RecipePiece& first = request.url.front();
  const bool setting = first.place && first.place->root == RecipeRoot::kSettings && first.place->filters.empty();
  const bool literal = first.literal.starts_with("https://") || first.literal.starts_with("http://");
  if (!setting && !literal) section.problem("url", "must begin with https://, or with a setting that does");
  const std::size_t scheme = first.literal.find("://");
  const bool host_ends =
      !literal || first.literal.find('/', scheme + 3) != std::string::npos || request.url.size() == 1;
  if (!host_ends)
    section.problem("url", "no placeholder can be part of the host", "make the whole beginning a setting");
}

void RecipeReader::read_headers(Section& section, RecipeRequest& request, RecipeRoots roots) {
  read_members(section, "headers", roots, request.headers);
  const toml::table* table = section.table("headers");
  if (table == nullptr) return;
  std::vector<std::string> seen;
  for (const RecipeMember& header : request.headers) {
    const std::string name = lowered(header.name);
    if (!is_token(name)) section.problem("headers", "\"" + header.name + "\" is not a header's name");
    if (is_reserved(name)) section.problem("headers", header.name + " is written by notifyctl itself");
    if (std::find(seen.begin(), seen.end(), name) != seen.end() && header.when.empty())
      section.problem("headers", header.name + " is there twice");
    seen.push_back(name);
  }
}

void RecipeReader::read_request(Section& section, RecipeRequest& request, RecipeRoots roots, bool signs) {
  constexpr std::array kMethods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  const RecipeRoots before = std::exchange(used_, 0);
  if (const auto method = section.choice("method", {"GET", "POST", "PUT", "PATCH", "DELETE"}))
    request.method = kMethods.at(*method);
  read_url(section, request, roots);
  read_members(section, "query", roots, request.query);
  RecipeRoots headers = roots;
  if (signs && recipe_.signature) headers |= root_bit(RecipeRoot::kSignature);
  read_headers(section, request, headers);

  int bodies = 0;
  if (const toml::node* json = section.find("json")) {
    ++bodies;
    request.body = RecipeRequest::Body::kJson;
    request.json = read_node(*json, section.full("json"), roots);
    if (depth_of(request.json) > kDeepest) section.problem("json", "is nested too deeply");
    if (!json->is_table() && !json->is_array()) section.problem("json", "must be a table or a list");
  }
  if (section.find("form") != nullptr) {
    ++bodies;
    request.body = RecipeRequest::Body::kForm;
    read_members(section, "form", roots, request.form);
  }
  if (section.find("text") != nullptr) {
    ++bodies;
    request.body = RecipeRequest::Body::kText;
    text(section, "text", roots, request.text);
  }
  if (bodies > 1) source_.problem(section.node(), section.full("json"), "a request has one body: json, form or text");
  if (bodies > 0 && request.method == "GET") section.problem("method", "a GET has no body");
  request.uses = used_;
  used_ |= before;
}

void RecipeReader::read_auth(Section& section, RecipeAuth& auth, RecipeRoots roots) {
  section.require("kind");
  const auto kind = section.choice("kind", {"basic", "bearer"});
  if (!kind) return;
  const bool basic = *kind == 0;
  const RecipeRoots before = std::exchange(used_, 0);
  auth.kind = basic ? RecipeAuth::Kind::kBasic : RecipeAuth::Kind::kBearer;
  if (basic) {
    section.require("user");
    section.require("password");
    text(section, "user", roots, auth.user);
    text(section, "password", roots, auth.password);
    if (section.find("token") != nullptr) section.problem("token", "belongs to bearer");
  } else {
    section.require("token");
    text(section, "token", roots, auth.password);
    for (const char* other : {"user", "password"})
      if (section.find(other) != nullptr) section.problem(other, "belongs to basic");
  }
  auth.uses = used_;
  used_ |= before;
}

void RecipeReader::read_signature(Section& section, RecipeSignature& signature, RecipeRoots roots) {
  using Algorithm = RecipeSignature::Algorithm;
  if (const auto algorithm = section.choice("algorithm", {"hmac-sha256", "hmac-sha1"}))
    signature.algorithm = *algorithm == 0 ? Algorithm::kHmacSha256 : Algorithm::kHmacSha1;
  read_signed_text(section, signature, roots);
}

void RecipeReader::read_signed_text(Section& section, RecipeSignature& signature, RecipeRoots roots) {
  using Encoding = RecipeSignature::Encoding;
  if (const auto encoding = section.choice("encoding", {"hex", "base64"}))
    signature.encoding = *encoding == 0 ? Encoding::kHex : Encoding::kBase64;
  section.require("key");
  section.require("text");
  text(section, "key", recipe_roots::kSettings, signature.key);
  text(section, "text", roots, signature.text);
}

void RecipeReader::read_jwt(Section& section) {
  using Algorithm = RecipeJwt::Algorithm;
  constexpr std::array kAlgorithms{Algorithm::kHs256, Algorithm::kRs256, Algorithm::kEs256};
  constexpr std::array kNames{"HS256", "RS256", "ES256"};
  constexpr RecipeRoots kRoots = recipe_roots::kSettings | recipe_roots::kChance;
  RecipeJwt jwt;
  for (const char* key : {"algorithm", "key", "claims"}) section.require(key);
  const auto algorithm = section.choice("algorithm", {kNames[0], kNames[1], kNames[2]});
  jwt.algorithm = kAlgorithms.at(algorithm.value_or(0));
  text(section, "key", recipe_roots::kSettings, jwt.key);
  const auto object = [&](std::string_view key, RecipeNode& node) {
    node.kind = RecipeNode::Kind::kObject;
    if (const toml::table* table = section.table(key)) node = read_node(*table, section.full(key), kRoots);
  };
  object("header", jwt.header);
  object("claims", jwt.claims);
  for (const auto& [name, value] : {std::pair{"typ", "JWT"}, std::pair{"alg", kNames.at(algorithm.value_or(0))}}) {
    const auto& members = jwt.header.members;
    for (const RecipeNode& member : members)
      if (member.name == name) section.problem("header", member.name + " is written by notifyctl itself");
    RecipeNode own;
    own.name = name;
    own.literal = "\"" + std::string(value) + "\"";
    jwt.header.members.insert(jwt.header.members.begin(), std::move(own));
  }
  recipe_.jwt = std::move(jwt);
}

void RecipeReader::read_token(Section& section) {
  using Expiry = RecipeToken::Expiry;
  const RecipeRoots roots =
      recipe_roots::kSettings | recipe_roots::kChance | (recipe_.jwt ? root_bit(RecipeRoot::kJwt) : 0);
  RecipeToken& token = recipe_.token.emplace();
  token.lifetime = std::chrono::hours(1);
  for (const char* key : {"request", "granted", "value"}) section.require(key);
  if (auto request = child(section, "request", "request")) read_request(*request, token.request, roots, false);
  if (auto auth = child(section, "auth", "auth")) read_auth(*auth, token.auth, roots);
  if (const toml::table* table = section.table("granted")) {
    Section granted(source_, *table, section.full("granted"), {});
    granted.check_keys({"status", "json", "header", "text"});
    read_match(granted, token.granted);
    if (token.granted.statuses.empty()) granted.problem("status", "is missing");
  }
  source(section, "value", token.value);
  if (source(section, "expires", token.expires)) token.expiry = Expiry::kSeconds;
  if (const auto expiry = section.choice("expiry", {"seconds", "epoch", "yyyyMMddHHmmss"})) {
    token.expiry = std::array{Expiry::kSeconds, Expiry::kEpoch, Expiry::kCompact}.at(*expiry);
    section.require("expires");
  }
  if (std::string zone; section.text("offset", zone)) {
    const bool right = zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':' &&
                       std::isdigit(static_cast<unsigned char>(zone[1])) != 0 &&
                       std::isdigit(static_cast<unsigned char>(zone[2])) != 0 &&
                       std::isdigit(static_cast<unsigned char>(zone[4])) != 0 &&
                       std::isdigit(static_cast<unsigned char>(zone[5])) != 0;
    if (!right) return section.problem("offset", "must look like \"+09:00\"");
    const int minutes = std::stoi(zone.substr(1, 2)) * 60 + std::stoi(zone.substr(4, 2));
    token.offset = std::chrono::minutes(zone[0] == '-' ? -minutes : minutes);
  }
  section.duration("lifetime", token.lifetime, std::chrono::seconds(1));
}

}  // namespace notify::recipe_file

#include "core/recipe_request.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/ascii.hpp"
#include "core/crypto.hpp"
#include "core/json_write.hpp"
#include "core/jwt.hpp"
#include "core/keys.hpp"
#include "core/url_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kShortestHmacKey = 32;  // RFC 7518 3.2

// --- JSON

// Whether the member stays; its JSON is in `out` then.
Result<bool> member_json(const RecipeNode& member, const RecipeInput& input, std::string& out);

Result<std::string> container_json(const RecipeNode& node, const RecipeInput& input) {
  const bool object = node.kind == RecipeNode::Kind::kObject;
  std::string out(1, object ? '{' : '[');
  for (const RecipeNode& member : node.members) {
    std::string value;
    TRY_ASSIGN(const bool stays, member_json(member, input, value));
    if (!stays) continue;
    if (out.size() > 1) out += ',';
    if (object) {
      append_json_string(out, member.name);
      out += ':';
    }
    out += value;
  }
  return out + (object ? '}' : ']');
}

std::string list_of(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) {
    if (out.size() > 1) out += ',';
    out += element;
  }
  return out + "]";
}

// An empty result: there is no value.
Result<std::string> node_json(const RecipeNode& node, const RecipeInput& input, Missing missing) {
  switch (node.kind) {
    case RecipeNode::Kind::kLiteral: return node.literal;
    case RecipeNode::Kind::kEach: ASSERT(input.elements != nullptr); return list_of(*input.elements);
    case RecipeNode::Kind::kObject:
    case RecipeNode::Kind::kArray: return container_json(node, input);
    case RecipeNode::Kind::kText: break;
  }
  if (node.text.size() == 1 && node.text.front().place && node.text.front().place->is_json())
    return json_of(*node.text.front().place, input, missing);
  TRY_ASSIGN(const std::string value, text_of(node.text, input, missing));
  if (value.empty() && missing == Missing::kIsEmpty) return std::string();
  std::string json;
  append_json_string(json, value);
  return json;
}

Result<bool> member_json(const RecipeNode& member, const RecipeInput& input, std::string& out) {
  TRY_ASSIGN(const bool wanted, holds(member.when, input));
  if (!wanted) return false;
  TRY_ASSIGN(out, node_json(member, input, member.optional ? Missing::kIsEmpty : Missing::kIsError));
  return !member.optional || (!out.empty() && out != "{}" && out != "[]");
}

// --- members of forms, queries and headers

struct Pair {
  std::string name;
  std::string value;
};

Result<std::vector<Pair>> pairs_of(const std::vector<RecipeMember>& members, const RecipeInput& input) {
  std::vector<Pair> pairs;
  for (const RecipeMember& member : members) {
    TRY_ASSIGN(const bool wanted, holds(member.when, input));
    if (!wanted) continue;
    TRY_ASSIGN(std::string value,
               text_of(member.value, input, member.optional ? Missing::kIsEmpty : Missing::kIsError));
    if (member.optional && value.empty()) continue;
    pairs.push_back({member.name, std::move(value)});
  }
  return pairs;
}

std::string encoded(const std::vector<Pair>& pairs) {
  std::string out;
  for (const Pair& pair : pairs) {
    if (!out.empty()) out += '&';
    out.append(percent_encoded(pair.name)).append(1, '=').append(percent_encoded(pair.value));
  }
  return out;
}

Result<void> fill_url(const RecipeRequest& request, const RecipeInput& input, std::string& url) {
  TRY_ASSIGN(url, url_of(request.url, input));
  TRY_ASSIGN(const std::vector<Pair> query, pairs_of(request.query, input));
  if (!query.empty()) url += (url.find('?') == std::string::npos ? '?' : '&') + encoded(query);
  return {};
}

Result<void> fill_body(const RecipeRequest& request, const RecipeInput& input, HttpRequest& out) {
  switch (request.body) {
    case RecipeRequest::Body::kNone: return {};
    case RecipeRequest::Body::kJson: {
      TRY_ASSIGN(out.body, json_text(request.json, input));
      return {};
    }
    case RecipeRequest::Body::kForm: {
      TRY_ASSIGN(const std::vector<Pair> form, pairs_of(request.form, input));
      out.body = encoded(form);
      return {};
    }
    case RecipeRequest::Body::kText: {
      TRY_ASSIGN(out.body, text_of(request.text, input));
      return {};
    }
  }
  return {};
}

const char* content_type(RecipeRequest::Body body) {
  switch (body) {
    case RecipeRequest::Body::kNone: return nullptr;
    case RecipeRequest::Body::kJson: return "application/json";
    case RecipeRequest::Body::kForm: return "application/x-www-form-urlencoded";
    case RecipeRequest::Body::kText: return "text/plain; charset=utf-8";
  }
  return nullptr;
}

// --- headers

// Whether a header of this name is there already.
bool has(const HttpRequest& request, std::string_view name) {
  return std::any_of(request.headers.begin(), request.headers.end(),
                     [&](const auto& header) { return same_ignoring_case(header.first, name); });
}

Result<void> add_headers(const RecipeRequest& request, const RecipeInput& input, HttpRequest& out) {
  TRY_ASSIGN(std::vector<Pair> headers, pairs_of(request.headers, input));
  for (Pair& header : headers) {
    const bool plain =
        std::all_of(header.value.begin(), header.value.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!plain)
      return fail_field("header", "the header " + header.name + " would hold a line end or a letter outside ASCII",
                        "headers can only hold visible ASCII");
    std::erase_if(out.headers, [&](const auto& other) { return same_ignoring_case(other.first, header.name); });
    out.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  if (const char* type = content_type(request.body); type != nullptr && !has(out, "Content-Type"))
    out.headers.emplace_back("Content-Type", type);
  return {};
}

Result<void> authorize(const RecipeAuth& auth, const RecipeInput& input, RecipeCall& call) {
  if (auth.kind == RecipeAuth::Kind::kNone) return {};
  std::string value;
  if (auth.kind == RecipeAuth::Kind::kBearer) {
    TRY_ASSIGN(const std::string token, text_of(auth.password, input));
    call.secrets.push_back(token);
    value = "Bearer " + token;
  } else {
    TRY_ASSIGN(const std::string user, text_of(auth.user, input));
    TRY_ASSIGN(const std::string password, text_of(auth.password, input));
    std::string credentials = to_base64(user + ":" + password);
    value = "Basic " + credentials;
    call.secrets.push_back(std::move(credentials));
  }
  call.request.headers.emplace_back("Authorization", std::move(value));
  return {};
}

// Path and query of a URL as they are sent.
std::string path_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = url.find_first_of("/?", start);
  if (path == std::string_view::npos) return "/";
  return url[path] == '/' ? std::string(url.substr(path)) : "/" + std::string(url.substr(path));
}

}  // namespace

std::string signature_of(const RecipeSignature& signature, const std::string& key, const std::string& text) {
  std::string digest;
  if (signature.algorithm == RecipeSignature::Algorithm::kHmacSha1) {
    digest = hmac_sha1(key, text);
  } else {
    const Sha256 bytes = hmac_sha256(key, text);
    digest.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return signature.encoding == RecipeSignature::Encoding::kHex ? to_hex(digest) : to_base64(digest);
}

Result<std::string> json_text(const RecipeNode& node, const RecipeInput& input) {
  return node_json(node, input, Missing::kIsError);
}

Result<std::string> make_jwt(const RecipeJwt& recipe, const RecipeInput& input) {
  using Algorithm = RecipeJwt::Algorithm;
  TRY_ASSIGN(const std::string key, text_of(recipe.key, input));
  TRY_ASSIGN(const std::string header, json_text(recipe.header, input));
  TRY_ASSIGN(const std::string claims, json_text(recipe.claims, input));
  if (recipe.algorithm == Algorithm::kHs256) {
    if (key.size() < kShortestHmacKey)
      return fail(Code::kConfig, "jwt.key: a secret for HS256 has at least " + std::to_string(kShortestHmacKey) +
                                     " bytes, and this one has " + std::to_string(key.size()));
    return signed_jwt_hs256(header, claims, key);
  }
  Result<PrivateKey> parsed = PrivateKey::from_pem(key);
  if (!parsed) return fail(with_context(std::move(parsed).error(), "jwt.key"));
  const bool rsa = recipe.algorithm == Algorithm::kRs256;
  if ((parsed->kind() == PrivateKey::Kind::kRsa) != rsa)
    return fail(Code::kConfig, rsa ? "jwt.key: RS256 needs an RSA key, and this is one on P-256"
                                   : "jwt.key: ES256 needs a key on P-256, and this is an RSA key");
  return signed_jwt(header, claims, *parsed);
}

Result<RecipeCall> make_call(const RecipeRequest& request, const RecipeAuth& auth,
                             const std::optional<RecipeSignature>& signature, RecipeInput input, HttpRequest base) {
  RecipeCall call{std::move(base), {}};
  call.request.method = request.method;
  if (((request.uses | auth.uses) & root_bit(RecipeRoot::kJwt)) != 0) {
    TRY_ASSIGN(input.jwt, make_jwt(*input.recipe.jwt, input));
    call.secrets.push_back(input.jwt);
  }
  TRY(fill_url(request, input, call.request.url));
  TRY(fill_body(request, input, call.request));
  if (signature) {
    input.request = {request.method, path_of(call.request.url), call.request.url, call.request.body};
    TRY_ASSIGN(const std::string key, text_of(signature->key, input));
    TRY_ASSIGN(const std::string text, text_of(signature->text, input));
    input.signature = signature_of(*signature, key, text);
    call.secrets.push_back(input.signature);
  }
  TRY(authorize(auth, input, call));
  TRY(add_headers(request, input, call.request));
  return call;
}

}  // namespace notify

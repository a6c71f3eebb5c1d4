#include "core/recipe_receipt.hpp"

#include <algorithm>
#include <optional>

#include "core/crypto.hpp"
#include "core/keys.hpp"
#include "core/message.hpp"
#include "core/recipe_answer.hpp"
#include "core/recipe_request.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kMostMembers = 1000;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// application/x-www-form-urlencoded
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> form_of(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> form;
  while (!body.empty() && form.size() < kMostMembers) {
    const std::string_view pair = body.substr(0, body.find('&'));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty())
      form.emplace_back(decoded(pair.substr(0, equals)), decoded(pair.substr(std::min(equals + 1, pair.size()))));
    body.remove_prefix(std::min(pair.size() + 1, body.size()));
  }
  return form;
}

tl::unexpected<Error> not_believed(std::string why, std::string hint) {
  return fail(Code::kPermission, std::move(why), std::move(hint));
}

// A signature by a key whose public half the vendor shows.
Result<bool> is_signed_by(const std::string& key, const std::string& text, const std::string& signature) {
  TRY_ASSIGN(const PublicKey known, PublicKey::from_text(key));
  std::string der;
  return from_base64(signature, der) && known.verify(text, der);
}

Result<bool> is_genuine(const RecipeReceiptSignature& how, const std::string& key, const std::string& given,
                        const RecipeInput& input) {
  using Kind = RecipeReceiptSignature::Kind;
  if (how.kind == Kind::kWord) return same_secret(given, key);
  TRY_ASSIGN(const std::string text, text_of(how.made.text, input, Missing::kIsEmpty));
  TRY_ASSIGN(const std::string prefix, text_of(how.prefix, input, Missing::kIsEmpty));
  if (how.kind == Kind::kHmac) return same_secret(given, prefix + signature_of(how.made, key, text));
  return given.starts_with(prefix) ? is_signed_by(key, text, given.substr(prefix.size())) : Result<bool>(false);
}

// Each way has a key of its own, so whoever knows none gains nothing by choosing the way.
Result<void> check_signature(const RecipeReceipt& recipe, const RecipeDocument& whole, const RecipeInput& input) {
  const auto how = std::find_if(recipe.signatures.begin(), recipe.signatures.end(),
                                [&](const auto& each) { return whole.matches(each.match, 0); });
  if (how == recipe.signatures.end())
    return not_believed("the receipt is not signed in any way that the recipe knows", {});
  const std::optional<std::string> given = whole.value(how->source);
  if (!given || given->empty())
    return not_believed("the receipt carries no signature, and the recipe asks for one",
                        "a CGI script passes the headers on as HTTP_… in its environment, see docs/recipes.md");
  const bool word = how->kind == RecipeReceiptSignature::Kind::kWord;
  TRY_ASSIGN(const std::string key, text_of(word ? how->expected : how->made.key, input, Missing::kIsEmpty));
  if (key.empty())
    return not_believed("the channel has no key by which the receipt's signature could be checked",
                        "give the setting that the recipe names for it");
  TRY_ASSIGN(const bool genuine, is_genuine(*how, key, *given, input));
  if (genuine) return {};
  return not_believed("the receipt's signature is wrong",
                      "is the key right, and NOTIFYCTL_RECEIPT_URL the URL that was called?");
}

Result<std::string> identifier(const char* field, const std::string& text, std::size_t longest) {
  const bool odd =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (odd || text.size() > longest || !valid_utf8(text)) return fail_field(field, std::string(field) + " is not an id");
  return text;
}

// Nothing: it is to be ignored.
Result<std::optional<Receipt>> one_receipt(const RecipeReceipt& recipe, const std::string& source,
                                           const RecipeDocument& document) {
  const auto rule = std::find_if(recipe.rules.begin(), recipe.rules.end(),
                                 [&](const RecipeReceiptRule& each) { return document.matches(each.match, 0); });
  if (rule == recipe.rules.end()) return fail_field("outcome", "no rule of the recipe says what it means");
  if (!rule->verdict) return std::optional<Receipt>();
  Receipt receipt;
  receipt.verdict = *rule->verdict;
  receipt.disable_endpoint = rule->disable_endpoint;
  receipt.halt_channel = rule->halt_channel;
  if (const auto id = document.first_of(recipe.message_id)) {
    TRY_ASSIGN(receipt.message_id, identifier("message_id", *id, limits::kMessageId));
    if (recipe.id_form == RecipeReceipt::IdForm::kShort) receipt.message_id = source + "-" + receipt.message_id;
  }
  TRY_ASSIGN(receipt.reference, identifier("reference", document.joined(recipe.reference), limits::kReference));
  if (receipt.message_id.empty() && receipt.reference.empty()) return fail_field("message_id", "it names no message");
  receipt.reason = safe_text(document.first_of(recipe.reason).value_or(""), limits::kReason);
  return std::optional<Receipt>(std::move(receipt));
}

}  // namespace

Result<RecipeReceipts> read_receipts(const Recipe& recipe, const RecipeSettings& settings, const std::string& source,
                                     RecipeReceived received) {
  if (!recipe.receipt)
    return fail(Code::kBadInput, "the recipe " + recipe.name + " does not describe receipts", "add [receipt] to it");
  const RecipeReceipt& how = *recipe.receipt;
  if (received.body.size() > kLongestReceiptBody)
    return fail(Code::kBadInput, "the body is longer than " + std::to_string(kLongestReceiptBody) + " bytes");
  const bool form = how.body == RecipeReceipt::Body::kForm;
  if (form) received.form = form_of(received.body);
  const RecipeDocument whole =
      form ? RecipeDocument::of_form(received.form) : RecipeDocument(received.body, received.headers);
  if (!whole.is_json() || received.body.empty())
    return fail(Code::kBadInput, "the body is not JSON", "is it of this vendor, and whole?");
  if (!how.signatures.empty()) {
    RecipeInput input{recipe, settings};
    input.received = &received;
    const RecipeDocument with_headers(received.body, received.headers);
    TRY(check_signature(how, form ? with_headers : whole, input));
  }
  std::optional<std::vector<RecipeDocument>> documents;
  if (how.list) documents = whole.elements(*how.list);
  if (how.list && !documents && !how.single) return fail(Code::kBadInput, "the body has no list where the recipe says");
  RecipeReceipts result;
  const auto take = [&](const RecipeDocument& document, std::size_t number) {
    Result<std::optional<Receipt>> receipt = one_receipt(how, source, document);
    if (!receipt)
      result.bad.emplace_back(number, std::move(receipt).error());
    else if (*receipt)
      result.receipts.push_back(std::move(**receipt));
    else
      ++result.ignored;
  };
  if (!documents) take(whole, 1);
  for (std::size_t i = 0; documents && i < documents->size(); ++i) take((*documents)[i], i + 1);
  return result;
}

}  // namespace notify

// What a vendor may answer, and what may be written as a recipe: every built-in recipe judges any answer, look-up and
// receipt without harm and within bounds, and any text is a recipe or an error with its place.
//
// Input: the first byte chooses the recipe, the second the status; up to a line feed headers follow ("name: value",
// separated by "\x1f"); the rest is the body.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.hpp"
#include "core/recipe_answer.hpp"
#include "core/recipe_receipt.hpp"
#include "core/recipe_token.hpp"
#include "core/safe_text.hpp"
#include "sys/recipe_file.hpp"

namespace {

using namespace notify;

const std::vector<std::shared_ptr<const Recipe>>& recipes() {
  static const auto all = [] {
    std::vector<std::shared_ptr<const Recipe>> loaded;
    for (const BuiltInRecipe& recipe : built_in_recipes())
      loaded.push_back(load_recipe(std::string(recipe.name), {}).value());
    return loaded;
  }();
  return all;
}

HttpEvidence evidence_of(std::uint8_t status, std::string_view input) {
  constexpr int kStatuses[] = {0, 200, 201, 202, 204, 302, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 507};
  HttpEvidence evidence;
  evidence.status = kStatuses[status % std::size(kStatuses)];
  const std::size_t end = std::min(input.find('\n'), input.size());
  std::string_view headers = input.substr(0, end);
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find('\x1f'));
    const std::size_t colon = std::min(line.find(": "), line.size());
    evidence.headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
    headers.remove_prefix(std::min(line.size() + 1, headers.size()));
  }
  evidence.body = input.substr(std::min(end + 1, input.size()));
  return evidence;
}

void check_text(const std::string& text, std::size_t most) {
  ASSERT(valid_utf8(text));
  ASSERT(text.size() <= most);
  ASSERT(text.find('\n') == std::string::npos);
}

void judge(const Recipe& recipe, const HttpEvidence& evidence) {
  const Instant now{1'795'958'769'000};
  const std::vector<std::string> secrets{"secret-of-ours"};
  const Outcome outcome = judge_answer(recipe, evidence, now, secrets).outcome;
  check_text(outcome.detail, limits::kDetail);
  check_text(outcome.reference, 256);
  check_text(outcome.reason, limits::kReason);
  ASSERT(!outcome.disable_endpoint || outcome.cls == OutcomeClass::kPermanent);
  ASSERT(!outcome.retry_after || (*outcome.retry_after >= 0ms && *outcome.retry_after <= 24h));
  ASSERT(outcome.detail.find("secret-of-ours") == std::string::npos);

  const RecipeSettings settings;
  const LookUpQuestion question{"shop-0123abcd-7", "ref", "+821000000042", now};
  RecipeInput input{recipe, settings};
  input.question = &question;
  if (recipe.look_up) check_text(judge_look_up(*recipe.look_up, evidence, input, secrets).detail, limits::kDetail);
  if (recipe.token)
    if (const auto token = granted_token(*recipe.token, evidence, now)) ASSERT(token->expires > now);
}

// Without its signature: that somebody knows the key must not be what keeps a body harmless.
void take_receipts(Recipe recipe, const HttpEvidence& evidence) {
  if (!recipe.receipt) return;
  recipe.receipt->signature.reset();
  RecipeReceived received;
  received.body = evidence.body;
  received.headers = evidence.headers;
  const auto read = read_receipts(recipe, {}, "shop", std::move(received));
  if (!read) return;
  for (const Receipt& receipt : read->receipts) {
    ASSERT(!receipt.message_id.empty() || !receipt.reference.empty());
    check_text(receipt.reason, limits::kReason);
    ASSERT(valid_utf8(receipt.message_id) && valid_utf8(receipt.reference));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto& all = recipes();
  const std::size_t which = data[0] % (all.size() + 1);
  if (which == all.size()) {
    std::vector<Error> problems;
    const auto recipe = parse_recipe(input.substr(1), "fuzz.toml", &problems);
    ASSERT(recipe.has_value() || problems.front().message.starts_with("fuzz.toml:"));
    return 0;
  }
  const HttpEvidence evidence = evidence_of(data[1], input.substr(2));
  judge(*all[which], evidence);
  take_receipts(*all[which], evidence);
  return 0;
}

// What a vendor may answer, and what may be written as a recipe: every built-in recipe judges any answer, look-up and
// receipt without harm and within bounds, and any text is a recipe or an error with its place.
//
// Input: the first byte chooses the recipe, the second the status; then headers and body (evidence.hpp).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.hpp"
#include "core/recipe_answer.hpp"
#include "core/recipe_batch.hpp"
#include "core/recipe_receipt.hpp"
#include "core/recipe_token.hpp"
#include "core/safe_text.hpp"
#include "core/ses_events.hpp"
#include "evidence.hpp"
#include "sys/recipe_file.hpp"

namespace {

using namespace notify;
using namespace notify::fuzz;

const std::vector<std::shared_ptr<const Recipe>>& recipes() {
  static const auto all = [] {
    std::vector<std::shared_ptr<const Recipe>> loaded;
    for (const BuiltInRecipe& recipe : built_in_recipes())
      loaded.push_back(load_recipe(std::string(recipe.name), {}).value());
    return loaded;
  }();
  return all;
}

void judge(const Recipe& recipe, const HttpEvidence& evidence) {
  const Instant now{1'795'958'769'000};
  const std::vector<std::string> secrets{"secret-of-ours"};
  const Outcome outcome = judge_answer(recipe, evidence, now, secrets).outcome;
  check_outcome(outcome);
  ASSERT(outcome.detail.find("secret-of-ours") == std::string::npos);

  if (recipe.batch) {
    const std::vector<RecipeBatchMember> members{{{"shop-0123abcd-7"}, {}}, {{"shop-0123abcd-8"}, {}}};
    const RecipeBatchVerdict verdict = judge_batch(recipe, evidence, now, members, secrets);
    ASSERT(verdict.outcomes.size() == members.size());
    for (const Outcome& each : verdict.outcomes) {
      check_outcome(each);
      ASSERT(each.detail.find("secret-of-ours") == std::string::npos);
    }
  }

  const RecipeSettings settings;
  const LookUpQuestion question{"shop-0123abcd-7", "ref", "+821000000042", now};
  RecipeInput input{recipe, settings};
  input.question = &question;
  if (recipe.look_up) check_text(judge_look_up(*recipe.look_up, evidence, input, secrets).detail, limits::kDetail);
  if (recipe.token)
    if (const auto token = granted_token(*recipe.token, evidence, now)) ASSERT(token->expires > now);
}

void check_receipts(const Result<RecipeReceipts>& read) {
  if (!read) return;
  for (const Receipt& receipt : read->receipts) {
    ASSERT(!receipt.message_id.empty() || !receipt.reference.empty());
    check_text(receipt.reason, limits::kReason);
    ASSERT(valid_utf8(receipt.message_id) && valid_utf8(receipt.reference));
  }
}

// Without its signature: that somebody knows the key must not be what keeps a body harmless.
void take_receipts(Recipe recipe, const HttpEvidence& evidence) {
  if (!recipe.receipt) return;
  recipe.receipt->signatures.clear();
  RecipeReceived received;
  received.body = evidence.body;
  received.headers = evidence.headers;
  check_receipts(read_receipts(recipe, {}, "shop", std::move(received)));
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
  check_receipts(read_ses_events(evidence.body, {}));
  return 0;
}

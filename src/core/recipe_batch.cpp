#include "core/recipe_batch.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/classify.hpp"
#include "core/message.hpp"
#include "core/recipe_answer.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Results = std::vector<RecipeDocument>;

std::vector<std::string> with(std::span<const std::string> secrets, const std::vector<std::string>& more) {
  std::vector<std::string> all(secrets.begin(), secrets.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// All results, over all lists.
Results results_in(const RecipeBatch& batch, const RecipeDocument& answer) {
  const bool ordered = batch.find.empty();
  Results all;
  for (const std::vector<std::string>& pointer : batch.results) {
    if (ordered && !answer.is_list(pointer)) continue;
    std::optional<Results> some = answer.elements(pointer);
    if (some) std::move(some->begin(), some->end(), std::back_inserter(all));
  }
  return all;
}

// For each member the result that is its own; null where there is none, or more than one claim to it.
std::vector<const RecipeDocument*> shared_out(const RecipeBatch& batch, const Results& results,
                                              std::span<const RecipeBatchMember> members) {
  std::vector<const RecipeDocument*> own(members.size(), nullptr);
  if (batch.find.empty()) {
    if (results.size() != members.size()) return own;
    std::transform(results.begin(), results.end(), own.begin(), [](const RecipeDocument& result) { return &result; });
    return own;
  }
  struct Claim {
    std::size_t member = 0;
    int members = 0;
    int results = 0;
    const RecipeDocument* result = nullptr;
  };
  std::map<std::vector<std::string>, Claim> claims;
  for (std::size_t i = 0; i < members.size(); ++i) {
    Claim& claim = claims[members[i].key];
    claim.member = i;
    ++claim.members;
  }
  for (const RecipeDocument& result : results) {
    std::vector<std::string> key;
    for (const auto& [source, text] : batch.find) key.push_back(result.value(source).value_or(""));
    const auto claim = claims.find(key);
    if (claim == claims.end()) continue;
    ++claim->second.results;
    claim->second.result = &result;
  }
  for (const auto& [key, claim] : claims)
    if (claim.members == 1 && claim.results == 1) own[claim.member] = claim.result;
  return own;
}

std::string joined_reference(const std::string& request, const std::string& own) {
  return request.empty() || own.empty() ? std::string() : request + ":" + own;
}

Outcome unknown_result(const HttpEvidence& evidence, Instant now, std::string reason, std::string detail) {
  Outcome outcome = classify_http(evidence, StatusRules{}, now);
  outcome.cls = OutcomeClass::kUnknown;
  outcome.reason = std::move(reason);
  outcome.detail = std::move(detail);
  return outcome;
}

RecipeBatchVerdict judge_whole(const Recipe& recipe, const HttpEvidence& evidence, Instant now,
                               std::span<const RecipeBatchMember> members, std::span<const std::string> secrets) {
  std::vector<std::string> parts(secrets.begin(), secrets.end());
  for (const RecipeBatchMember& member : members)
    parts.insert(parts.end(), member.private_parts.begin(), member.private_parts.end());
  RecipeVerdict verdict = judge_answer(recipe, evidence, now, parts);
  Outcome& outcome = verdict.outcome;
  outcome.disable_endpoint = false;  // whose?
  outcome.reference.clear();
  if (outcome.cls == OutcomeClass::kPermanent) outcome.cls = OutcomeClass::kNotSent;
  if (outcome.cls == OutcomeClass::kSent) {
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = evidence.body_truncated ? "answer-incomplete" : "answer-not-known";
  }
  return {std::vector<Outcome>(members.size(), outcome), false, verdict.refresh_token};
}

}  // namespace

Result<RecipeBatchPart> batch_part(const RecipeBatch& batch, const RecipeInput& input) {
  RecipeBatchPart part;
  for (const RecipeText& text : batch.together) {
    TRY_ASSIGN(std::string value, text_of(text, input, Missing::kIsEmpty));
    part.together.push_back(std::move(value));
  }
  for (const auto& [source, text] : batch.find) {
    TRY_ASSIGN(std::string value, text_of(text, input));
    if (value.empty()) return fail_field("batch", "what the message's result would be found by is empty");
    part.key.push_back(std::move(value));
  }
  TRY_ASSIGN(part.element, json_text(batch.element, input));
  return part;
}

Result<RecipeCall> make_batch_call(const Recipe& recipe, RecipeInput input, const std::vector<std::string>& elements,
                                   HttpRequest base) {
  input.elements = &elements;
  return make_call(recipe.batch->request, recipe.auth, recipe.signature, std::move(input), std::move(base));
}

RecipeBatchVerdict judge_batch(const Recipe& recipe, const HttpEvidence& evidence, Instant now,
                               std::span<const RecipeBatchMember> members, std::span<const std::string> secrets) {
  const RecipeBatch& batch = *recipe.batch;
  if (evidence.status < 200) return judge_whole(recipe, evidence, now, members, secrets);
  const RecipeDocument answer(evidence.body, evidence.headers);
  const bool success = evidence.status < 300;
  if (success && (evidence.body_truncated || !answer.is_json())) {
    const Outcome outcome =
        unknown_result(evidence, now, evidence.body_truncated ? "answer-incomplete" : "answer-not-known", {});
    return {std::vector<Outcome>(members.size(), outcome), false, false};
  }
  const bool accepted = answer.matches(batch.accepted, evidence.status);
  const Results results = results_in(batch, answer);
  if (!accepted && !(success && !results.empty())) return judge_whole(recipe, evidence, now, members, secrets);

  RecipeBatchVerdict verdict;
  verdict.accepted = accepted;
  const auto own = shared_out(batch, results, members);
  const std::string request = answer.value(batch.reference).value_or("");
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (own[i] == nullptr) {
      verdict.outcomes.push_back(
          unknown_result(evidence, now, "no-result", "the answer has no result, or more than one, for this message"));
      continue;
    }
    const std::vector<std::string> parts = with(secrets, members[i].private_parts);
    Outcome outcome = judge_result(batch, evidence, *own[i], now, parts);
    if (!batch.reference.pointer.empty() || !batch.reference.header.empty())
      outcome.reference = safe_text_without(joined_reference(request, outcome.reference), parts, limits::kReference);
    if (!accepted && outcome.cls == OutcomeClass::kSent) {
      outcome.cls = OutcomeClass::kUnknown;
      outcome.reason = "answer-contradicts";
    }
    verdict.outcomes.push_back(std::move(outcome));
  }
  return verdict;
}

}  // namespace notify

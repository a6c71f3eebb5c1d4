#include "core/recipe_answer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/classify.hpp"
#include "core/message.hpp"
#include "core/recipe_values.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr Duration kLongestRetryAfter = std::chrono::hours(24);
constexpr std::size_t kLongestCode = 64;
constexpr std::size_t kMostLookedAt = 64 * 1024;  // of words, before they are cut: masking takes time

// "0.299", "30", "1790000000"
std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<Duration> wait_in(const RecipeWait& wait, const RecipeDocument& answer, Instant now) {
  const std::optional<std::string> text = answer.value(wait.source);
  const std::optional<double> number = text ? number_in(*text) : std::nullopt;
  if (!number || std::abs(*number) > 1e13) return std::nullopt;
  double ms = *number;
  if (wait.unit == RecipeWait::Unit::kSeconds) ms *= 1000;
  if (wait.unit == RecipeWait::Unit::kEpoch) ms = ms * 1000 - static_cast<double>(now.ms);
  return std::clamp(Duration{static_cast<std::int64_t>(std::ceil(ms))}, Duration{0}, kLongestRetryAfter);
}

// The vendor's code as a word; empty when it is none.
std::string code_word(const RecipeEvidence& evidence, const RecipeDocument& answer) {
  const std::string code = answer.first_of(evidence.code).value_or("");
  const bool word = !code.empty() && code.size() <= kLongestCode && std::all_of(code.begin(), code.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
  return word ? code : std::string();
}

std::string safe(std::string_view text, std::span<const std::string> private_parts, std::size_t most) {
  return safe_text_without(text, private_parts, most);
}

// What the outcome tells of the answer, whatever it means. `otherwise`: where it has no words of its own.
void tell(const RecipeEvidence& wanted, std::string_view otherwise, const RecipeDocument& answer,
          std::span<const std::string> private_parts, Outcome& outcome) {
  const std::string code = safe(code_word(wanted, answer), private_parts, kLongestCode);
  if (outcome.cls != OutcomeClass::kSent) {
    const std::optional<std::string> said = answer.first_of(wanted.text);
    const std::string_view words = (said ? std::string_view(*said) : otherwise).substr(0, kMostLookedAt);
    outcome.detail = safe(words, private_parts, limits::kDetail);
    if (!code.empty()) outcome.reason = "code-" + code;
  } else {
    outcome.detail.clear();
  }
  outcome.reference = safe(answer.joined(wanted.reference), private_parts, limits::kReference);
}

void apply(const RecipeAnswer& rule, const HttpEvidence& evidence, const RecipeDocument& answer, Instant now,
           Outcome& outcome) {
  outcome.cls = rule.cls;
  outcome.disable_endpoint = rule.disable_endpoint;
  outcome.halt_channel = rule.halt_channel;
  if (rule.cls == OutcomeClass::kSent) {
    const bool looked_inside = !rule.match.tests.empty() || !rule.match.text.empty();
    outcome.lane_wide = false;
    outcome.retry_after.reset();
    outcome.duplicate_risk = evidence.silent_retry && evidence.requests_begun > 1;
    if (!looked_inside || !evidence.body_truncated) return;
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = "answer-incomplete";
    return;
  }
  if (rule.wait) outcome.retry_after = rule.wait;
  if (rule.wait_from)
    if (const auto said = wait_in(*rule.wait_from, answer, now)) outcome.retry_after = said;
  outcome.lane_wide = rule.cls == OutcomeClass::kNotSent && rule.lane_wide.value_or(outcome.lane_wide);
}

// A vendor may list several things about one message: each of its events, or each time that it was sent.
std::vector<RecipeDocument> those_of(const RecipeLookUp& look_up, std::vector<RecipeDocument> elements,
                                     const RecipeInput& input) {
  std::erase_if(elements, [&](const RecipeDocument& element) {
    return !std::all_of(look_up.find.begin(), look_up.find.end(), [&](const auto& find) {
      const Result<std::string> wanted = text_of(find.second, input, Missing::kIsEmpty);
      return wanted && !wanted->empty() && element.value(find.first) == *wanted;
    });
  });
  return elements;
}

}  // namespace

RecipeVerdict judge_answer(const Recipe& recipe, const HttpEvidence& evidence, Instant now,
                           std::span<const std::string> private_parts) {
  RecipeVerdict verdict{classify_http(evidence, StatusRules{}, now), false};
  Outcome& outcome = verdict.outcome;
  if (evidence.status < 200) {
    // Our own refusal is told in our own words.
    if (!evidence.address_blocked) outcome.detail = safe(evidence.curl_error, private_parts, limits::kDetail);
    return verdict;
  }
  const RecipeDocument answer(evidence.body, evidence.headers);
  for (const RecipeAnswer& rule : recipe.answers) {
    if (!answer.matches(rule.match, evidence.status)) continue;
    apply(rule, evidence, answer, now, outcome);
    tell(recipe.evidence, evidence.body, answer, private_parts, outcome);
    if (!rule.reason.empty() && outcome.reason != "answer-incomplete") outcome.reason = rule.reason;
    verdict.refresh_token = rule.refresh_token;
    return verdict;
  }
  if (outcome.cls == OutcomeClass::kSent) {
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = evidence.body_truncated ? "answer-incomplete" : "answer-not-known";
  }
  const std::string reason = outcome.reason;
  tell(recipe.evidence, evidence.body, answer, private_parts, outcome);
  if (reason == "answer-incomplete") outcome.reason = reason;
  return verdict;
}

Outcome judge_result(const RecipeBatch& batch, const HttpEvidence& evidence, const RecipeDocument& result, Instant now,
                     std::span<const std::string> private_parts) {
  Outcome outcome = classify_http(evidence, StatusRules{}, now);
  for (const RecipeAnswer& rule : batch.answers) {
    if (!result.matches(rule.match, evidence.status)) continue;
    apply(rule, evidence, result, now, outcome);
    tell(batch.evidence, {}, result, private_parts, outcome);
    if (!rule.reason.empty()) outcome.reason = rule.reason;
    return outcome;
  }
  outcome.cls = OutcomeClass::kUnknown;
  outcome.reason = "answer-not-known";
  tell(batch.evidence, {}, result, private_parts, outcome);
  return outcome;
}

LookUpAnswer judge_look_up(const RecipeLookUp& look_up, const HttpEvidence& evidence, const RecipeInput& input,
                           std::span<const std::string> private_parts) {
  LookUpAnswer result;
  const auto unknown = [&](std::string reason) {
    result.kind = LookUpAnswer::Kind::kUnknown;
    result.reason = std::move(reason);
    result.detail = safe(evidence.status == 0 ? evidence.curl_error : evidence.body, private_parts, limits::kDetail);
    return result;
  };
  if (evidence.status < 200) return unknown("no-answer");
  if (evidence.body_truncated) return unknown("answer-incomplete");
  std::vector<RecipeDocument> ours;
  ours.emplace_back(evidence.body, evidence.headers);
  if (!ours.front().matches(look_up.answered, evidence.status))
    return unknown("http-" + std::to_string(evidence.status));
  if (look_up.list) {
    std::optional<std::vector<RecipeDocument>> elements = ours.front().elements(*look_up.list);
    if (!elements) return unknown("answer-not-known");
    ours = those_of(look_up, std::move(*elements), input);
    if (ours.empty()) {
      result.kind = look_up.absent;
      result.reason = "not-listed";
      return result;
    }
  }
  for (const RecipeLookUpRule& rule : look_up.rules) {
    const auto found = std::find_if(ours.begin(), ours.end(), [&](const RecipeDocument& element) {
      return element.matches(rule.match, evidence.status);
    });
    if (found == ours.end()) continue;
    result.kind = rule.kind;
    result.disable_endpoint = rule.disable_endpoint;
    result.halt_channel = rule.halt_channel;
    const std::string code = safe(code_word(look_up.evidence, *found), private_parts, kLongestCode);
    result.reason = !rule.reason.empty() ? rule.reason : code.empty() ? "looked-up" : "code-" + code;
    result.detail = safe(found->first_of(look_up.evidence.text).value_or(""), private_parts, limits::kDetail);
    result.reference = safe(found->joined(look_up.evidence.reference), private_parts, limits::kReference);
    return result;
  }
  return unknown("answer-not-known");
}

// --- reachability

namespace {

bool covers(const std::vector<std::pair<int, int>>& earlier, const std::vector<std::pair<int, int>>& later) {
  if (earlier.empty()) return true;
  return !later.empty() && std::all_of(later.begin(), later.end(), [&](const auto& l) {
    return std::any_of(earlier.begin(), earlier.end(),
                       [&](const auto& e) { return e.first <= l.first && l.second <= e.second; });
  });
}

// What patterns let through is not compared: a rule that is never reached because of one is not found.
bool covers(const RecipeWords& earlier, const RecipeWords& later) {
  const auto covered = [&](const std::string& value) { return is_one_of(value, earlier.values); };
  return (later.patterns.empty() || covered("*")) && std::all_of(later.values.begin(), later.values.end(), covered);
}

bool covers(const RecipeTest& earlier, const RecipeTest& later) {
  return earlier.source.pointer == later.source.pointer && earlier.source.header == later.source.header &&
         covers(earlier.words, later.words);
}

// Every test of the earlier rule is passed by whatever passes the later one.
bool covers(const RecipeMatch& earlier, const RecipeMatch& later) {
  if (!covers(earlier.statuses, later.statuses)) return false;
  if (!earlier.text.empty() && (later.text.empty() || !covers(earlier.text, later.text))) return false;
  return std::all_of(earlier.tests.begin(), earlier.tests.end(), [&](const RecipeTest& e) {
    return std::any_of(later.tests.begin(), later.tests.end(), [&](const RecipeTest& l) { return covers(e, l); });
  });
}

}  // namespace

std::optional<std::size_t> unreachable(std::span<const RecipeMatch* const> rules) {
  for (std::size_t later = 1; later < rules.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (covers(*rules[earlier], *rules[later])) return later;
  return std::nullopt;
}

}  // namespace notify

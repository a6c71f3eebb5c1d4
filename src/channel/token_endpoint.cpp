#include "channel/token_endpoint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "channel/vendor_common.hpp"
#include "core/classify.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::int64_t kUsualLife = 3600;            // seconds, when expires_in is missing
constexpr std::int64_t kLongestLife = 30LL * 86400;  // what is longer is looked at again by then
constexpr std::size_t kLongestToken = 16 * 1024;

// A token goes into a header.
bool fits_a_header(std::string_view text) {
  if (text.empty() || text.size() > kLongestToken) return false;
  for (const char c : text)
    if (c <= ' ' || c > '~') return false;
  return true;
}

std::int64_t life_of(const nlohmann::json& answer) {
  const auto found = answer.find("expires_in");
  if (found == answer.end() || !found->is_number()) return kUsualLife;
  return std::clamp<std::int64_t>(found->get<std::int64_t>(), 1, kLongestLife);
}

}  // namespace

Outcome no_token(const HttpEvidence& evidence, std::string_view said, std::span<const std::string> secrets,
                 Instant now) {
  StatusRules rules;
  rules.not_sent = {503};
  Outcome judged = classify_http(evidence, rules, now);
  if (judged.shortage) return judged;
  if (evidence.status == 0) said = evidence.curl_error;
  Outcome outcome = credential_failed("token-" + judged.reason,
                                      "the token endpoint: " + safe_text_without(said, secrets, limits::kDetail / 2));
  outcome.status = evidence.status;
  if (evidence.status == 429 || evidence.status == 503) {
    outcome.halt_channel = false;
    outcome.lane_wide = true;
    outcome.retry_after = judged.retry_after;
  }
  return outcome;
}

HttpRequest assertion_request(std::string url, std::string_view assertion) {
  HttpRequest request;
  request.url = std::move(url);
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}};
  // A JWT has no character that a form would escape.
  request.body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  request.body += assertion;
  request.once = false;
  request.allow_private = true;  // the URL is configured
  return request;
}

CredentialSource::Fetched read_token_answer(const HttpEvidence& evidence, Instant asked, Instant now,
                                            std::string_view secret) {
  const nlohmann::json answer = json_of(evidence);
  if (evidence.status != 200) {
    std::string said = text_member(answer, "error_description");
    if (said.empty()) said = text_member(answer, "error");
    const std::vector<std::string> secrets{std::string(secret)};
    return tl::unexpected(no_token(evidence, said, secrets, now));
  }
  const std::string token = text_member(answer, "access_token");
  if (!fits_a_header(token)) {
    Outcome outcome = credential_failed("token-answer", "the token endpoint answered 200 without an access token");
    outcome.status = evidence.status;
    return tl::unexpected(std::move(outcome));
  }
  return Credential{Secret(token), asked, asked + std::chrono::seconds(life_of(answer))};
}

}  // namespace notify

#include "channel/http_vendor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "channel/personal_parts.hpp"
#include "channel/target_url.hpp"
#include "channel/vendor_common.hpp"
#include "core/classify.hpp"
#include "core/crypto.hpp"
#include "core/message.hpp"
#include "core/recipe_answer.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

std::string nonce_of(const std::string& id, int attempt, Instant now, std::uint64_t number) {
  Sha256Hasher hasher;
  for (const std::string& part : {id, std::to_string(attempt), std::to_string(now.ms), std::to_string(number)}) {
    hasher.update(part);
    hasher.update("\n");
  }
  const Sha256 digest = hasher.finish();
  return to_hex({reinterpret_cast<const char*>(digest.data()), 16});
}

// Where the recipient is the endpoint, its troubles are not the lane's; where the configured URL is, they are.
void judge_endpoint(const HttpChannelSettings& settings, const HttpEvidence& evidence, Outcome& outcome) {
  if (settings.recipe->recipient_hosts.empty()) return;
  if (!recipient_is_url(*settings.recipe, settings.values)) {
    outcome.halt_channel = outcome.halt_channel || outcome.disable_endpoint;
    outcome.disable_endpoint = false;
    return;
  }
  spare_the_lane(evidence, outcome);
}

// `waited`: for the token.
void start_call(const std::shared_ptr<HttpVendor>& vendor, const Dispatch& dispatch,
                const std::optional<Credential>& token, Duration waited, Channel::Done done) {
  auto call = vendor->call(dispatch, token ? token->value.reveal() : std::string());
  if (!call) {
    // check() lets nothing through that comes here.
    vendor->loop.post([done = std::move(done), outcome = impossible_call(call.error())] { done(outcome); });
    return;
  }
  std::vector<std::string> parts = personal_parts(dispatch);
  for (std::string& part : vendor->private_parts(call->secrets, dispatch.address)) parts.push_back(std::move(part));
  if (token) parts.push_back(token->value.reveal());
  spend(call->request, waited);
  vendor->http.start(std::move(call->request), [done = std::move(done), parts = std::move(parts), token,
                                                vendor](const HttpEvidence& evidence) {
    RecipeVerdict verdict = judge_answer(vendor->recipe(), evidence, vendor->clock.now(), parts);
    judge_endpoint(*vendor->settings, evidence, verdict.outcome);
    using Said = CredentialSource::Said;
    const bool sent = verdict.outcome.cls == OutcomeClass::kSent;
    const Said said = verdict.refresh_token ? Said::kRefused : sent ? Said::kAccepted : Said::kNothing;
    if (token) vendor->tokens->judge(*token, said, verdict.outcome);
    done(std::move(verdict.outcome));
  });
}

}  // namespace

HttpVendor::HttpVendor(std::shared_ptr<const HttpChannelSettings> given, HttpClient& client, const ChannelPorts& ports)
    : settings(std::move(given)), http(client), loop(ports.loop), clock(ports.clock) {}

RecipeInput HttpVendor::input(const std::string& id, int attempt, std::string token) {
  RecipeInput input{recipe(), settings->values};
  input.now = clock.now();
  input.nonce = nonce_of(id, attempt, input.now, ++calls);
  input.token = std::move(token);
  return input;
}

RecipeInput HttpVendor::input(const Dispatch& dispatch, std::string token) {
  RecipeInput made = input(dispatch.envelope.message_id, dispatch.attempt, std::move(token));
  made.message = &dispatch;
  return made;
}

Result<RecipeCall> HttpVendor::call(const Dispatch& dispatch, std::string token) {
  return make_call(recipe().request, recipe().auth, recipe().signature, input(dispatch, std::move(token)),
                   settings->base);
}

std::vector<std::string> HttpVendor::private_parts(const std::vector<std::string>& made,
                                                   const std::string& address) const {
  std::vector<std::string> parts = settings->secrets;
  parts.insert(parts.end(), made.begin(), made.end());
  std::string digits;
  std::copy_if(address.begin(), address.end(), std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  if (digits.size() >= 7) {
    parts.push_back(digits);
    parts.push_back(digits.substr(digits.starts_with("82") ? 2 : 1));  // as it is dialled at home, without the zero
  }
  if (recipient_is_url(recipe(), settings->values))
    for (std::string& part : telling_parts(address)) parts.push_back(std::move(part));
  return parts;
}

Outcome impossible_call(const Error& error) {
  Outcome outcome;
  outcome.cls = OutcomeClass::kPermanent;
  outcome.reason = "bad-request";
  outcome.detail = safe_text(error.message, limits::kDetail);
  return outcome;
}

void send_alone(const std::shared_ptr<HttpVendor>& vendor, Dispatch dispatch, Channel::Done done) {
  if (vendor->tokens == nullptr) return start_call(vendor, dispatch, std::nullopt, {}, std::move(done));
  vendor->tokens->get([vendor, began = vendor->clock.monotonic(), dispatch = std::move(dispatch),
                       done = std::move(done)](const auto& token) {
    if (!token) return done(token.error());
    start_call(vendor, dispatch, *token, vendor->clock.monotonic() - began, done);
  });
}

}  // namespace notify

#include "channel/webhook.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "channel/dispatch_check.hpp"
#include "channel/message_json.hpp"
#include "channel/signature.hpp"
#include "channel/target_url.hpp"
#include "channel/vendor_common.hpp"
#include "channel/webhook_settings.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using KeyStyle = WebhookDriverConfig::KeyStyle;

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// What the receiver or libcurl says about a request that did not succeed. It may hold what we sent.
std::string detail_of(const HttpEvidence& evidence, const Dispatch& dispatch, const WebhookSettings& settings,
                      std::string signature) {
  std::vector<std::string> parts = settings.secrets;
  if (settings.url.empty())
    for (std::string& part : telling_parts(dispatch.address)) parts.push_back(std::move(part));
  parts.push_back(std::move(signature));
  return safe_detail(evidence, {}, dispatch, parts);
}

// Standard Webhooks: 410 says that the endpoint is gone. Where the recipient is the endpoint, its troubles
// are not the lane's: one receiver that refuses us must not hold up the others.
void judge_endpoint(const HttpEvidence& evidence, bool url_is_configured, Outcome& outcome) {
  constexpr int kGone = 410;
  if (url_is_configured) {
    outcome.halt_channel = outcome.halt_channel || outcome.status == kGone;
    outcome.disable_endpoint = false;
    return;
  }
  spare_the_lane(evidence, outcome);
}

// A 503 that says when to come back was not worked on; 429, 502 and 504 ask for fewer requests (Standard Webhooks).
void judge_load(const HttpEvidence& evidence, Outcome& outcome) {
  constexpr Duration kBreath = 5s;
  if (evidence.status == 503 && outcome.retry_after) outcome.cls = OutcomeClass::kNotSent;
  if (evidence.status != 429 && evidence.status != 502 && evidence.status != 504) return;
  outcome.lane_wide = true;
  if (!outcome.retry_after) outcome.retry_after = kBreath;
}

class WebhookChannel final : public Channel {
 public:
  WebhookChannel(std::shared_ptr<const WebhookSettings> settings, HttpClient& http, Clock& clock)
      : settings_(std::move(settings)), http_(http), clock_(clock) {}

  Result<void> check(const Dispatch& dispatch) const override {
    if (settings_->url.empty()) TRY(check_target_url(dispatch.address));
    TRY(check_dispatch(dispatch));
    if (!is_visible_ascii(dispatch.envelope.correlation))
      return fail_field("correlation", "correlation: a header can only hold ASCII");
    return {};
  }

  std::string preview(const Dispatch& dispatch) const override {
    HttpRequest request = make_request(dispatch);
    std::vector<std::string> secrets = settings_->secrets;
    if (std::string signature = add_message_headers(dispatch.envelope, request); !signature.empty())
      secrets.push_back(std::move(signature));
    // A configured URL may be a secret from its path on.
    if (!settings_->url.empty()) request.url = mask_address(request.url);
    return preview_of(request, secrets);
  }

  void send(Dispatch dispatch, Done done) override {
    HttpRequest request = make_request(dispatch);
    std::string signature = add_message_headers(dispatch.envelope, request);
    // Captures no `this`: the channel may be gone before the call is.
    http_.start(std::move(request), [done = std::move(done), dispatch = std::move(dispatch), settings = settings_,
                                     signature = std::move(signature), &clock = clock_](const HttpEvidence& evidence) {
      Outcome outcome = classify_http(evidence, settings->rules, clock.now());
      judge_load(evidence, outcome);
      judge_endpoint(evidence, !settings->url.empty(), outcome);
      const bool sent = outcome.cls == OutcomeClass::kSent;
      // Our own refusal is told in our own words: libcurl only saw that there was no connection.
      if (sent)
        outcome.detail.clear();
      else if (!evidence.address_blocked)
        outcome.detail = detail_of(evidence, dispatch, *settings, signature);
      done(std::move(outcome));
    });
  }

 private:
  HttpRequest make_request(const Dispatch& dispatch) const {
    HttpRequest request = settings_->request;
    request.url = settings_->url.empty() ? dispatch.address : settings_->url;
    request.body = message_json(dispatch);
    request.headers = settings_->headers;
    return request;
  }

  // Returns the signature.
  std::string add_message_headers(const Envelope& envelope, HttpRequest& request) const {
    const std::int64_t seconds = clock_.now().ms / 1000;
    if (settings_->key_style == KeyStyle::kPlain)
      request.headers.emplace_back("Idempotency-Key", envelope.message_id);
    else if (settings_->key_style == KeyStyle::kQuoted)  // a message id holds nothing that RFC 8941 would escape
      request.headers.emplace_back("Idempotency-Key", "\"" + envelope.message_id + "\"");
    request.headers.emplace_back("webhook-id", envelope.message_id);
    request.headers.emplace_back("webhook-timestamp", std::to_string(seconds));
    if (!envelope.correlation.empty()) request.headers.emplace_back("X-Correlation-Id", envelope.correlation);
    if (settings_->keys.empty()) return {};
    std::string signature = webhook_signature(settings_->keys, envelope.message_id, seconds, request.body);
    request.headers.emplace_back("webhook-signature", signature);
    return signature;
  }

  std::shared_ptr<const WebhookSettings> settings_;
  HttpClient& http_;
  Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<Channel>> make_webhook_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  TRY_ASSIGN(std::shared_ptr<const WebhookSettings> settings, make_webhook_settings(config, ports.user_agent));
  TRY_ASSIGN(HttpClient * http, ports.http());
  return std::make_unique<WebhookChannel>(std::move(settings), *http, ports.clock);
}

}  // namespace notify

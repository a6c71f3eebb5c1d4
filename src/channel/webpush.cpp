#include "channel/webpush.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "channel/dispatch_check.hpp"
#include "channel/target_url.hpp"
#include "channel/vendor_common.hpp"
#include "channel/webpush_encryption.hpp"
#include "core/ascii.hpp"
#include "core/classify.hpp"
#include "core/jwt.hpp"
#include "core/message.hpp"
#include "core/policy.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kVapidLife = 18h;    // RFC 8292 2: at most 24 hours
constexpr Duration kTokenRenewal = 6h;  // renewed when less is left
constexpr std::size_t kMostOrigins = 64;
constexpr int kKeyIsWrong = 5;  // refusals of our key in a row, over all push services

struct WebPushSettings {
  WebPushDriverConfig driver{};
  HttpRequest request{};
};

// VAPID (RFC 8292): one token an origin, and what the origins think of our key. Loop thread only.
class Vapid {
 public:
  Vapid(PrivateKey key, std::string subject)
      : key_(std::move(key)), subject_(std::move(subject)), public_key_(to_base64url(key_.public_point())) {}

  // The value of Authorization.
  std::string authorization(const std::string& origin, Instant now) {
    if (tokens_.size() >= kMostOrigins && !tokens_.contains(origin)) tokens_.clear();
    Token& token = tokens_[origin];
    if (token.text.empty() || token.expires - now < kTokenRenewal || token.expires - now > kVapidLife) {
      token.expires = now + kVapidLife;
      const std::string claims = json_text(Json{{"aud", origin}, {"exp", token.expires.ms / 1000}, {"sub", subject_}});
      token.text = signed_jwt(R"({"typ":"JWT","alg":"ES256"})", claims, key_);
    }
    return "vapid t=" + token.text + ", k=" + public_key_;
  }

  // A service that has taken this key before refuses one subscription: that one was made for another key. One that never
  // has says nothing about the subscription; when several in a row refuse the key, it is the key.
  void judge(const std::string& origin, WebPushVerdict& verdict) {
    Outcome& outcome = verdict.outcome;
    if (outcome.cls == OutcomeClass::kSent) {
      refused_in_a_row_ = 0;
      if (trusted_.size() >= kMostOrigins) trusted_.clear();
      trusted_.insert(origin);
    }
    if (!verdict.key_refused) return;
    if (trusted_.contains(origin)) {
      outcome.cls = OutcomeClass::kPermanent;
      outcome.disable_endpoint = true;
    } else {
      outcome.halt_channel = ++refused_in_a_row_ >= kKeyIsWrong;
    }
  }

 private:
  struct Token {
    std::string text{};
    Instant expires{};
  };
  PrivateKey key_;
  std::string subject_;
  std::string public_key_;
  std::map<std::string, Token> tokens_{};  // by origin
  std::set<std::string> trusted_{};        // origins that have accepted our key
  int refused_in_a_row_ = 0;
};

Result<PrivateKey> read_key(const std::string& text) {
  if (text.find("-----BEGIN") != std::string::npos) {
    TRY_ASSIGN(PrivateKey key, PrivateKey::from_pem(text));
    if (key.kind() != PrivateKey::Kind::kP256) return fail(Code::kConfig, "VAPID keys are on the curve P-256");
    return key;
  }
  std::string scalar;
  if (!from_base64url(text, scalar))
    return fail(Code::kConfig, "this is neither a private key in PEM nor one in base64url");
  return PrivateKey::from_p256(scalar);
}

class WebPushChannel final : public Channel {
 public:
  WebPushChannel(std::shared_ptr<const WebPushSettings> settings, std::shared_ptr<Vapid> vapid, HttpClient& http,
                 Clock& clock)
      : settings_(std::move(settings)), vapid_(std::move(vapid)), http_(http), clock_(clock) {}

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(check_dispatch(dispatch));
    TRY_ASSIGN(const Subscription subscription, read_subscription(dispatch.address));
    const std::vector<std::string>& allowed = settings_->driver.allow_hosts;
    const std::string host = target_host(subscription.endpoint);
    if (!allowed.empty() && std::none_of(allowed.begin(), allowed.end(),
                                         [&](const std::string& pattern) { return glob_match(pattern, host); }))
      return fail_field("to", "recipient: the subscription's push service is not among allow_hosts");
    if (const std::size_t size = webpush_payload(dispatch).size(); size > kLongestPush)
      return fail_field("body", "body: the push has " + std::to_string(size) + " bytes, push services take " +
                                    std::to_string(kLongestPush));
    return {};
  }

  std::string preview(const Dispatch& dispatch) const override {
    const Result<Subscription> subscription = read_subscription(dispatch.address);
    HttpRequest request = make_request(dispatch);
    request.url = subscription ? origin_of(subscription->endpoint) + "/***" : "";
    request.headers.emplace_back("Authorization", std::string("vapid t=") + Secret::masked());
    request.body = webpush_payload(dispatch) + "\n(encrypted for the subscription when it is sent)";
    return preview_of(request, {});
  }

  void send(Dispatch dispatch, Done done) override {
    const Result<Subscription> subscription = read_subscription(dispatch.address);
    ASSERT(subscription.has_value());  // check() has seen to it
    HttpRequest request = make_request(dispatch);
    request.url = subscription->endpoint;
    const std::string origin = origin_of(subscription->endpoint);
    request.headers.emplace_back("Authorization", vapid_->authorization(origin, clock_.now()));
    const Result<std::string> body =
        encrypt_push(webpush_payload(dispatch), *subscription, PrivateKey::generate_p256(), random_bytes(16));
    ASSERT(body.has_value());
    request.body = *body;
    std::vector<std::string> secrets = telling_parts(subscription->endpoint);
    secrets.push_back(request.headers.back().second);
    // Captures no `this`: the channel may be gone before the call is.
    http_.start(std::move(request),
                [&clock = clock_, vapid = vapid_, origin, host = target_host(subscription->endpoint),
                 secrets = std::move(secrets), dispatch = std::move(dispatch),
                 done = std::move(done)](const HttpEvidence& evidence) {
                  WebPushVerdict verdict = judge_webpush(evidence, host, clock.now());
                  vapid->judge(origin, verdict);
                  Outcome& outcome = verdict.outcome;
                  if (outcome.cls == OutcomeClass::kSent)
                    outcome.detail.clear();
                  else if (!evidence.address_blocked)
                    outcome.detail = safe_detail(evidence, {}, dispatch, secrets);
                  done(std::move(outcome));
                });
  }

 private:
  HttpRequest make_request(const Dispatch& dispatch) const {
    const WebPushDriverConfig& driver = settings_->driver;
    const Envelope& envelope = dispatch.envelope;
    HttpRequest request = settings_->request;
    const Duration left = envelope.expires ? *envelope.expires - clock_.now() : driver.ttl;
    const auto ttl = std::max(std::chrono::floor<std::chrono::seconds>(left), std::chrono::seconds{0});
    request.headers.emplace_back("TTL", std::to_string(ttl.count()));
    // A repetition replaces what has not been fetched yet.
    request.headers.emplace_back("Topic", message_mark(envelope.message_id).substr(0, 32));
    return request;
  }

  std::shared_ptr<const WebPushSettings> settings_;
  std::shared_ptr<Vapid> vapid_;
  HttpClient& http_;
  Clock& clock_;
};

}  // namespace

std::string webpush_payload(const Dispatch& dispatch) {
  const Payload& content = dispatch.content;
  Json payload{{"message_id", dispatch.envelope.message_id}};
  if (!content.subject.empty()) payload["title"] = content.subject;
  if (!content.body.empty()) payload["body"] = content.body;
  const Json data = content.data.empty() ? Json() : Json::parse(content.data, nullptr, false);
  if (!data.is_null() && !data.is_discarded()) payload["data"] = data;
  return json_text(payload);
}

std::string origin_of(std::string_view url) {
  const std::size_t start = url.find("://") + 3;
  std::string origin(url.substr(0, url.find_first_of("/?#", start)));
  // RFC 6454 6.1: without the scheme's own port, in lower case.
  if (origin.ends_with(":443")) origin.resize(origin.size() - 4);
  return lowered(origin);
}

WebPushVerdict judge_webpush(const HttpEvidence& evidence, std::string_view host, Instant now) {
  StatusRules rules;
  if (host.ends_with(".notify.windows.com")) rules.not_sent.push_back(406);  // its way to say "slower"
  if (!header_value(evidence, "retry-after").empty()) rules.not_sent.push_back(503);
  WebPushVerdict verdict{classify_http(evidence, rules, now)};
  Outcome& outcome = verdict.outcome;
  spare_the_lane(evidence, outcome);
  if (outcome.cls == OutcomeClass::kSent)
    outcome.reference = safe_text(header_value(evidence, "location"), limits::kReference);
  outcome.disable_endpoint = evidence.status == 404 || evidence.status == 410;
  verdict.key_refused = evidence.status == 401 || evidence.status == 403;
  return verdict;
}

Result<std::unique_ptr<Channel>> make_webpush_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const auto* driver = std::get_if<WebPushDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  Result<PrivateKey> key = read_key(driver->key.value.reveal());
  if (!key) return fail(with_context(std::move(key).error(), "key"));
  TRY_ASSIGN(HttpClient * http, ports.http());
  auto settings =
      std::make_shared<WebPushSettings>(WebPushSettings{*driver, vendor_request(config, HttpRequest::Version::k2)});
  settings->request.allow_private = driver->allow_private;
  settings->request.headers = {{"Content-Type", "application/octet-stream"},
                               {"Content-Encoding", "aes128gcm"},
                               {"Urgency", driver->urgency},
                               {"User-Agent", ports.user_agent}};
  auto vapid = std::make_shared<Vapid>(std::move(*key), driver->subject);
  return std::make_unique<WebPushChannel>(std::move(settings), std::move(vapid), *http, ports.clock);
}

}  // namespace notify

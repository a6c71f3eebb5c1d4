#include "channel/apns.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "channel/credential.hpp"
#include "channel/dispatch_check.hpp"
#include "channel/vendor_common.hpp"
#include "core/ascii.hpp"
#include "core/classify.hpp"
#include "core/jwt.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"
#include "core/uuid.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestAlertPayload = 4096;
constexpr std::size_t kLongestVoipPayload = 5120;
constexpr std::size_t kLongestDeviceToken = 200;  // hex digits; Apple asks not to expect a length

constexpr Duration kProviderTokenLife = 60min;  // Apple's
constexpr Duration kTokenMinimum = 20min;       // between two new ones, Apple's
constexpr Duration kAfterServerError = 15min;

// --- Apple's reasons

struct Reason {
  std::string_view name;
  OutcomeClass cls;
  enum Then { kNothing, kForeign, kHalt, kRenew, kThrottled, kTooManyTokens, kWait } then = kNothing;
  bool reconnect = false;  // on the same connection the answer would be the same
};

// Those that are judged in another way than their status.
constexpr std::array kReasons{
    Reason{"BadDeviceToken", OutcomeClass::kPermanent, Reason::kForeign},
    Reason{"DeviceTokenNotForTopic", OutcomeClass::kPermanent, Reason::kForeign},
    Reason{"BadTopic", OutcomeClass::kPermanent, Reason::kHalt},
    Reason{"MissingTopic", OutcomeClass::kPermanent, Reason::kHalt},
    Reason{"TopicDisallowed", OutcomeClass::kPermanent, Reason::kHalt},
    Reason{"IdleTimeout", OutcomeClass::kNotSent, Reason::kNothing, true},
    Reason{"ExpiredProviderToken", OutcomeClass::kNotSent, Reason::kRenew},
    Reason{"UnrelatedKeyIdInToken", OutcomeClass::kNotSent, Reason::kNothing, true},
    Reason{"Forbidden", OutcomeClass::kPermanent, Reason::kNothing},
    Reason{"TooManyRequests", OutcomeClass::kNotSent, Reason::kThrottled},
    Reason{"TooManyProviderTokenUpdates", OutcomeClass::kNotSent, Reason::kTooManyTokens, true},
    Reason{"InternalServerError", OutcomeClass::kUnknown, Reason::kWait},
    Reason{"ServiceUnavailable", OutcomeClass::kNotSent, Reason::kWait, true},
    Reason{"Shutdown", OutcomeClass::kNotSent, Reason::kNothing, true},
};

// Since when a device is gone; Apple says so with 410, in milliseconds.
std::optional<Instant> gone_since(const nlohmann::json& answer) {
  const auto since = answer.is_object() ? answer.find("timestamp") : answer.end();
  if (since == answer.end() || !since->is_number_integer()) return std::nullopt;
  return Instant{since->get<std::int64_t>()};
}

void apply(const Reason& reason, ApnsVerdict& verdict) {
  Outcome& outcome = verdict.outcome;
  outcome.cls = reason.cls;
  verdict.foreign = reason.then == Reason::kForeign;
  outcome.disable_endpoint = verdict.foreign;
  outcome.halt_channel = reason.then == Reason::kHalt;
  verdict.renew = reason.then == Reason::kRenew;
  verdict.reconnect = reason.reconnect;
  switch (reason.then) {
    case Reason::kThrottled: outcome.lane_wide = outcome.retry_after.has_value(); break;  // else it is this device
    case Reason::kTooManyTokens:
      outcome.lane_wide = true;
      outcome.retry_after = std::max(outcome.retry_after.value_or(kTokenMinimum), kTokenMinimum);
      break;
    case Reason::kWait:
      if (!outcome.retry_after) outcome.retry_after = kAfterServerError;
      break;
    default: break;
  }
}

// --- the driver

struct ApnsSettings {
  ApnsDriverConfig driver{};
  HttpRequest request{};
};

std::shared_ptr<CredentialSource> provider_tokens(const ApnsDriverConfig& driver, PrivateKey key,
                                                  const ChannelPorts& ports) {
  CredentialSource::Policy policy;
  policy.renew_before = 15min;
  policy.margin = 5min;
  policy.minimum_age = kTokenMinimum;
  const std::string header = json_text(Json{{"alg", "ES256"}, {"kid", driver.key_id}});
  auto fetch = [header, team = driver.team_id, key = std::move(key),
                &clock = ports.clock](const std::function<void(CredentialSource::Fetched)>& done) {
    const Instant now = clock.now();
    const std::string claims = json_text(Json{{"iss", team}, {"iat", now.ms / 1000}});
    done(Credential{Secret(signed_jwt(header, claims, key)), now, now + kProviderTokenLife});
  };
  // Apple counts by team and key, not by topic: channels of one key share the token.
  const std::string name = credential_name("apns", driver.team_id + " " + driver.key_id + " " + driver.url);
  return CredentialSource::make(name, policy, std::move(fetch), ports.credentials, ports.loop, ports.clock);
}

class ApnsChannel final : public Channel {
 public:
  ApnsChannel(std::shared_ptr<const ApnsSettings> settings, std::shared_ptr<CredentialSource> tokens, HttpClient& http,
              Clock& clock)
      : settings_(std::move(settings)), tokens_(std::move(tokens)), http_(http), clock_(clock) {}

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(check_dispatch(dispatch));
    const std::string& token = dispatch.address;
    if (token.size() > kLongestDeviceToken || token.size() % 2 != 0 ||
        !std::all_of(token.begin(), token.end(), is_hex_digit))
      return fail_field("to", "recipient: no device token, which is written in hexadecimal digits");
    const Payload& content = dispatch.content;
    const bool silent = settings_->driver.push_type == "background";
    if (silent && !(content.subject.empty() && content.body.empty()))
      return fail_field("body", "body: a background push carries data only");
    const std::size_t limit = settings_->driver.push_type == "voip" ? kLongestVoipPayload : kLongestAlertPayload;
    const std::size_t size = apns_payload(dispatch, settings_->driver).size();
    if (size > limit)
      return fail_field("body", "body: the notification has " + std::to_string(size) + " bytes, Apple takes " +
                                    std::to_string(limit));
    return {};
  }

  std::string preview(const Dispatch& dispatch) const override {
    HttpRequest request = make_request(dispatch);
    request.headers.emplace_back("authorization", std::string("bearer ") + Secret::masked());
    return preview_of(request, {});
  }

  void send(Dispatch dispatch, Done done) override {
    HttpRequest request = make_request(dispatch);
    // Captures no `this`: the channel may be gone before the call is.
    auto judge = [&clock = clock_, &http = http_, tokens = tokens_, streak = streak_, dispatch = std::move(dispatch)](
                     const Credential& token, const HttpEvidence& evidence) {
      ApnsVerdict verdict = judge_apns(evidence, clock.now());
      if (verdict.reconnect) http.leave(evidence);
      Outcome& outcome = verdict.outcome;
      const std::vector<std::string> secrets{token.value.reveal()};
      if (outcome.cls != OutcomeClass::kSent) outcome.detail = safe_detail(evidence, {}, dispatch, secrets);
      using Said = CredentialSource::Said;
      const bool known = evidence.status != 0 && evidence.status != 403;
      tokens->judge(token, verdict.renew ? Said::kRefused : known ? Said::kAccepted : Said::kNothing, outcome);
      streak->judge(outcome, verdict.foreign,
                    "is the environment (production or sandbox), and is the topic, that of these devices?");
      return std::move(outcome);
    };
    start_with_credential(*tokens_, http_, clock_, std::move(request), "bearer", std::move(judge), std::move(done));
  }

 private:
  HttpRequest make_request(const Dispatch& dispatch) const {
    const ApnsDriverConfig& driver = settings_->driver;
    const Envelope& envelope = dispatch.envelope;
    HttpRequest request = settings_->request;
    request.url = driver.url + "/3/device/" + dispatch.address;
    request.body = apns_payload(dispatch, driver);
    request.headers = {{"apns-topic", driver.topic},
                       {"apns-push-type", driver.push_type},
                       {"apns-priority", std::to_string(driver.priority)},
                       {"apns-id", uuid_of(envelope.message_id)},
                       {"apns-collapse-id", message_mark(envelope.message_id)}};
    if (envelope.expires)
      request.headers.emplace_back("apns-expiration", std::to_string(envelope.expires->ms / 1000));
    else if (driver.ttl)
      request.headers.emplace_back(
          "apns-expiration", driver.ttl->count() == 0 ? "0" : std::to_string((clock_.now() + *driver.ttl).ms / 1000));
    return request;
  }

  std::shared_ptr<const ApnsSettings> settings_;
  std::shared_ptr<CredentialSource> tokens_;
  std::shared_ptr<ForeignStreak> streak_ = std::make_shared<ForeignStreak>();
  HttpClient& http_;
  Clock& clock_;
};

}  // namespace

std::string apns_payload(const Dispatch& dispatch, const ApnsDriverConfig& driver) {
  const Payload& content = dispatch.content;
  Json aps = Json::object();
  if (driver.push_type == "background") {
    aps["content-available"] = 1;
  } else if (!content.subject.empty() || !content.body.empty()) {
    if (!content.subject.empty()) aps["alert"]["title"] = content.subject;
    if (!content.body.empty()) aps["alert"]["body"] = content.body;
    if (!driver.sound.empty()) aps["sound"] = driver.sound;
  }
  Json payload{{"aps", std::move(aps)}};
  const Json data = content.data.empty() ? Json() : Json::parse(content.data, nullptr, false);
  if (data.is_object()) {
    for (const auto& [name, value] : data.items()) {
      if (name == "aps")
        payload["aps"].merge_patch(value);
      else
        payload[name] = value;
    }
  } else if (!data.is_null() && !data.is_discarded()) {
    payload["data"] = data;
  }
  return json_text(payload);
}

ApnsVerdict judge_apns(const HttpEvidence& evidence, Instant now) {
  StatusRules rules;
  rules.not_sent = {503};  // documented: the service is not available
  ApnsVerdict verdict{classify_http(evidence, rules, now)};
  if (evidence.status < 200) return verdict;
  Outcome& outcome = verdict.outcome;
  if (outcome.cls == OutcomeClass::kSent) {
    outcome.reference = safe_text(header_value(evidence, "apns-id"), limits::kReference);
    return verdict;
  }
  const nlohmann::json answer = json_of(evidence);
  if (outcome.disable_endpoint) outcome.gone_since = gone_since(answer);
  const std::string said = text_member(answer, "reason");
  if (!is_reason_word(said)) return verdict;
  outcome.reason = said;
  const auto* known = std::find_if(kReasons.begin(), kReasons.end(), [&](const Reason& r) { return r.name == said; });
  if (known != kReasons.end()) apply(*known, verdict);
  return verdict;
}

Result<std::unique_ptr<Channel>> make_apns_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const auto* driver = std::get_if<ApnsDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  Result<PrivateKey> key = PrivateKey::from_pem(driver->key.value.reveal());
  if (!key) return fail(with_context(std::move(key).error(), "key"));
  if (key->kind() != PrivateKey::Kind::kP256)
    return fail(Code::kConfig, "key: Apple's keys are on the curve P-256, this one is RSA");
  TRY_ASSIGN(HttpClient * http, ports.http());
  auto settings =
      std::make_shared<ApnsSettings>(ApnsSettings{*driver, vendor_request(config, HttpRequest::Version::k2)});
  // Apple binds a connection to the team, key and topic of its first push, and refuses others on it.
  settings->request.pool = "apns " + driver->team_id + " " + driver->key_id + " " + driver->topic;
  auto tokens = provider_tokens(*driver, std::move(*key), ports);
  return std::make_unique<ApnsChannel>(std::move(settings), std::move(tokens), *http, ports.clock);
}

}  // namespace notify

#include "channel/fcm.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "channel/credential.hpp"
#include "channel/dispatch_check.hpp"
#include "channel/target_url.hpp"
#include "channel/token_endpoint.hpp"
#include "channel/vendor_common.hpp"
#include "core/classify.hpp"
#include "core/jwt.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kScope = "https://www.googleapis.com/auth/firebase.messaging";
constexpr std::size_t kLongestDevicePayload = 4096;
constexpr std::size_t kLongestTopicPayload = 2048;
constexpr std::chrono::seconds kLongestTtl{2'419'200};
constexpr Duration kFcmQuotaWait = 60s;  // Google's default when the answer names none
constexpr Duration kSoonestRetry = 10s;  // "never retry sooner"

// --- the service account

struct ServiceAccount {
  std::string email{};
  std::string key_id{};
  std::string project{};
  std::string token_url{};
  PrivateKey key;
};

Result<ServiceAccount> read_service_account(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const char* const hint = "download a key of the service account as JSON, and name that file";
  if (!json.is_object()) return fail(Code::kConfig, "service_account: it is no JSON object", hint);
  for (const char* name : {"client_email", "private_key", "private_key_id", "token_uri"})
    if (text_member(json, name).empty())
      return fail(Code::kConfig, std::string("service_account: it has no ") + name, hint);
  const std::string token_url = text_member(json, "token_uri");
  if (!token_url.starts_with("https://") || !check_target_url(token_url))
    return fail(Code::kConfig, "service_account: token_uri is no https URL", hint);
  Result<PrivateKey> key = PrivateKey::from_pem(text_member(json, "private_key"));
  if (!key) return fail(with_context(std::move(key).error(), "service_account: private_key"));
  if (key->kind() != PrivateKey::Kind::kRsa)
    return fail(Code::kConfig, "service_account: private_key is no RSA key", hint);
  return ServiceAccount{text_member(json, "client_email"), text_member(json, "private_key_id"),
                        text_member(json, "project_id"), token_url, std::move(*key)};
}

std::shared_ptr<CredentialSource> access_tokens(const ChannelConfig& config, const ServiceAccount& account,
                                                HttpClient& http, const ChannelPorts& ports) {
  auto fetch = [account, &http, &clock = ports.clock,
                connect_timeout = config.connect_timeout](std::function<void(CredentialSource::Fetched)> done) {
    const Instant now = clock.now();
    const std::string header = json_text(Json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", account.key_id}});
    const std::int64_t seconds = now.ms / 1000;
    const std::string claims = json_text(Json{{"iss", account.email},
                                              {"scope", kScope},
                                              {"aud", account.token_url},
                                              {"iat", seconds},
                                              {"exp", seconds + 3600}});
    const std::string assertion = signed_jwt(header, claims, account.key);
    HttpRequest request = assertion_request(account.token_url, assertion);
    request.connect_timeout = connect_timeout;
    http.start(std::move(request), [now, assertion, &clock, done = std::move(done)](const HttpEvidence& evidence) {
      done(read_token_answer(evidence, now, clock.now(), assertion));
    });
  };
  const std::string name = credential_name(
      "fcm", account.email + " " + account.key_id + " " + account.token_url + " " + std::string(kScope));
  return CredentialSource::make(name, {}, std::move(fetch), ports.credentials, ports.loop, ports.clock);
}

// --- the message

bool is_reserved_key(std::string_view key) {
  return key == "from" || key == "message_type" || key.starts_with("google") || key.starts_with("gcm");
}

std::string as_string(const Json& value) { return value.is_string() ? value.get<std::string>() : json_text(value); }

// Google takes strings only.
Result<Json> string_data(const Json& data) {
  Json strings = Json::object();
  if (!data.is_object()) {
    strings["data"] = as_string(data);
    return strings;
  }
  for (const auto& [name, value] : data.items()) {
    if (name == "fcm") continue;
    if (is_reserved_key(name)) return fail_field("data", "data: Google reserves the name of one of its members");
    strings[name] = as_string(value);
  }
  return strings;
}

std::string ttl_text(Duration ttl) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(ttl);
  return std::to_string(std::clamp(seconds, std::chrono::seconds{0}, kLongestTtl).count()) + "s";
}

Json android_part(const Dispatch& dispatch, const FcmDriverConfig& driver, bool shown, Instant now) {
  Json android = Json::object();
  if (!driver.priority.empty()) android["priority"] = driver.priority == "high" ? "HIGH" : "NORMAL";
  if (dispatch.envelope.expires)
    android["ttl"] = ttl_text(*dispatch.envelope.expires - now);
  else if (driver.ttl)
    android["ttl"] = ttl_text(*driver.ttl);
  // No collapse key: Google keeps four of them for a device that is offline and drops what has another one.
  if (shown) android["notification"]["tag"] = message_mark(dispatch.envelope.message_id);
  return android;
}

Result<Json> message_part(const Dispatch& dispatch, const FcmDriverConfig& driver, Instant now) {
  const Payload& content = dispatch.content;
  Json message{{driver.target, dispatch.address}};
  const bool shown = !content.subject.empty() || !content.body.empty();
  if (!content.subject.empty()) message["notification"]["title"] = content.subject;
  if (!content.body.empty()) message["notification"]["body"] = content.body;
  const Json data = content.data.empty() ? Json() : Json::parse(content.data, nullptr, false);
  if (!data.is_null() && !data.is_discarded()) {
    TRY_ASSIGN(Json strings, string_data(data));
    if (!strings.empty()) message["data"] = std::move(strings);
  }
  message["android"] = android_part(dispatch, driver, shown, now);
  if (message["android"].empty()) message.erase("android");
  const std::string mark = message_mark(dispatch.envelope.message_id);
  message["apns"]["headers"]["apns-collapse-id"] = mark;
  message["webpush"]["headers"]["Topic"] = mark.substr(0, 32);
  if (data.is_object() && data.contains("fcm")) {
    if (!data["fcm"].is_object()) return fail_field("data", "data: its member fcm is no object");
    message.merge_patch(data["fcm"]);
    for (const char* target : {"token", "fid", "topic", "condition"}) message.erase(target);
    message[driver.target] = dispatch.address;
  }
  return message;
}

// A lower bound of what Google counts: names and values of the data, title and body.
std::size_t counted_bytes(const Json& message) {
  std::size_t bytes = 0;
  for (const char* part : {"notification", "data"}) {
    if (!message.contains(part) || !message[part].is_object()) continue;
    for (const auto& [name, value] : message[part].items())
      bytes += value.is_string() ? name.size() + value.get_ref<const std::string&>().size() : 0;
  }
  return bytes;
}

// --- Google's errors

// The error code of the service when there is one, else the status of the API (as Google's own libraries read it).
std::string error_code(const nlohmann::json& error) {
  const auto details = error.is_object() ? error.find("details") : error.end();
  if (details != error.end() && details->is_array())
    for (const nlohmann::json& detail : *details)
      if (text_member(detail, "@type").ends_with("google.firebase.fcm.v1.FcmError"))
        if (std::string code = text_member(detail, "errorCode"); !code.empty()) return code;
  return text_member(error, "status");
}

bool has_bad_request(const nlohmann::json& error) {
  const auto details = error.is_object() ? error.find("details") : error.end();
  return details != error.end() && details->is_array() &&
         std::any_of(details->begin(), details->end(), [](const nlohmann::json& detail) {
           return text_member(detail, "@type").ends_with("google.rpc.BadRequest");
         });
}

struct FcmRule {
  int status;
  std::string_view code;  // empty: any other
  OutcomeClass cls;
  enum Then { kNothing, kDisable, kForeign, kHalt, kRenew, kHold } then = kNothing;
  Duration wait{0};  // when the answer names none
};

constexpr std::array kFcmRules{
    FcmRule{401, "THIRD_PARTY_AUTH_ERROR", OutcomeClass::kNotSent, FcmRule::kHalt},
    FcmRule{401, "APNS_AUTH_ERROR", OutcomeClass::kNotSent, FcmRule::kHalt},
    FcmRule{401, "", OutcomeClass::kNotSent, FcmRule::kRenew},
    FcmRule{403, "SENDER_ID_MISMATCH", OutcomeClass::kPermanent, FcmRule::kForeign},
    FcmRule{403, "", OutcomeClass::kNotSent, FcmRule::kHalt},
    FcmRule{404, "UNREGISTERED", OutcomeClass::kPermanent, FcmRule::kDisable},
    FcmRule{404, "NOT_FOUND", OutcomeClass::kPermanent, FcmRule::kDisable},
    FcmRule{404, "", OutcomeClass::kPermanent, FcmRule::kHalt},  // not the service's answer: the URL is wrong
    FcmRule{429, "", OutcomeClass::kNotSent, FcmRule::kHold, kFcmQuotaWait},
    FcmRule{503, "", OutcomeClass::kNotSent, FcmRule::kHold, kSoonestRetry},
};

void apply(const FcmRule& rule, FcmVerdict& verdict) {
  Outcome& outcome = verdict.outcome;
  outcome.cls = rule.cls;
  verdict.foreign = rule.then == FcmRule::kForeign;
  outcome.disable_endpoint = rule.then == FcmRule::kDisable || verdict.foreign;
  outcome.halt_channel = rule.then == FcmRule::kHalt;
  verdict.renew = rule.then == FcmRule::kRenew;
  outcome.lane_wide = rule.then == FcmRule::kHold;
  if (rule.then == FcmRule::kHold) outcome.retry_after = outcome.retry_after.value_or(rule.wait);
}

std::string message_of(const HttpEvidence& evidence) {
  const nlohmann::json answer = json_of(evidence);
  return answer.is_object() && answer.contains("error") ? text_member(answer["error"], "message") : std::string();
}

// --- the driver

struct FcmSettings {
  FcmDriverConfig driver{};
  HttpRequest request{};  // without body and credential
};

class FcmChannel final : public Channel {
 public:
  FcmChannel(std::shared_ptr<const FcmSettings> settings, std::shared_ptr<CredentialSource> tokens, HttpClient& http,
             Clock& clock)
      : settings_(std::move(settings)), tokens_(std::move(tokens)), http_(http), clock_(clock) {}

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(check_dispatch(dispatch));
    TRY_ASSIGN(const Json message, message_part(dispatch, settings_->driver, clock_.now()));
    const bool many = settings_->driver.target == "topic" || settings_->driver.target == "condition";
    const std::size_t limit = many ? kLongestTopicPayload : kLongestDevicePayload;
    if (const std::size_t bytes = counted_bytes(message); bytes > limit)
      return fail_field("body", "body: text and data have " + std::to_string(bytes) + " bytes, Google takes " +
                                    std::to_string(limit));
    return {};
  }

  std::string preview(const Dispatch& dispatch) const override {
    HttpRequest request = settings_->request;
    request.body = fcm_body(dispatch, settings_->driver, clock_.now()).value_or("");
    request.headers.emplace_back("Authorization", std::string("Bearer ") + Secret::masked());
    return preview_of(request, {});
  }

  void send(Dispatch dispatch, Done done) override {
    const Result<std::string> body = fcm_body(dispatch, settings_->driver, clock_.now());
    ASSERT(body.has_value());  // check() has seen to it
    HttpRequest request = settings_->request;
    request.body = *body;
    // Captures no `this`: the channel may be gone before the call is.
    auto judge = [&clock = clock_, tokens = tokens_, streak = streak_, dispatch = std::move(dispatch)](
                     const Credential& token, const HttpEvidence& evidence) {
      FcmVerdict verdict = judge_fcm(evidence, clock.now());
      Outcome& outcome = verdict.outcome;
      const std::vector<std::string> secrets{token.value.reveal()};
      if (outcome.cls != OutcomeClass::kSent)
        outcome.detail = safe_detail(evidence, message_of(evidence), dispatch, secrets);
      using Said = CredentialSource::Said;
      const bool known = evidence.status != 0;
      tokens->judge(token, verdict.renew ? Said::kRefused : known ? Said::kAccepted : Said::kNothing, outcome);
      streak->judge(outcome, verdict.foreign, "is this the project in which these tokens were registered?");
      return std::move(outcome);
    };
    start_with_credential(*tokens_, http_, clock_, std::move(request), "Bearer", std::move(judge), std::move(done));
  }

 private:
  std::shared_ptr<const FcmSettings> settings_;
  std::shared_ptr<CredentialSource> tokens_;
  std::shared_ptr<ForeignStreak> streak_ = std::make_shared<ForeignStreak>();
  HttpClient& http_;
  Clock& clock_;
};

}  // namespace

Result<std::string> fcm_body(const Dispatch& dispatch, const FcmDriverConfig& driver, Instant now) {
  TRY_ASSIGN(Json message, message_part(dispatch, driver, now));
  Json body = Json::object();
  if (driver.validate_only) body["validate_only"] = true;
  body["message"] = std::move(message);
  return json_text(body);
}

FcmVerdict judge_fcm(const HttpEvidence& evidence, Instant now) {
  FcmVerdict verdict{classify_http(evidence, {}, now)};
  if (evidence.status < 200) return verdict;
  Outcome& outcome = verdict.outcome;
  const nlohmann::json answer = json_of(evidence);
  if (outcome.cls == OutcomeClass::kSent) {
    outcome.reference = safe_text(text_member(answer, "name"), limits::kReference);
    doubt_without_reference(evidence, outcome);
    return verdict;
  }
  const nlohmann::json error = answer.is_object() && answer.contains("error") ? answer["error"] : nlohmann::json();
  const std::string code = error_code(error);
  if (is_reason_word(code)) outcome.reason = code;
  for (const FcmRule& rule : kFcmRules) {
    if (rule.status != evidence.status || (!rule.code.empty() && rule.code != code)) continue;
    apply(rule, verdict);
    return verdict;
  }
  if (evidence.status >= 500)
    outcome.retry_after = std::max(outcome.retry_after.value_or(kSoonestRetry), kSoonestRetry);
  // The one message by which Google calls a token malformed; every other INVALID_ARGUMENT is about the payload.
  const bool bad_token = text_member(error, "message").find("not a valid FCM registration token") != std::string::npos;
  if (evidence.status == 400) outcome.disable_endpoint = bad_token && !has_bad_request(error);
  return verdict;
}

Result<std::unique_ptr<Channel>> make_fcm_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const auto* driver = std::get_if<FcmDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  TRY_ASSIGN(const ServiceAccount account, read_service_account(driver->service_account.value.reveal()));
  const std::string project = driver->project.empty() ? account.project : driver->project;
  if (project.empty())
    return fail(Code::kConfig, "project: neither the channel nor the service account's key names it");
  TRY_ASSIGN(HttpClient * http, ports.http());
  auto settings = std::make_shared<FcmSettings>(FcmSettings{*driver, vendor_request(config, HttpRequest::Version::k2)});
  settings->request.url = driver->url + "/v1/projects/" + project + "/messages:send";
  settings->request.headers = {{"Content-Type", "application/json"}, {"User-Agent", ports.user_agent}};
  auto tokens = access_tokens(config, account, *http, ports);
  return std::make_unique<FcmChannel>(std::move(settings), std::move(tokens), *http, ports.clock);
}

}  // namespace notify

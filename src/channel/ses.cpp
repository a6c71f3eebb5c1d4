#include "channel/ses.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "channel/dispatch_check.hpp"
#include "channel/sigv4.hpp"
#include "channel/vendor_common.hpp"
#include "core/classify.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPath = "/v2/email/outbound-emails";
constexpr std::size_t kLongestAddress = 320;
constexpr Duration kRateWait = 10s;
constexpr Duration kDailyQuotaWait = 1h;

struct SesSettings {
  SesDriverConfig driver{};
  AwsKey key{};
  std::string host{};
  HttpRequest request{};
};

// SES takes no local parts outside ASCII; domains are written in punycode.
Result<void> check_address(std::string_view address) {
  const std::size_t at = address.rfind('@');
  if (address.size() > kLongestAddress || at == std::string_view::npos || at == 0 || at + 1 == address.size())
    return fail_field("to", "recipient: no mail address");
  for (const char c : address)
    if (c <= ' ' || c > '~' || c == ',' || c == ';' || c == '<' || c == '>')
      return fail_field("to", "recipient: holds a character that Amazon SES does not take in an address",
                        "write the domain in punycode (xn--…)");
  return {};
}

Json text_part(const std::string& text) { return Json{{"Data", text}, {"Charset", "UTF-8"}}; }

// --- Amazon's errors

struct SesRule {
  std::string_view type;
  OutcomeClass cls;
  enum Then { kNothing, kHalt, kHold } then = kNothing;
};

constexpr std::array kSesRules{
    SesRule{"BadRequestException", OutcomeClass::kPermanent},
    SesRule{"MessageRejected", OutcomeClass::kPermanent},
    SesRule{"MailFromDomainNotVerifiedException", OutcomeClass::kNotSent, SesRule::kHalt},
    SesRule{"AccountSuspendedException", OutcomeClass::kNotSent, SesRule::kHalt},
    SesRule{"SendingPausedException", OutcomeClass::kNotSent, SesRule::kHalt},
    SesRule{"NotFoundException", OutcomeClass::kNotSent, SesRule::kHalt},
    SesRule{"LimitExceededException", OutcomeClass::kNotSent, SesRule::kHold},
    SesRule{"TooManyRequestsException", OutcomeClass::kNotSent, SesRule::kHold},
    SesRule{"ThrottlingException", OutcomeClass::kNotSent, SesRule::kHold},
    SesRule{"Throttling", OutcomeClass::kNotSent, SesRule::kHold},
};

// "BadRequestException:http://…" or "com.amazonaws#BadRequestException"
std::string error_type(const HttpEvidence& evidence, const nlohmann::json& answer) {
  std::string type(header_value(evidence, "x-amzn-errortype"));
  if (type.empty()) type = text_member(answer, "__type");
  type = type.substr(0, type.find(':'));
  type = type.substr(type.rfind('#') + 1);
  return is_reason_word(type) ? type : std::string();
}

std::string said_by(const nlohmann::json& answer) {
  const std::string lower = text_member(answer, "message");
  return lower.empty() ? text_member(answer, "Message") : lower;
}

void apply(const SesRule& rule, std::string_view said, Outcome& outcome) {
  outcome.cls = rule.cls;
  outcome.halt_channel = rule.then == SesRule::kHalt;
  outcome.lane_wide = rule.then == SesRule::kHold;
  const bool daily = said.find("aily") != std::string_view::npos;  // "Daily message quota exceeded"
  if (rule.then == SesRule::kHold)
    outcome.retry_after = outcome.retry_after.value_or(daily ? kDailyQuotaWait : kRateWait);
  if (rule.type == "MessageRejected" && said.find("is not verified") != std::string_view::npos)
    outcome.halt_channel = true;  // our own address, or an account in the sandbox
}

class SesChannel final : public Channel {
 public:
  SesChannel(std::shared_ptr<const SesSettings> settings, HttpClient& http, Clock& clock)
      : settings_(std::move(settings)), http_(http), clock_(clock) {}

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(check_dispatch(dispatch));
    TRY(check_address(dispatch.address));
    if (dispatch.content.body.empty() && dispatch.content.html.empty())
      return fail_field("body", "body: a mail needs a body or html");
    return {};
  }

  std::string preview(const Dispatch& dispatch) const override {
    HttpRequest request = make_request(dispatch);
    request.headers.emplace_back("authorization", std::string("AWS4-HMAC-SHA256 ") + Secret::masked());
    return preview_of(request, secrets());
  }

  void send(Dispatch dispatch, Done done) override {
    HttpRequest request = make_request(dispatch);
    const Instant now = clock_.now();
    request.headers.emplace_back("x-amz-date", amz_date(now));
    auto to_sign = request.headers;
    to_sign.emplace_back("host", settings_->host);
    request.headers.emplace_back("authorization",
                                 sigv4_authorization(settings_->key, "POST", kPath, to_sign, request.body, now));
    // Captures no `this`: the channel may be gone before the call is.
    http_.start(std::move(request), [&clock = clock_, secrets = secrets(), dispatch = std::move(dispatch),
                                     done = std::move(done)](const HttpEvidence& evidence) {
      Outcome outcome = judge_ses(evidence, clock.now());
      if (outcome.cls == OutcomeClass::kSent)
        outcome.detail.clear();
      else
        outcome.detail = safe_detail(evidence, said_by(json_of(evidence)), dispatch, secrets);
      done(std::move(outcome));
    });
  }

 private:
  HttpRequest make_request(const Dispatch& dispatch) const {
    HttpRequest request = settings_->request;
    request.body = ses_body(dispatch, settings_->driver);
    return request;
  }
  std::vector<std::string> secrets() const {
    return {settings_->key.secret, settings_->driver.session_token.value.reveal()};
  }

  std::shared_ptr<const SesSettings> settings_;
  HttpClient& http_;
  Clock& clock_;
};

}  // namespace

std::string ses_body(const Dispatch& dispatch, const SesDriverConfig& driver) {
  const Payload& content = dispatch.content;
  const std::string& id = dispatch.envelope.message_id;
  Json simple{{"Subject", text_part(content.subject)}};
  if (!content.body.empty()) simple["Body"]["Text"] = text_part(content.body);
  if (!content.html.empty()) simple["Body"]["Html"] = text_part(content.html);
  simple["Headers"] = Json::array({Json{{"Name", "X-Notifyctl-Message-Id"}, {"Value", id}}});
  Json body{{"FromEmailAddress", driver.from}, {"Destination", {{"ToAddresses", Json::array({dispatch.address})}}}};
  if (!driver.reply_to.empty()) body["ReplyToAddresses"] = driver.reply_to;
  body["Content"]["Simple"] = std::move(simple);
  body["EmailTags"] = Json::array({Json{{"Name", "notifyctl-message-id"}, {"Value", id}}});
  if (!driver.configuration_set.empty()) body["ConfigurationSetName"] = driver.configuration_set;
  return json_text(body);
}

Outcome judge_ses(const HttpEvidence& evidence, Instant now) {
  Outcome outcome = classify_http(evidence, {}, now);
  if (evidence.status < 200) return outcome;
  const nlohmann::json answer = json_of(evidence);
  if (outcome.cls == OutcomeClass::kSent) {
    outcome.reference = safe_text(text_member(answer, "MessageId"), limits::kReference);
    doubt_without_reference(evidence, outcome);
    return outcome;
  }
  const std::string type = error_type(evidence, answer);
  if (!type.empty()) outcome.reason = type;
  const auto* rule = std::find_if(kSesRules.begin(), kSesRules.end(), [&](const SesRule& r) { return r.type == type; });
  if (evidence.status < 500 && rule != kSesRules.end()) {
    apply(*rule, said_by(answer), outcome);
  } else if (evidence.status == 404) {
    outcome.halt_channel = true;  // not the service's answer: the URL or the region is wrong
  } else if (evidence.status == 429) {
    outcome.retry_after = outcome.retry_after.value_or(kRateWait);
  }
  return outcome;
}

Result<std::unique_ptr<Channel>> make_ses_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const auto* driver = std::get_if<SesDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  TRY_ASSIGN(HttpClient * http, ports.http());
  auto settings = std::make_shared<SesSettings>();
  settings->driver = *driver;
  settings->key = {driver->access_key_id, driver->secret_access_key.value.reveal(), driver->region, "ses"};
  settings->host = driver->url.substr(driver->url.find("://") + 3);
  settings->request = vendor_request(config, HttpRequest::Version::k1_1);
  settings->request.url = driver->url + std::string(kPath);
  settings->request.headers = {{"content-type", "application/json"}};
  if (driver->session_token.is_set())
    settings->request.headers.emplace_back("x-amz-security-token", driver->session_token.value.reveal());
  return std::make_unique<SesChannel>(std::move(settings), *http, ports.clock);
}

}  // namespace notify

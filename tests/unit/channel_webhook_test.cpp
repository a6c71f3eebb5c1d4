#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "channel/message_json.hpp"
#include "channel/signature.hpp"
#include "core/safe_text.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using test::answered;
using test::Bench;
using test::connection_refused;
using test::header;
using test::make_config;
using test::make_dispatch;
using test::no_answer;
using test::plain_secret;
using test::secret_from_file;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kUrl = "https://hooks.test/T01/SECRETPART";
constexpr const char* kKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

WebhookDriverConfig to_url(std::string url = kUrl) {
  WebhookDriverConfig driver;
  driver.url = plain_secret(std::move(url));
  return driver;
}

class ChannelWebhook : public testing::Test {
 protected:
  void make(WebhookDriverConfig driver, std::function<void(ChannelConfig&)> adjust = {}) {
    ChannelConfig config = make_config(std::move(driver));
    if (adjust) adjust(config);
    channel = make_channel(config, bench.ports).value();
  }
  Outcome send(HttpEvidence evidence, Dispatch dispatch = make_dispatch()) {
    bench.http.script = {std::move(evidence)};
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const HttpRequest& last() const { return bench.http.requests.back(); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
};

TEST_F(ChannelWebhook, PostsTheMessageWithItsId) {
  make(to_url());
  Dispatch dispatch = make_dispatch();
  dispatch.envelope.correlation = "req-1";
  const Outcome outcome = send(answered(200), dispatch);
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
  EXPECT_EQ(outcome.status, 200);
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().url, kUrl);
  EXPECT_EQ(last().body, message_json(dispatch));
  EXPECT_EQ(header(last(), "Content-Type"), "application/json");
  EXPECT_EQ(header(last(), "User-Agent"), "notifyctl/9.9.9");
  EXPECT_EQ(header(last(), "Idempotency-Key"), "shop-0123abcd-7");
  EXPECT_EQ(header(last(), "webhook-id"), "shop-0123abcd-7");
  EXPECT_EQ(header(last(), "webhook-timestamp"), std::to_string(test::kSomeTime.ms / 1000));
  EXPECT_EQ(header(last(), "X-Correlation-Id"), "req-1");
  EXPECT_EQ(header(last(), "webhook-signature"), "(none)");
}

TEST_F(ChannelWebhook, TakesTheConfiguredLimits) {
  WebhookDriverConfig driver = to_url();
  driver.http_version = HttpVersion::k2;
  make(driver, [](ChannelConfig& config) {
    config.timeout = 4s;
    config.connect_timeout = 2s;
  });
  send(answered(200));
  EXPECT_EQ(last().timeout, 4s);
  EXPECT_EQ(last().connect_timeout, 2s);
  EXPECT_EQ(last().version, HttpRequest::Version::k2);
}

TEST_F(ChannelWebhook, OnlyAtLeastOnceLetsARequestLeaveTwice) {
  make(to_url());
  send(answered(200));
  EXPECT_TRUE(last().once);
  make(to_url(), [](ChannelConfig& config) { config.semantics = Semantics::kAtLeastOnce; });
  send(answered(200));
  EXPECT_FALSE(last().once);
}

TEST_F(ChannelWebhook, F58_EveryAttemptHasItsOwnTimestampAndSignature) {
  WebhookDriverConfig driver = to_url();
  driver.secrets = {secret_from_file(kKey)};
  make(driver);
  const std::vector<SigningKey> keys{signing_key(kKey).value()};
  std::vector<std::string> signatures;
  for (const Duration pause : {Duration{0}, Duration{10min}, Duration{72h}}) {
    bench.clock.advance(pause);
    send(no_answer());
    const std::int64_t now = bench.clock.now().ms / 1000;
    EXPECT_EQ(header(last(), "webhook-id"), "shop-0123abcd-7");
    EXPECT_EQ(header(last(), "webhook-timestamp"), std::to_string(now));
    EXPECT_EQ(header(last(), "webhook-signature"), webhook_signature(keys, "shop-0123abcd-7", now, last().body))
        << "the signed bytes are the sent bytes";
    signatures.push_back(header(last(), "webhook-signature"));
  }
  EXPECT_NE(signatures[0], signatures[1]);
  EXPECT_NE(signatures[1], signatures[2]);
}

TEST_F(ChannelWebhook, F58_TwoSignaturesDuringARotation) {
  WebhookDriverConfig driver = to_url();
  driver.secrets = {secret_from_file("newest\n"), secret_from_file("old secret")};
  make(driver);
  send(answered(200));
  const std::string value = header(last(), "webhook-signature");
  const std::int64_t now = bench.clock.now().ms / 1000;
  EXPECT_EQ(value, webhook_signature({{SigningKey("newest")}}, "shop-0123abcd-7", now, last().body) + " " +
                       webhook_signature({{SigningKey("old secret")}}, "shop-0123abcd-7", now, last().body));
}

TEST_F(ChannelWebhook, ConfiguredHeadersGoAlong) {
  WebhookDriverConfig driver = to_url();
  driver.headers = {{"Authorization", secret_from_file("Bearer tok_SECRET")}, {"user-agent", plain_secret("shop/1")}};
  make(driver);
  send(answered(200));
  EXPECT_EQ(header(last(), "Authorization"), "Bearer tok_SECRET");
  EXPECT_EQ(header(last(), "User-Agent"), "shop/1");
}

// --- outcomes

struct StatusCase {
  int status;
  OutcomeClass cls;
  bool halts;
};

TEST_F(ChannelWebhook, EveryStatusHasItsMeaning) {
  WebhookDriverConfig driver = to_url();
  driver.not_sent = {503};
  make(driver);
  const StatusCase cases[] = {
      {200, OutcomeClass::kSent, false},      {202, OutcomeClass::kSent, false},
      {204, OutcomeClass::kSent, false},      {207, OutcomeClass::kSent, false},
      {301, OutcomeClass::kPermanent, true},  {302, OutcomeClass::kPermanent, true},
      {307, OutcomeClass::kPermanent, true},  {308, OutcomeClass::kPermanent, true},
      {400, OutcomeClass::kPermanent, false}, {401, OutcomeClass::kNotSent, true},
      {402, OutcomeClass::kNotSent, true},    {403, OutcomeClass::kNotSent, true},
      {404, OutcomeClass::kPermanent, false}, {405, OutcomeClass::kPermanent, false},
      {408, OutcomeClass::kUnknown, false},   {409, OutcomeClass::kUnknown, false},
      {410, OutcomeClass::kPermanent, true},  {413, OutcomeClass::kPermanent, false},
      {415, OutcomeClass::kPermanent, false}, {421, OutcomeClass::kNotSent, false},
      {422, OutcomeClass::kPermanent, false}, {425, OutcomeClass::kNotSent, false},
      {429, OutcomeClass::kNotSent, false},   {500, OutcomeClass::kUnknown, false},
      {502, OutcomeClass::kUnknown, false},   {503, OutcomeClass::kNotSent, false},
      {504, OutcomeClass::kUnknown, false},
  };
  for (const StatusCase& c : cases) {
    const Outcome outcome = send(answered(c.status));
    EXPECT_EQ(outcome.cls, c.cls) << c.status;
    EXPECT_EQ(outcome.halt_channel, c.halts) << c.status;
    EXPECT_FALSE(outcome.disable_endpoint) << c.status << ": the lane is the endpoint";
    EXPECT_EQ(outcome.status, c.status);
  }
}

TEST_F(ChannelWebhook, F32_OfASuccessOnlyTheStatusCounts) {
  make(to_url());
  for (const char* body : {"ok", R"({"ok":false,"error":"invalid_auth"})", "", R"({"ok":tr)", "<html>login</html>"})
    EXPECT_EQ(send(answered(200, body)).cls, OutcomeClass::kSent) << body;
}

TEST_F(ChannelWebhook, A503IsUnknownUnlessTheReceiverPromisesOrSaysWhenToComeBack) {
  make(to_url());
  EXPECT_EQ(send(answered(503)).cls, OutcomeClass::kUnknown);
  const Outcome overloaded = send(answered(503, "", {{"retry-after", "30"}}));
  EXPECT_EQ(overloaded.cls, OutcomeClass::kNotSent);
  EXPECT_EQ(overloaded.retry_after, Duration{30s});
  EXPECT_TRUE(overloaded.lane_wide);
}

TEST_F(ChannelWebhook, AReceiverThatIsOverloadedIsGivenABreath) {
  make(to_url());
  for (const int status : {429, 502, 504}) {
    const Outcome outcome = send(answered(status));
    EXPECT_TRUE(outcome.lane_wide) << status;
    EXPECT_EQ(outcome.retry_after, Duration{5s}) << status;
    EXPECT_EQ(send(answered(status, "", {{"retry-after", "60"}})).retry_after, Duration{60s}) << status;
    EXPECT_EQ(outcome.cls, status == 429 ? OutcomeClass::kNotSent : OutcomeClass::kUnknown) << status;
  }
  EXPECT_FALSE(send(answered(500)).lane_wide);
}

TEST_F(ChannelWebhook, TheIdempotencyKeyIsWrittenAsTheReceiverWantsIt) {
  using Style = WebhookDriverConfig::KeyStyle;
  const std::pair<Style, const char*> cases[] = {
      {Style::kPlain, "shop-0123abcd-7"}, {Style::kQuoted, "\"shop-0123abcd-7\""}, {Style::kNone, "(none)"}};
  for (const auto& [style, value] : cases) {
    WebhookDriverConfig driver = to_url();
    driver.idempotency_key = style;
    make(driver);
    send(answered(200));
    EXPECT_EQ(header(last(), "Idempotency-Key"), value);
    EXPECT_EQ(header(last(), "webhook-id"), "shop-0123abcd-7");
  }
}

TEST_F(ChannelWebhook, TheReceiversWordsAreTheDetailOfARefusal) {
  make(to_url());
  EXPECT_EQ(send(answered(422, "no such\norder")).detail, "no such order");
  EXPECT_EQ(send(answered(200, "thanks")).detail, "") << "of a success nobody needs them";
  EXPECT_EQ(send(connection_refused()).detail, "connection refused");
}

TEST_F(ChannelWebhook, RetryAfterHoldsTheLane) {
  make(to_url());
  const Outcome outcome = send(answered(429, "", {{"retry-after", "120"}}));
  EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
  EXPECT_EQ(outcome.retry_after, Duration{120s});
  EXPECT_TRUE(outcome.lane_wide);
}

TEST_F(ChannelWebhook, ConnectionRefusedIsCertainlyNotSentNoAnswerIsUnknown) {
  make(to_url());
  const Outcome refused = send(connection_refused());
  EXPECT_EQ(refused.cls, OutcomeClass::kNotSent);
  EXPECT_TRUE(refused.connect_refused);
  EXPECT_EQ(send(no_answer()).cls, OutcomeClass::kUnknown);
}

TEST_F(ChannelWebhook, ResultMayComeAfterTheChannelIsGone) {
  make(to_url());
  channel->send(make_dispatch(), bench.keep());
  channel.reset();
  bench.loop.run();
  EXPECT_EQ(bench.outcomes.size(), 1U);
}

// --- the recipient is the URL

class ChannelWebhookByRecipient : public ChannelWebhook {
 protected:
  void SetUp() override { make({}); }
  static Dispatch to(std::string url) { return make_dispatch("shop-0123abcd-7", std::move(url)); }
};

TEST_F(ChannelWebhookByRecipient, IsPostedToBehindTheAddressGuard) {
  send(answered(200), to("https://tenant.test/in"));
  EXPECT_EQ(last().url, "https://tenant.test/in");
  EXPECT_FALSE(last().allow_private);
}

TEST_F(ChannelWebhookByRecipient, TheGuardIsOffOnlyWhenConfigured) {
  WebhookDriverConfig driver;
  driver.allow_private = true;
  make(driver);
  send(answered(200), to("https://tenant.test/in"));
  EXPECT_TRUE(last().allow_private);
  make(to_url());
  send(answered(200));
  EXPECT_TRUE(last().allow_private) << "the operator's own url may lead anywhere";
}

TEST_F(ChannelWebhookByRecipient, ItsTroublesAreNotTheLanes) {
  for (const int status : {301, 401, 403, 410, 429}) {
    const Outcome outcome = send(answered(status, "", {{"retry-after", "60"}}), to("https://tenant.test/in"));
    EXPECT_FALSE(outcome.halt_channel) << status;
    EXPECT_FALSE(outcome.lane_wide) << status;
    EXPECT_EQ(outcome.disable_endpoint, status == 410) << status;
  }
  EXPECT_EQ(send(answered(429, "", {{"retry-after", "60"}}), to("https://t.test/")).retry_after, Duration{60s});
  const Outcome refused = send(connection_refused(), to("https://tenant.test/in"));
  EXPECT_EQ(refused.cls, OutcomeClass::kNotSent);
  EXPECT_FALSE(refused.connect_refused) << "others may well be reachable";
}

TEST_F(ChannelWebhookByRecipient, ABadCertificateIsTheirsAMissingCaBundleOurs) {
  HttpEvidence evidence;
  evidence.curl_error = "certificate";
  for (const int code : {60, 77}) {  // CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE
    evidence.curl_code = code;
    const Outcome outcome = send(evidence, to("https://tenant.test/in"));
    EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
    EXPECT_EQ(outcome.halt_channel, code == 77) << code;
  }
  make(to_url());
  evidence.curl_code = 60;
  EXPECT_TRUE(send(evidence).halt_channel) << "the configured url is the lane";
}

TEST_F(ChannelWebhookByRecipient, F33_WhatIsNoPlainUrlIsRefusedBeforeTheClaim) {
  for (const char* url : {"file:///etc/passwd", "gopher://192.0.2.7/", "http://user@good.test@127.0.0.1/",
                          "http://[fe80::1%25lo]/", "+821000000042"}) {
    const Result<void> checked = channel->check(to(url));
    ASSERT_FALSE(checked.has_value()) << url;
    EXPECT_EQ(checked.error().field, "to");
  }
  EXPECT_TRUE(channel->check(to("https://tenant.test/in")).has_value());
}

TEST_F(ChannelWebhookByRecipient, F57_NoCredentialGoesToUrlsThatComeWithTheData) {
  WebhookDriverConfig driver;
  for (const Header& credential : {Header{"X-Source", secret_from_file("v")},
                                   {"Authorization", plain_secret("v")},
                                   {"x-api-KEY", plain_secret("v")}}) {
    driver.headers = {credential};
    const auto made = make_channel(make_config(driver), bench.ports);
    ASSERT_FALSE(made.has_value()) << credential.name;
    EXPECT_EQ(made.error().code, Code::kConfig);
    driver.url = plain_secret(kUrl);
    EXPECT_TRUE(make_channel(make_config(driver), bench.ports).has_value());
    driver.url = {};
  }
  driver.headers = {{"X-Source", plain_secret("shop")}};
  EXPECT_TRUE(make_channel(make_config(driver), bench.ports).has_value());
}

// --- what comes in from outside

TEST_F(ChannelWebhook, F46_NoValueCanAddAHeader) {
  make(to_url());
  const std::string_view breaks[] = {"x\r\nBcc: e@evil.test",   "x\n", "x\r", "x\xc2\x85", "x\xe2\x80\xa8",
                                     std::string_view("x\0", 2)};
  for (const std::string_view text : breaks) {
    const std::function<void(Dispatch&)> places[] = {
        [&](Dispatch& d) { d.envelope.correlation = text; }, [&](Dispatch& d) { d.envelope.message_id = text; },
        [&](Dispatch& d) { d.envelope.kind = text; }, [&](Dispatch& d) { d.address = text; }};
    for (const auto& put : places) {
      Dispatch dispatch = make_dispatch();
      put(dispatch);
      EXPECT_FALSE(channel->check(dispatch).has_value());
    }
    WebhookDriverConfig driver = to_url();
    driver.headers = {{"X-Source", plain_secret(std::string(text))}};
    const bool harmless = text.starts_with("x\xc2") || text.starts_with("x\xe2");  // no line ends in HTTP
    EXPECT_EQ(make_channel(make_config(driver), bench.ports).has_value(), harmless);
  }
}

TEST_F(ChannelWebhook, MessageIdsFitHeaderAndSignature) {
  make(to_url());
  for (const std::string id : {"", "a.b", "a b", "\"a\"", "가"})
    EXPECT_FALSE(channel->check(make_dispatch(id)).has_value()) << id;
  EXPECT_TRUE(channel->check(make_dispatch(std::string(100, 'a'))).has_value());
  EXPECT_FALSE(channel->check(make_dispatch(std::string(101, 'a'))).has_value());
}

TEST_F(ChannelWebhook, F59_ForeignAnswersAreMadeSafe) {
  make(to_url());
  for (const std::string& body :
       {std::string("\xb0\xa1\xb3\xaa"), "cut \xea\xb0" + std::string(), "\x1b[31m\x07" + std::string(70000, '\xff')}) {
    const Outcome outcome = send(answered(500, body));
    EXPECT_EQ(outcome.cls, OutcomeClass::kUnknown);
    EXPECT_TRUE(valid_utf8(outcome.detail));
    EXPECT_LE(outcome.detail.size(), limits::kDetail);
    EXPECT_EQ(outcome.detail.find('\x1b'), std::string::npos);
  }
}

TEST_F(ChannelWebhook, F57_NoSecretComesBackInAnyOutcome) {
  WebhookDriverConfig driver = to_url("https://hooks.test/T01/SECRETPART?key=SECRETQUERY");
  driver.headers = {{"Authorization", secret_from_file("Bearer tok_SECRET")}};
  driver.secrets = {secret_from_file("whsec_U0VDUkVUS0VZU0VDUkVUS0VZU0VDUkVUS0VZ"), secret_from_file("SECRETRAW")};
  make(driver);
  Dispatch dispatch = make_dispatch();
  dispatch.content.body = "Your SECRET \"code\":\n482913";
  dispatch.content.subject = "SECRETSUBJECT";

  send(answered(200), dispatch);
  std::string echo = last().url + "\n" + last().body + "\n/T01/SECRETPART tok_SECRET SECRETQUERY +821000000042\n";
  for (const auto& [name, value] : last().headers) echo += name + ": " + value + "\n";
  const std::string signature = header(last(), "webhook-signature");

  for (int status : {302, 400, 401, 404, 409, 410, 429, 500, 503, 200}) {
    HttpEvidence evidence = answered(status, echo, {{"location", last().url}});
    const Outcome outcome = send(evidence, dispatch);
    const std::string text = outcome.reason + outcome.detail + outcome.reference + outcome.phase;
    for (const char* secret : {"SECRET", "482913", "821000000042"}) EXPECT_THAT(text, Not(HasSubstr(secret))) << status;
    EXPECT_THAT(text, Not(HasSubstr(signature.substr(3, 20)))) << status;
  }
  for (HttpEvidence evidence : {connection_refused(), no_answer()}) {
    evidence.curl_error = "failed at " + echo;
    EXPECT_THAT(send(evidence, dispatch).detail, Not(HasSubstr("SECRET")));
  }
}

// --- configuration

TEST_F(ChannelWebhook, BadConfigurationIsNamedWithoutShowingSecrets) {
  const auto error_of = [&](const WebhookDriverConfig& driver) {
    const auto made = make_channel(make_config(driver), bench.ports);
    EXPECT_FALSE(made.has_value());
    if (made) return std::string();
    EXPECT_EQ(made.error().code, Code::kConfig);
    EXPECT_THAT(made.error().message + made.error().hint, Not(HasSubstr("SECRET")));
    return made.error().message;
  };
  EXPECT_THAT(error_of(to_url("ftp://h/SECRET")), HasSubstr("channel lane: URL: does not begin with http"));
  EXPECT_THAT(error_of(to_url("")), HasSubstr("URL"));
  WebhookDriverConfig driver = to_url();
  driver.secrets = {secret_from_file("whsec_SECRET!")};
  EXPECT_THAT(error_of(driver), HasSubstr("base64"));
  driver.secrets = {};
  for (const char* name : {"Idempotency-Key", "webhook-ID", "Content-Length", "transfer-encoding"}) {
    driver.headers = {{name, plain_secret("SECRET")}};
    EXPECT_THAT(error_of(driver), HasSubstr(name));
  }
  driver.headers = {{"X-A", plain_secret("SECRET\nX: y")}};
  EXPECT_THAT(error_of(driver), HasSubstr("line end"));
}

TEST_F(ChannelWebhook, AnHttpClientThatCannotBeMadeIsTheChannelsError) {
  bench.ports.http = []() -> Result<HttpClient*> { return fail(Code::kConfig, "no CA certificates found"); };
  const auto made = make_channel(make_config(to_url()), bench.ports);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message, "channel lane: no CA certificates found");
}

}  // namespace
}  // namespace notify

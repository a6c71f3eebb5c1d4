#include "channel/ses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "channel/sigv4.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;
using test::answered;
using test::Bench;
using test::connection_refused;
using test::header;
using test::make_config;
using test::make_dispatch;
using test::no_answer;
using test::secret_from_file;
using testing::HasSubstr;
using testing::Not;

// AWS's test suite for Signature Version 4.
const AwsKey kSuite{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "service"};
constexpr Instant kSuiteTime{1'440'938'160'000};  // 2015-08-30T12:36:00Z
using Headers = std::vector<std::pair<std::string, std::string>>;

std::string signature(std::string_view method, Headers headers, std::string_view body) {
  headers.emplace_back("host", "example.amazonaws.com");
  headers.emplace_back("x-amz-date", amz_date(kSuiteTime));
  return sigv4_authorization(kSuite, method, "/", headers, body, kSuiteTime);
}

TEST(SigV4, AwsTestSuite) {
  EXPECT_EQ(amz_date(kSuiteTime), "20150830T123600Z");
  const std::string begin =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=";
  // get-vanilla, post-vanilla, post-x-www-form-urlencoded, post-header-key-sort, get-header-value-trim
  EXPECT_EQ(signature("GET", {}, ""), begin +
                                          "host;x-amz-date, Signature="
                                          "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  EXPECT_EQ(signature("POST", {}, ""), begin +
                                           "host;x-amz-date, Signature="
                                           "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
  EXPECT_EQ(signature("POST", {{"content-type", "application/x-www-form-urlencoded"}}, "Param1=value1"),
            begin +
                "content-type;host;x-amz-date, Signature="
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
  EXPECT_EQ(signature("POST", {{"my-header1", "value1"}}, ""),
            begin +
                "host;my-header1;x-amz-date, Signature="
                "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c");
  EXPECT_EQ(signature("GET", {{"my-header1", " value1"}, {"my-header2", " \"a   b   c\""}}, ""),
            begin +
                "host;my-header1;my-header2;x-amz-date, Signature="
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
}

SesDriverConfig settings() {
  SesDriverConfig driver;
  driver.region = "ap-northeast-2";
  driver.access_key_id = "AKIDEXAMPLE";
  driver.secret_access_key = secret_from_file("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
  driver.from = "Shop <shop@example.com>";
  driver.url = "https://email.ap-northeast-2.amazonaws.com";
  return driver;
}

HttpEvidence accepted() { return answered(200, R"({"MessageId":"010b018f-0"})"); }

class ChannelSes : public testing::Test {
 protected:
  void SetUp() override { make(settings()); }
  void make(SesDriverConfig driver) { channel = make_channel(make_config(std::move(driver)), bench.ports).value(); }
  static Dispatch message(std::string to = "kim@example.com") {
    return make_dispatch("shop-0123abcd-7", std::move(to));
  }
  Outcome send(HttpEvidence evidence, Dispatch dispatch = message()) {
    bench.http.script = {std::move(evidence)};
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const HttpRequest& last() const { return bench.http.requests.back(); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
};

TEST_F(ChannelSes, PostsTheMailSigned) {
  Dispatch dispatch = message();
  dispatch.content.html = "<p>Paid</p>";
  const Outcome outcome = send(answered(200, R"({"MessageId":"010b018f-0"})"), dispatch);
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
  EXPECT_EQ(outcome.reference, "010b018f-0");
  EXPECT_EQ(last().url, "https://email.ap-northeast-2.amazonaws.com/v2/email/outbound-emails");
  EXPECT_TRUE(last().once);
  EXPECT_EQ(last().version, HttpRequest::Version::k1_1);
  const Json body = Json::parse(last().body);
  EXPECT_EQ(body["FromEmailAddress"], "Shop <shop@example.com>");
  EXPECT_EQ(body["Destination"]["ToAddresses"], Json::array({"kim@example.com"}));
  const Json simple = body["Content"]["Simple"];
  EXPECT_EQ(simple["Subject"], (Json{{"Data", "Paid"}, {"Charset", "UTF-8"}}));
  EXPECT_EQ(simple["Body"]["Text"]["Data"], "Your order 42 is paid.");
  EXPECT_EQ(simple["Body"]["Html"]["Data"], "<p>Paid</p>");
  EXPECT_EQ(simple["Headers"], Json::array({{{"Name", "X-Notifyctl-Message-Id"}, {"Value", "shop-0123abcd-7"}}}));
  EXPECT_EQ(body["EmailTags"], Json::array({{{"Name", "notifyctl-message-id"}, {"Value", "shop-0123abcd-7"}}}));
  // The signature covers what is sent.
  const std::string expected =
      sigv4_authorization({"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "ap-northeast-2", "ses"}, "POST",
                          "/v2/email/outbound-emails",
                          {{"content-type", header(last(), "content-type")},
                           {"host", "email.ap-northeast-2.amazonaws.com"},
                           {"x-amz-date", header(last(), "x-amz-date")}},
                          last().body, bench.clock.now());
  EXPECT_EQ(header(last(), "authorization"), expected);
}

TEST_F(ChannelSes, EveryAttemptIsSignedForItsOwnTime) {
  send(answered(500));
  const std::string before = header(last(), "authorization");
  bench.clock.advance(10min);
  send(accepted());
  EXPECT_NE(header(last(), "authorization"), before);
  EXPECT_EQ(header(last(), "x-amz-date"), amz_date(bench.clock.now()));
}

TEST_F(ChannelSes, SettingsShapeTheMail) {
  SesDriverConfig driver = settings();
  driver.reply_to = {"help@example.com"};
  driver.configuration_set = "events";
  driver.session_token = secret_from_file("SESSIONTOKEN");
  make(driver);
  send(accepted());
  const Json body = Json::parse(last().body);
  EXPECT_EQ(body["ReplyToAddresses"], Json::array({"help@example.com"}));
  EXPECT_EQ(body["ConfigurationSetName"], "events");
  EXPECT_EQ(header(last(), "x-amz-security-token"), "SESSIONTOKEN");
  EXPECT_THAT(header(last(), "authorization"),
              HasSubstr("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token"));
}

TEST_F(ChannelSes, WhatCannotBeSentIsFoundBeforeTheClaim) {
  EXPECT_TRUE(channel->check(message()).has_value());
  for (const char* to : {"kim", "@example.com", "kim@", "a b@example.com", "김@example.com", "kim@예.kr",
                         "a@example.com,b@example.com", "Kim <kim@example.com>"})
    EXPECT_FALSE(channel->check(message(to)).has_value()) << to;
  Dispatch dispatch = message();
  dispatch.content.body.clear();
  EXPECT_FALSE(channel->check(dispatch).has_value());
  dispatch.content.html = "<p>x</p>";
  EXPECT_TRUE(channel->check(dispatch).has_value());
}

struct Case {
  int status;
  std::string_view type;
  std::string_view message;
  OutcomeClass cls;
  bool halts = false;
  std::optional<Duration> holds = {};
};

constexpr auto kPermanent = OutcomeClass::kPermanent;
constexpr auto kNotSent = OutcomeClass::kNotSent;
constexpr auto kUnknown = OutcomeClass::kUnknown;

class SesErrors : public ChannelSes, public testing::WithParamInterface<Case> {};

TEST_P(SesErrors, EveryErrorHasItsMeaning) {
  const Case& c = GetParam();
  HttpEvidence evidence = answered(c.status, Json{{"message", c.message}}.dump());
  if (!c.type.empty()) evidence.headers.emplace_back("x-amzn-errortype", std::string(c.type) + ":http://internal/");
  const Outcome outcome = send(evidence);
  EXPECT_EQ(outcome.cls, c.cls);
  EXPECT_EQ(outcome.halt_channel, c.halts);
  EXPECT_EQ(outcome.lane_wide, c.holds.has_value());
  EXPECT_EQ(outcome.retry_after, c.holds);
  EXPECT_FALSE(outcome.disable_endpoint);
  EXPECT_EQ(outcome.reason, c.type.empty() ? "http-" + std::to_string(c.status) : std::string(c.type));
}

INSTANTIATE_TEST_SUITE_P(
    Table, SesErrors,
    testing::Values(
        Case{400, "BadRequestException", "Missing final '@domain'", kPermanent},
        Case{400, "MessageRejected", "Bad content", kPermanent},
        Case{400, "MessageRejected", "Email address is not verified.", kPermanent, true},
        Case{400, "MailFromDomainNotVerifiedException", "", kNotSent, true},
        Case{400, "AccountSuspendedException", "", kNotSent, true},
        Case{400, "SendingPausedException", "", kNotSent, true}, Case{404, "NotFoundException", "", kNotSent, true},
        Case{404, "", "", kPermanent, true}, Case{400, "LimitExceededException", "", kNotSent, false, Duration{10s}},
        Case{429, "TooManyRequestsException", "", kNotSent, false, Duration{10s}},
        Case{429, "TooManyRequestsException", "Daily message quota exceeded.", kNotSent, false, Duration{1h}},
        Case{400, "ThrottlingException", "Maximum sending rate exceeded.", kNotSent, false, Duration{10s}},
        Case{429, "", "", kNotSent, false, Duration{10s}}, Case{403, "SignatureDoesNotMatch", "", kNotSent, true},
        Case{403, "InvalidClientTokenId", "", kNotSent, true}, Case{403, "ExpiredTokenException", "", kNotSent, true},
        Case{500, "InternalServiceErrorException", "", kUnknown}, Case{502, "", "", kUnknown},
        Case{503, "", "", kUnknown}, Case{504, "", "", kUnknown}));

TEST_F(ChannelSes, TheErrorMayBeInTheBody) {
  const Outcome outcome =
      send(answered(400, R"({"__type":"com.amazonaws.sesv2#SendingPausedException","Message":"m"})"));
  EXPECT_EQ(outcome.reason, "SendingPausedException");
  EXPECT_EQ(outcome.cls, kNotSent);
  EXPECT_EQ(outcome.detail, "m");
}

TEST_F(ChannelSes, ASuccessThatNamesNoMessageIsNotKnown) {
  for (const char* body : {"", "<html>login</html>", "{}", R"({"MessageId":""})"}) {
    HttpEvidence answer = answered(200, body);
    EXPECT_EQ(send(answer).cls, kUnknown) << body;
    EXPECT_EQ(send(answer).reason, "answer-not-known") << body;
    answer.body_truncated = true;
    EXPECT_EQ(send(answer).cls, OutcomeClass::kSent) << "the status is Amazon's: " << body;
  }
}

TEST_F(ChannelSes, WithoutAnAnswerTheTransportDecides) {
  EXPECT_EQ(send(connection_refused()).cls, kNotSent);
  EXPECT_EQ(send(no_answer()).cls, kUnknown);
}

TEST_F(ChannelSes, F57_NeitherKeysNorAddressComeBack) {
  SesDriverConfig driver = settings();
  driver.session_token = secret_from_file("SESSIONTOKEN");
  make(driver);
  send(accepted());
  const std::string echo = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY SESSIONTOKEN " + last().body;
  for (const int status : {400, 403, 429, 500}) {
    const std::string text = send(answered(status, echo)).detail;
    for (const char* secret : {"wJalr", "SESSIONTOKEN", "kim@example.com", "order 42"})
      EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(channel->preview(message()), Not(HasSubstr("SESSIONTOKEN")));
}

}  // namespace
}  // namespace notify

#include "channel/fcm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/keys.hpp"
#include "support/channel_support.hpp"
#include "support/test_keys.hpp"
#include "support/verify.hpp"

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

constexpr const char* kToken = "dGVzdA:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx";
constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";

Json service_account() {
  return {{"type", "service_account"},
          {"project_id", "shop-1"},
          {"private_key_id", "0a1b2c"},
          {"private_key", test::kRsaKey},
          {"client_email", "push@shop-1.iam.gserviceaccount.com"},
          {"token_uri", kTokenUrl}};
}

FcmDriverConfig settings() {
  FcmDriverConfig driver;
  driver.service_account = secret_from_file(service_account().dump());
  return driver;
}

HttpEvidence access_token(std::string token = "ya29.first") {
  return answered(200, Json{{"access_token", token}, {"expires_in", 3600}, {"token_type", "Bearer"}}.dump());
}

HttpEvidence accepted() { return answered(200, R"({"name":"projects/shop-1/messages/1"})"); }

std::string error(int status, std::string_view word, std::string_view code, std::string_view message = "m") {
  Json details = Json::array();
  if (!code.empty())
    details.push_back({{"@type", "type.googleapis.com/google.firebase.fcm.v1.FcmError"}, {"errorCode", code}});
  return Json{{"error", {{"code", status}, {"message", message}, {"status", word}, {"details", details}}}}.dump();
}

class ChannelFcm : public testing::Test {
 protected:
  void SetUp() override { make(settings()); }
  void make(FcmDriverConfig driver) { channel = make_channel(make_config(std::move(driver)), bench.ports).value(); }
  static Dispatch message() { return make_dispatch("shop-0123abcd-7", kToken); }
  // The answer to the message; the first one is preceded by that of the token endpoint.
  Outcome send(HttpEvidence evidence, Dispatch dispatch = message()) {
    bench.http.script.clear();
    if (!std::exchange(has_token_, true)) bench.http.script.push_back(access_token());
    bench.http.script.push_back(std::move(evidence));
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const HttpRequest& last() const { return bench.http.requests.back(); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
  bool has_token_ = false;
};

TEST_F(ChannelFcm, GetsATokenAndPostsTheMessage) {
  const Outcome outcome =
      send(answered(200, R"({"name":"projects/shop-1/messages/0:1500415314455276%31bd1c9631bd1c96"})"));
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
  EXPECT_EQ(outcome.reference, "projects/shop-1/messages/0:1500415314455276%31bd1c9631bd1c96");
  ASSERT_EQ(bench.http.requests.size(), 2U);
  EXPECT_EQ(last().url, "https://fcm.googleapis.com/v1/projects/shop-1/messages:send");
  EXPECT_EQ(header(last(), "Authorization"), "Bearer ya29.first");
  EXPECT_EQ(last().version, HttpRequest::Version::k2);
  EXPECT_TRUE(last().once);
  const Json sent = Json::parse(last().body)["message"];
  EXPECT_EQ(sent["token"], kToken);
  EXPECT_EQ(sent["notification"], (Json{{"title", "Paid"}, {"body", "Your order 42 is paid."}}));
  EXPECT_EQ(sent["data"], (Json{{"order", "42"}})) << "strings only";
  send(accepted());
  EXPECT_EQ(bench.http.requests.size(), 3U) << "the token is kept";
}

TEST_F(ChannelFcm, TheAssertionIsSignedAsGoogleWantsIt) {
  send(accepted());
  const HttpRequest& request = bench.http.requests.front();
  EXPECT_EQ(request.url, kTokenUrl);
  EXPECT_EQ(header(request, "Content-Type"), "application/x-www-form-urlencoded");
  const std::string begin = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(request.body.starts_with(begin));
  const std::string token = request.body.substr(begin.size());
  const std::size_t dot = token.rfind('.');
  std::string head;
  std::string claims;
  std::string signature;
  ASSERT_TRUE(from_base64url(token.substr(0, token.find('.')), head));
  ASSERT_TRUE(from_base64url(token.substr(token.find('.') + 1, dot - token.find('.') - 1), claims));
  ASSERT_TRUE(from_base64url(token.substr(dot + 1), signature));
  EXPECT_EQ(Json::parse(head), (Json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "0a1b2c"}}));
  const std::int64_t now = test::kSomeTime.ms / 1000;
  EXPECT_EQ(Json::parse(claims), (Json{{"iss", "push@shop-1.iam.gserviceaccount.com"},
                                       {"scope", "https://www.googleapis.com/auth/firebase.messaging"},
                                       {"aud", kTokenUrl},
                                       {"iat", now},
                                       {"exp", now + 3600}}));
  EXPECT_TRUE(test::verify_rs256(test::kRsaKey, token.substr(0, dot), signature));
}

TEST_F(ChannelFcm, ARepetitionOfAMessageReplacesIt) {
  send(answered(500));
  const Json first = Json::parse(last().body)["message"];
  const std::string mark = first["android"]["notification"]["tag"];
  EXPECT_EQ(first["apns"]["headers"]["apns-collapse-id"], mark);
  EXPECT_EQ(first["webpush"]["headers"]["Topic"], mark.substr(0, 32));
  EXPECT_FALSE(first["android"].contains("collapse_key")) << "a device that is offline keeps four of them only";
  send(accepted());
  EXPECT_EQ(Json::parse(last().body)["message"], first);
  send(accepted(), make_dispatch("shop-0123abcd-8", kToken));
  EXPECT_NE(Json::parse(last().body)["message"]["android"]["notification"]["tag"], mark);
}

TEST_F(ChannelFcm, DataAndSettingsShapeTheMessage) {
  FcmDriverConfig driver = settings();
  driver.target = "topic";
  driver.priority = "high";
  driver.ttl = 1h;
  driver.validate_only = true;
  driver.project = "other-2";
  make(driver);
  Dispatch dispatch = make_dispatch("id-1", "news");
  dispatch.content.data =
      R"({"a":"x","b":true,"c":{"d":[1]},"fcm":{"token":"evil","android":{"notification":{"channel_id":"c1"}},)"
      R"("fcm_options":{"analytics_label":"l"}}})";
  send(accepted(), dispatch);
  EXPECT_EQ(last().url, "https://fcm.googleapis.com/v1/projects/other-2/messages:send");
  const Json body = Json::parse(last().body);
  EXPECT_EQ(body["validate_only"], true);
  EXPECT_EQ(body["message"]["topic"], "news");
  EXPECT_FALSE(body["message"].contains("token")) << "the data cannot change whom it goes to";
  EXPECT_EQ(body["message"]["data"], (Json{{"a", "x"}, {"b", "true"}, {"c", R"({"d":[1]})"}}));
  EXPECT_EQ(body["message"]["android"]["priority"], "HIGH");
  EXPECT_EQ(body["message"]["android"]["ttl"], "3600s");
  EXPECT_EQ(body["message"]["android"]["notification"]["channel_id"], "c1");
  EXPECT_TRUE(body["message"]["android"]["notification"].contains("tag"));
  EXPECT_EQ(body["message"]["fcm_options"]["analytics_label"], "l");
  dispatch.envelope.expires = test::kSomeTime + 90s;
  send(accepted(), dispatch);
  EXPECT_EQ(Json::parse(last().body)["message"]["android"]["ttl"], "90s");
}

TEST_F(ChannelFcm, WhatCannotBeSentIsFoundBeforeTheClaim) {
  EXPECT_TRUE(channel->check(message()).has_value());
  for (const char* data :
       {R"({"from":"x"})", R"({"message_type":"x"})", R"({"google.x":"x"})", R"({"gcm.n":"x"})", R"({"fcm":"x"})"}) {
    Dispatch dispatch = message();
    dispatch.content.data = data;
    EXPECT_FALSE(channel->check(dispatch).has_value()) << data;
  }
  Dispatch dispatch = message();
  dispatch.content.data.clear();
  dispatch.content.subject.clear();
  dispatch.content.body = std::string(4096 - 4, 'x');
  EXPECT_TRUE(channel->check(dispatch).has_value());
  dispatch.content.body += 'x';
  EXPECT_FALSE(channel->check(dispatch).has_value());
  FcmDriverConfig driver = settings();
  driver.target = "topic";
  make(driver);
  dispatch.content.body = std::string(2048 - 3, 'x');
  EXPECT_FALSE(channel->check(dispatch).has_value()) << "half of it for topics";
}

// --- outcomes

struct Case {
  int status;
  std::string_view word;
  std::string_view code;
  OutcomeClass cls;
  bool disables = false;
  bool halts = false;
  std::string_view reason = {};
  std::string_view message = "m";
};

constexpr auto kPermanent = OutcomeClass::kPermanent;
constexpr auto kNotSent = OutcomeClass::kNotSent;
constexpr auto kUnknown = OutcomeClass::kUnknown;

class FcmErrors : public ChannelFcm, public testing::WithParamInterface<Case> {};

TEST_P(FcmErrors, EveryErrorHasItsMeaning) {
  const Case& c = GetParam();
  const Outcome outcome = send(answered(c.status, error(c.status, c.word, c.code, c.message)));
  EXPECT_EQ(outcome.cls, c.cls);
  EXPECT_EQ(outcome.disable_endpoint, c.disables);
  EXPECT_EQ(outcome.halt_channel, c.halts);
  EXPECT_EQ(outcome.reason, c.reason.empty() ? (c.code.empty() ? c.word : c.code) : c.reason);
}

INSTANTIATE_TEST_SUITE_P(Table, FcmErrors,
                         testing::Values(Case{400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", kPermanent},
                                         Case{400, "INVALID_ARGUMENT", "", kPermanent},
                                         Case{400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", kPermanent, true, false, "",
                                              "The registration token is not a valid FCM registration token"},
                                         Case{401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", kNotSent, false, true},
                                         Case{401, "UNAUTHENTICATED", "APNS_AUTH_ERROR", kNotSent, false, true},
                                         Case{401, "UNAUTHENTICATED", "", kNotSent},
                                         Case{403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", kPermanent, true},
                                         Case{403, "PERMISSION_DENIED", "", kNotSent, false, true},
                                         Case{404, "NOT_FOUND", "UNREGISTERED", kPermanent, true},
                                         Case{404, "NOT_FOUND", "", kPermanent, true},
                                         Case{429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", kNotSent},
                                         Case{429, "RESOURCE_EXHAUSTED", "", kNotSent},
                                         Case{500, "INTERNAL", "INTERNAL", kUnknown},
                                         Case{503, "UNAVAILABLE", "UNAVAILABLE", kNotSent},
                                         Case{500, "UNKNOWN", "UNSPECIFIED_ERROR", kUnknown},
                                         Case{502, "BAD_GATEWAY", "", kUnknown}));

TEST_F(ChannelFcm, ABadFieldOfThePayloadRetiresNoToken) {
  const std::string text =
      Json{{"error",
            {{"code", 400},
             {"message", "The registration token is not a valid FCM registration token"},
             {"status", "INVALID_ARGUMENT"},
             {"details", Json::array({{{"@type", "type.googleapis.com/google.rpc.BadRequest"},
                                       {"fieldViolations", Json::array({{{"field", "message.data"}}})}}})}}}}
          .dump();
  EXPECT_FALSE(send(answered(400, text)).disable_endpoint);
}

TEST_F(ChannelFcm, NotFoundOfSomebodyElseRetiresNoToken) {
  const Outcome outcome = send(answered(404, "<html>404</html>"));
  EXPECT_EQ(outcome.cls, kPermanent);
  EXPECT_FALSE(outcome.disable_endpoint);
  EXPECT_TRUE(outcome.halt_channel) << "the url is wrong";
}

TEST_F(ChannelFcm, QuotaAndOverloadHoldTheLane) {
  const Outcome quota = send(answered(429, error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED")));
  EXPECT_TRUE(quota.lane_wide);
  EXPECT_EQ(quota.retry_after, Duration{60s}) << "Google's default";
  EXPECT_EQ(send(answered(429, "", {{"retry-after", "5"}})).retry_after, Duration{5s});
  const Outcome overload = send(answered(503, error(503, "UNAVAILABLE", "UNAVAILABLE")));
  EXPECT_TRUE(overload.lane_wide);
  EXPECT_EQ(overload.retry_after, Duration{10s});
  EXPECT_EQ(send(answered(503, "", {{"retry-after", "7"}})).retry_after, Duration{7s});
}

TEST_F(ChannelFcm, AfterServerErrorsGooglesTenSecondsAreKept) {
  for (const int status : {500, 502, 504}) {
    const Outcome outcome = send(answered(status, error(status, "INTERNAL", "INTERNAL")));
    EXPECT_EQ(outcome.retry_after, Duration{10s}) << status;
    EXPECT_FALSE(outcome.lane_wide) << status;
    EXPECT_EQ(send(answered(status, "", {{"retry-after", "1"}})).retry_after, Duration{10s}) << status;
    EXPECT_EQ(send(answered(status, "", {{"retry-after", "40"}})).retry_after, Duration{40s}) << status;
  }
  EXPECT_EQ(send(answered(400, error(400, "INVALID_ARGUMENT", ""))).retry_after, std::nullopt);
}

TEST_F(ChannelFcm, ASuccessThatNamesNoMessageIsNotKnown) {
  for (const char* body : {"", "<html>login</html>", "{}", R"({"name":""})", R"({"name":7})"}) {
    HttpEvidence answer = answered(200, body);
    EXPECT_EQ(send(answer).cls, kUnknown) << body;
    EXPECT_EQ(send(answer).reason, "answer-not-known") << body;
    answer.body_truncated = true;
    EXPECT_EQ(send(answer).cls, OutcomeClass::kSent) << "the status is Google's: " << body;
  }
}

TEST_F(ChannelFcm, WithoutAnAnswerTheTransportDecides) {
  EXPECT_EQ(send(connection_refused()).cls, kNotSent);
  EXPECT_EQ(send(no_answer()).cls, kUnknown);
}

TEST_F(ChannelFcm, WhenEveryTokenIsAnotherProjectsItIsTheProjectThatIsWrong) {
  const auto foreign = [&] { return send(answered(403, error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"))); };
  for (int i = 1; i < 10; ++i) EXPECT_TRUE(foreign().disable_endpoint);
  const Outcome tenth = foreign();
  EXPECT_FALSE(tenth.disable_endpoint);
  EXPECT_TRUE(tenth.halt_channel);
}

TEST_F(ChannelFcm, ManyDevicesThatAreGoneAreNoTroubleOfTheLanes) {
  for (int i = 0; i < 30; ++i) {
    const Outcome outcome = send(answered(404, error(404, "NOT_FOUND", "UNREGISTERED")));
    EXPECT_TRUE(outcome.disable_endpoint) << i;
    EXPECT_FALSE(outcome.halt_channel) << i;
  }
}

// --- the access token

TEST_F(ChannelFcm, F39_ARefusedTokenIsRenewedOnceThenTheLaneHalts) {
  send(accepted());
  const Outcome first = send(answered(401, error(401, "UNAUTHENTICATED", "")));
  EXPECT_EQ(first.cls, kNotSent);
  EXPECT_TRUE(first.not_begun);
  EXPECT_FALSE(first.halt_channel);
  bench.http.script = {access_token("ya29.second"), answered(401, error(401, "UNAUTHENTICATED", ""))};
  const Outcome second = bench.send(*channel, message()).value();
  EXPECT_EQ(header(last(), "Authorization"), "Bearer ya29.second");
  EXPECT_EQ(second.cls, kNotSent);
  EXPECT_TRUE(second.halt_channel);
  EXPECT_FALSE(second.not_begun);
}

TEST_F(ChannelFcm, F39_TheTokenIsRenewedBeforeItEnds) {
  send(accepted());
  bench.loop.advance(56min);
  bench.http.script = {accepted(), access_token("ya29.second")};
  EXPECT_EQ(bench.send(*channel, message())->cls, OutcomeClass::kSent);
  bench.loop.run();
  send(accepted());
  EXPECT_EQ(header(last(), "Authorization"), "Bearer ya29.second");
}

TEST_F(ChannelFcm, F39_WithoutATokenTheLaneHaltsAndNoMessagePays) {
  struct TokenCase {
    HttpEvidence answer;
    std::string reason;
    bool halts;
  };
  const TokenCase cases[] = {
      {answered(400, R"({"error":"invalid_grant","error_description":"Invalid JWT"})"), "token-http-400", true},
      {answered(401, R"({"error":"invalid_client"})"), "token-http-401", true},
      {answered(200, "<html>login</html>"), "token-answer", true},
      {answered(200, R"({"access_token":"a\nb"})"), "token-answer", true},
      {answered(200, R"({"access_token":""})"), "token-answer", true},
      {answered(500), "token-http-500", true},
      {connection_refused(), "token-connect-failed", true},
      {no_answer(), "token-timeout", true},
      {answered(429, "", {{"retry-after", "30"}}), "token-http-429", false},
      {answered(503, "", {{"retry-after", "30"}}), "token-http-503", false},
  };
  for (const TokenCase& c : cases) {
    bench.http.script = {c.answer};
    const std::size_t before = bench.http.requests.size();
    const Outcome outcome = bench.send(*channel, message()).value();
    EXPECT_EQ(bench.http.requests.size(), before + 1) << "the message itself was not sent";
    EXPECT_EQ(outcome.cls, kNotSent) << c.reason;
    EXPECT_EQ(outcome.reason, c.reason);
    EXPECT_EQ(outcome.halt_channel, c.halts) << c.reason;
    EXPECT_EQ(outcome.lane_wide, !c.halts) << c.reason;
    EXPECT_EQ(outcome.retry_after.has_value(), !c.halts) << c.reason;
  }
}

TEST_F(ChannelFcm, F57_NeitherTokensNorTextComeBack) {
  send(accepted());
  const std::string assertion = bench.http.requests.front().body.substr(bench.http.requests.front().body.find("eyJ"));
  const std::string echo = header(last(), "Authorization") + last().body + assertion;
  for (const int status : {400, 403, 404, 429, 500}) {
    const std::string text = send(answered(status, echo)).detail;
    for (const char* secret : {"ya29.first", kToken, "order 42"}) EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  Bench other;
  const auto fresh = make_channel(make_config(settings()), other.ports).value();
  other.http.script = {answered(400, R"({"error":"invalid_grant","error_description":")" + assertion + "\"}")};
  EXPECT_THAT(other.send(*fresh, message())->detail, Not(HasSubstr(assertion)));
  EXPECT_THAT(channel->preview(message()), HasSubstr("Authorization: Bearer ***"));
}

TEST_F(ChannelFcm, AKeyThatIsNoneIsAConfigurationError) {
  Json no_key = service_account();
  no_key["private_key"] = "SECRET";
  Json wrong_key = service_account();
  wrong_key["private_key"] = test::kEcKey;
  Json plain_http = service_account();
  plain_http["token_uri"] = "http://oauth2.googleapis.com/token";
  Json no_email = service_account();
  no_email.erase("client_email");
  for (const std::string& text :
       {std::string(), std::string("SECRET"), no_key.dump(), wrong_key.dump(), plain_http.dump(), no_email.dump()}) {
    FcmDriverConfig driver;
    driver.service_account = secret_from_file(text);
    const auto made = make_channel(make_config(driver), bench.ports);
    ASSERT_FALSE(made.has_value()) << text;
    EXPECT_EQ(made.error().code, Code::kConfig);
    EXPECT_THAT(made.error().message, HasSubstr("service_account"));
    EXPECT_THAT(made.error().message, Not(HasSubstr("SECRET")));
  }
  Json no_project = service_account();
  no_project.erase("project_id");
  FcmDriverConfig driver;
  driver.service_account = secret_from_file(no_project.dump());
  EXPECT_FALSE(make_channel(make_config(driver), bench.ports).has_value());
}

}  // namespace
}  // namespace notify

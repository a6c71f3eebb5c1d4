// The driver http over fakes: whose trouble it is, tokens, what is told, and questions. The vendors' own rules are tested by
// recipe_tables_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/channel_support.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using test::answered;
using test::Bench;
using test::header;
using test::make_dispatch;
using test::no_answer;
using testing::HasSubstr;
using testing::Not;

class ChannelHttp : public testing::Test {
 protected:
  void make(const std::string& recipe, const std::map<std::string, std::string>& settings) {
    HttpDriverConfig driver;
    driver.recipe_name = recipe;
    driver.recipe = load_recipe(recipe, "").value();
    for (const auto& [name, value] : settings) driver.settings.emplace(name, test::plain_secret(value));
    channel = make_channel(test::make_config(std::move(driver)), bench.ports).value();
  }
  void make_bizppurio() {
    make("bizppurio", {{"account", "acct"}, {"password", "biz-secret"}, {"from", "0212345678"}});
  }
  Outcome send(std::deque<HttpEvidence> script, Dispatch dispatch = make_dispatch()) {
    bench.http.script = std::move(script);
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const HttpRequest& last() const { return bench.http.requests.back(); }

  static HttpEvidence token(const std::string& value) {
    return answered(200, R"({"accesstoken":")" + value + R"(","type":"Bearer","expired":"20991231000000"})");
  }
  static HttpEvidence taken() { return answered(200, R"({"code":1000,"messagekey":"mk"})"); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
};

constexpr const char* kHook = "https://hooks.slack.com/services/T/B/SECRETPART";

TEST_F(ChannelHttp, RequestsAreMadeOnceAndMayGoToTheConfiguredUrlOnly) {
  make("slack-webhook", {{"url", kHook}});
  EXPECT_EQ(send({answered(200, "ok")}).cls, OutcomeClass::kSent);
  EXPECT_TRUE(last().once);
  EXPECT_TRUE(last().allow_private);
  EXPECT_EQ(header(last(), "User-Agent"), "notifyctl/9.9.9");
}

TEST_F(ChannelHttp, ADeadConfiguredUrlIsTheLanesTrouble) {
  make("slack-webhook", {{"url", kHook}});
  const Outcome outcome = send({answered(404, "no_service")});
  EXPECT_EQ(outcome.cls, OutcomeClass::kPermanent);
  EXPECT_TRUE(outcome.halt_channel);
  EXPECT_FALSE(outcome.disable_endpoint);
}

TEST_F(ChannelHttp, ADeadRecipientUrlIsTheRecipientsTrouble) {
  make("slack-webhook", {});
  const Dispatch dispatch = make_dispatch("shop-0123abcd-7", kHook);
  ASSERT_TRUE(channel->check(dispatch).has_value());
  Outcome outcome = send({answered(404, "no_service")}, dispatch);
  EXPECT_TRUE(outcome.disable_endpoint);
  EXPECT_FALSE(outcome.halt_channel);
  EXPECT_FALSE(last().allow_private);
  outcome = send({answered(403, "action_prohibited")}, dispatch);
  EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
  EXPECT_FALSE(outcome.halt_channel);
  outcome = send({answered(429, "rate_limited", {{"retry-after", "5"}})}, dispatch);
  EXPECT_FALSE(outcome.lane_wide);
}

TEST_F(ChannelHttp, ARecipientUrlLeadsToTheVendorOnly) {
  make("slack-webhook", {});
  for (const char* bad :
       {"http://hooks.slack.com/services/x", "https://hooks.slack.com.evil.test/x", "https://evil.test/x",
        "https://hooks.slack.com@evil.test/", "https://hooks.slack.com/x?y=z", "https://127.0.0.1/x", "ops"})
    EXPECT_FALSE(channel->check(make_dispatch("shop-0123abcd-7", bad)).has_value()) << bad;
}

TEST_F(ChannelHttp, NothingPrivateIsTold) {
  make("telegram", {{"token", "123:SECRETTOKEN"}});
  const Dispatch dispatch = make_dispatch("shop-0123abcd-7", "+82 10-9876-5432");
  HttpEvidence evidence = answered(
      400, R"({"ok":false,"description":"no 01098765432 +82 10-9876-5432 123:SECRETTOKEN Your order 42 is paid."})");
  const Outcome outcome = send({evidence}, dispatch);
  EXPECT_THAT(outcome.detail, HasSubstr("no "));
  for (const char* secret : {"98765432", "SECRETTOKEN", "order 42"})
    EXPECT_THAT(outcome.detail, Not(HasSubstr(secret)));
}

TEST_F(ChannelHttp, ATokenIsFetchedOnceAndUsedByAll) {
  make_bizppurio();
  EXPECT_EQ(send({token("tok-1"), taken()}).cls, OutcomeClass::kSent);
  EXPECT_EQ(send({taken()}).cls, OutcomeClass::kSent);
  ASSERT_EQ(bench.http.requests.size(), 3U);
  EXPECT_THAT(bench.http.requests[0].url, HasSubstr("/v1/token"));
  EXPECT_EQ(header(bench.http.requests[0], "Authorization"), "Basic YWNjdDpiaXotc2VjcmV0");
  EXPECT_EQ(header(bench.http.requests[1], "Authorization"), "Bearer tok-1");
  EXPECT_EQ(header(bench.http.requests[2], "Authorization"), "Bearer tok-1");
}

TEST_F(ChannelHttp, ARefusedTokenIsReplacedOnceThenTheLaneHalts) {
  make_bizppurio();
  const HttpEvidence refused = answered(401, R"({"code":3005,"description":"expired tok-1"})");
  Outcome outcome = send({token("tok-1"), refused});
  EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
  EXPECT_FALSE(outcome.halt_channel);
  EXPECT_THAT(outcome.detail, Not(HasSubstr("tok-1")));
  outcome = send({token("tok-2"), refused});
  EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
  EXPECT_TRUE(outcome.halt_channel);
  EXPECT_EQ(header(last(), "Authorization"), "Bearer tok-2");
}

TEST_F(ChannelHttp, WithoutATokenNothingIsSent) {
  for (const HttpEvidence& evidence : {answered(401, R"({"code":3001})"), answered(200, "<html>"), no_answer(),
                                       answered(500, ""), test::connection_refused()}) {
    SetUp();
    bench.credentials = test::FakeCredentials{};
    make_bizppurio();
    const Outcome outcome = send({evidence});
    EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent) << evidence.status;
    EXPECT_THAT(last().url, HasSubstr("/v1/token"));
    EXPECT_THAT(outcome.detail, Not(HasSubstr("biz-secret")));
  }
}

TEST_F(ChannelHttp, AsksTheVendorWithAFreshSignature) {
  make("solapi", {{"key", "K"}, {"secret", "solapi-secret"}, {"from", "0212345678"}});
  LookUp* look_up = channel->look_up();
  ASSERT_NE(look_up, nullptr);
  std::vector<LookUpAnswer> answers;
  const auto ask = [&](HttpEvidence evidence) {
    bench.http.script = {std::move(evidence)};
    look_up->look_up({"shop-0123abcd-7", "", "+821000000042", test::kSomeTime},
                     [&](LookUpAnswer answer) { answers.push_back(std::move(answer)); });
    bench.loop.run();
  };
  ask(answered(200, R"({"messageList":{"m":{"groupId":"G","messageId":"m","statusCode":"4000",
                       "customFields":{"message_id":"shop-0123abcd-7"}}}})"));
  ask(answered(200, R"({"messageList":{}})"));
  ask(no_answer());
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].kind, LookUpAnswer::Kind::kAccepted);
  EXPECT_EQ(answers[0].reference, "G:m");
  EXPECT_EQ(answers[1].kind, LookUpAnswer::Kind::kUnknown);
  EXPECT_EQ(answers[2].kind, LookUpAnswer::Kind::kUnknown);
  EXPECT_NE(header(bench.http.requests[0], "Authorization"), header(bench.http.requests[1], "Authorization"));
}

TEST_F(ChannelHttp, AsksNothingThatItCannotAsk) {
  make("twilio", {{"account", "AC1"}, {"token", "12345"}, {"from", "+15005550006"}});
  std::vector<LookUpAnswer> answers;
  channel->look_up()->look_up({"shop-0123abcd-7", "", "+821000000042", test::kSomeTime},
                              [&](LookUpAnswer answer) { answers.push_back(std::move(answer)); });
  bench.loop.run();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].kind, LookUpAnswer::Kind::kUnknown);
  EXPECT_TRUE(bench.http.requests.empty());
  make("telegram", {{"token", "123:SECRETTOKEN"}});
  EXPECT_EQ(channel->look_up(), nullptr);
}

}  // namespace
}  // namespace notify

#include "channel/apns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/keys.hpp"
#include "support/channel_support.hpp"
#include "support/test_keys.hpp"
#include "support/verify.hpp"

namespace notify {
namespace {

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

constexpr const char* kToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0";

ApnsDriverConfig settings() {
  ApnsDriverConfig driver;
  driver.key = secret_from_file(test::kEcKey);
  driver.key_id = "ABC123DEFG";
  driver.team_id = "DEF123GHIJ";
  driver.topic = "com.example.shop";
  driver.url = "https://api.push.apple.com";
  return driver;
}

std::string reason(std::string_view word) { return R"({"reason":")" + std::string(word) + R"("})"; }

class ChannelApns : public testing::Test {
 protected:
  void SetUp() override { make(settings()); }
  void make(ApnsDriverConfig driver, Semantics semantics = Semantics::kAtMostOnce) {
    ChannelConfig config = make_config(std::move(driver));
    config.semantics = semantics;
    channel = make_channel(config, bench.ports).value();
  }
  static Dispatch message(std::string id = "shop-0123abcd-7") { return make_dispatch(std::move(id), kToken); }
  Outcome send(HttpEvidence evidence, Dispatch dispatch = message()) {
    bench.http.script = {std::move(evidence)};
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const HttpRequest& last() const { return bench.http.requests.back(); }
  std::string bearer() const { return header(last(), "authorization"); }
  nlohmann::json body() const { return nlohmann::json::parse(last().body); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
};

TEST_F(ChannelApns, PostsTheNotification) {
  const Outcome outcome = send(answered(200, "", {{"apns-id", "EC1BF194-B3B2-424A-89C2-1D6E0A5B7F1F"}}));
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
  EXPECT_EQ(outcome.reference, "EC1BF194-B3B2-424A-89C2-1D6E0A5B7F1F");
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().url, "https://api.push.apple.com/3/device/" + std::string(kToken));
  EXPECT_EQ(last().version, HttpRequest::Version::k2);
  EXPECT_TRUE(last().once);
  EXPECT_EQ(header(last(), "apns-topic"), "com.example.shop");
  EXPECT_EQ(header(last(), "apns-push-type"), "alert");
  EXPECT_EQ(header(last(), "apns-priority"), "10");
  EXPECT_EQ(header(last(), "apns-expiration"), "(none)");
  EXPECT_EQ(last().body, R"({"aps":{"alert":{"title":"Paid","body":"Your order 42 is paid."}},"order":42})");
}

TEST_F(ChannelApns, TheProviderTokenIsSignedAsAppleWantsIt) {
  send(answered(200));
  ASSERT_TRUE(bearer().starts_with("bearer "));
  const std::string token = bearer().substr(7);
  const std::size_t dot = token.rfind('.');
  std::string head;
  std::string claims;
  std::string signature;
  ASSERT_TRUE(from_base64url(token.substr(0, token.find('.')), head));
  ASSERT_TRUE(from_base64url(token.substr(token.find('.') + 1, dot - token.find('.') - 1), claims));
  ASSERT_TRUE(from_base64url(token.substr(dot + 1), signature));
  EXPECT_EQ(head, R"({"alg":"ES256","kid":"ABC123DEFG"})");
  EXPECT_EQ(claims, R"({"iss":"DEF123GHIJ","iat":)" + std::to_string(test::kSomeTime.ms / 1000) + "}");
  EXPECT_TRUE(test::verify_es256(PrivateKey::from_pem(test::kEcKey)->public_point(), token.substr(0, dot), signature));
}

TEST_F(ChannelApns, ARepetitionOfAMessageReplacesIt) {
  send(answered(500, reason("InternalServerError")));
  const std::string id = header(last(), "apns-id");
  const std::string collapse = header(last(), "apns-collapse-id");
  EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_LE(collapse.size(), 64U);
  send(answered(200));
  EXPECT_EQ(header(last(), "apns-id"), id);
  EXPECT_EQ(header(last(), "apns-collapse-id"), collapse);
  send(answered(200), message("shop-0123abcd-8"));
  EXPECT_NE(header(last(), "apns-id"), id);
  EXPECT_NE(header(last(), "apns-collapse-id"), collapse);
  make(settings(), Semantics::kAtLeastOnce);
  send(answered(200));
  EXPECT_FALSE(last().once);
}

TEST_F(ChannelApns, DataAndSettingsShapeTheNotification) {
  ApnsDriverConfig driver = settings();
  driver.sound = "default";
  driver.priority = 5;
  driver.ttl = 1h;
  make(driver);
  Dispatch dispatch = message();
  dispatch.content.data = R"({"aps":{"badge":3,"sound":"ding.caf","alert":{"subtitle":"x"}},"order":42})";
  send(answered(200), dispatch);
  EXPECT_EQ(last().body,
            R"({"aps":{"alert":{"title":"Paid","body":"Your order 42 is paid.","subtitle":"x"},"sound":"ding.caf",)"
            R"("badge":3},"order":42})");
  EXPECT_EQ(header(last(), "apns-priority"), "5");
  EXPECT_EQ(header(last(), "apns-expiration"), std::to_string(test::kSomeTime.ms / 1000 + 3600));
  dispatch.envelope.expires = test::kSomeTime + 10min;
  dispatch.content.data = "[1,2]";
  send(answered(200), dispatch);
  EXPECT_EQ(header(last(), "apns-expiration"), std::to_string(test::kSomeTime.ms / 1000 + 600));
  EXPECT_EQ(body()["data"], nlohmann::json({1, 2}));
  driver.ttl = Duration{0};
  make(driver);
  send(answered(200));
  EXPECT_EQ(header(last(), "apns-expiration"), "0") << "once or never";
}

TEST_F(ChannelApns, ABackgroundPushHasNoText) {
  ApnsDriverConfig driver = settings();
  driver.push_type = "background";
  driver.priority = 5;
  make(driver);
  EXPECT_FALSE(channel->check(message()).has_value());
  Dispatch silent = message();
  silent.content.subject.clear();
  silent.content.body.clear();
  EXPECT_TRUE(channel->check(silent).has_value());
  send(answered(200), silent);
  EXPECT_EQ(last().body, R"({"aps":{"content-available":1},"order":42})");
}

TEST_F(ChannelApns, WhatCannotBeSentIsFoundBeforeTheClaim) {
  EXPECT_TRUE(channel->check(message()).has_value());
  for (const char* token : {"", "xyz", "abc", "00fc/../../4/other", "00fc13ad ff785122", "00fc13ad%2f"})
    EXPECT_FALSE(channel->check(make_dispatch("id-1", token)).has_value()) << token;
  EXPECT_FALSE(channel->check(make_dispatch("id-1", std::string(202, 'a'))).has_value());
  Dispatch dispatch = message();
  dispatch.content.data.clear();
  const std::size_t frame = apns_payload(dispatch, settings()).size() - dispatch.content.body.size();
  dispatch.content.body = std::string(4096 - frame, 'x');
  EXPECT_TRUE(channel->check(dispatch).has_value());
  dispatch.content.body += 'x';
  EXPECT_FALSE(channel->check(dispatch).has_value());
  ApnsDriverConfig driver = settings();
  driver.push_type = "voip";
  make(driver);
  EXPECT_TRUE(channel->check(dispatch).has_value()) << "5120 bytes";
}

// --- outcomes

struct Case {
  int status;
  std::string_view reason;
  OutcomeClass cls;
  bool disables = false;
  bool halts = false;
};

class ApnsReasons : public ChannelApns, public testing::WithParamInterface<Case> {};

TEST_P(ApnsReasons, EveryReasonHasItsMeaning) {
  const Case& c = GetParam();
  const Outcome outcome = send(answered(c.status, c.reason.empty() ? "" : reason(c.reason)));
  EXPECT_EQ(outcome.cls, c.cls);
  EXPECT_EQ(outcome.disable_endpoint, c.disables);
  EXPECT_EQ(outcome.halt_channel, c.halts);
  EXPECT_EQ(outcome.status, c.status);
  if (c.reason.empty()) {
    EXPECT_EQ(outcome.reason, "http-" + std::to_string(c.status));
  } else {
    EXPECT_EQ(outcome.reason, c.reason);
  }
}

constexpr auto kSent = OutcomeClass::kSent;
constexpr auto kPermanent = OutcomeClass::kPermanent;
constexpr auto kNotSent = OutcomeClass::kNotSent;
constexpr auto kUnknown = OutcomeClass::kUnknown;

INSTANTIATE_TEST_SUITE_P(
    Table, ApnsReasons,
    testing::Values(Case{200, "", kSent}, Case{400, "BadDeviceToken", kPermanent, true},
                    Case{400, "DeviceTokenNotForTopic", kPermanent, true}, Case{400, "BadCollapseId", kPermanent},
                    Case{400, "BadExpirationDate", kPermanent}, Case{400, "BadMessageId", kPermanent},
                    Case{400, "BadPriority", kPermanent}, Case{400, "BadTopic", kPermanent, false, true},
                    Case{400, "DuplicateHeaders", kPermanent}, Case{400, "InvalidPushType", kPermanent},
                    Case{400, "MissingDeviceToken", kPermanent}, Case{400, "MissingTopic", kPermanent, false, true},
                    Case{400, "PayloadEmpty", kPermanent}, Case{400, "TopicDisallowed", kPermanent, false, true},
                    Case{400, "IdleTimeout", kNotSent}, Case{400, "", kPermanent},
                    Case{403, "InvalidProviderToken", kNotSent, false, true},
                    Case{403, "MissingProviderToken", kNotSent, false, true},
                    Case{403, "BadCertificate", kNotSent, false, true},
                    Case{403, "BadCertificateEnvironment", kNotSent, false, true},
                    Case{403, "BadEnvironmentKeyIdInToken", kNotSent, false, true},
                    Case{403, "BadEnvironmentKeyInToken", kNotSent, false, true},
                    Case{403, "UnrelatedKeyIdInToken", kNotSent}, Case{403, "Forbidden", kPermanent},
                    Case{403, "SomethingNew", kNotSent, false, true}, Case{403, "", kNotSent, false, true},
                    Case{404, "BadPath", kPermanent}, Case{405, "MethodNotAllowed", kPermanent},
                    Case{410, "Unregistered", kPermanent, true}, Case{410, "ExpiredToken", kPermanent, true},
                    Case{410, "", kPermanent, true}, Case{413, "PayloadTooLarge", kPermanent},
                    Case{429, "TooManyRequests", kNotSent}, Case{429, "TooManyProviderTokenUpdates", kNotSent},
                    Case{500, "InternalServerError", kUnknown}, Case{500, "", kUnknown}, Case{502, "", kUnknown},
                    Case{503, "ServiceUnavailable", kNotSent}, Case{503, "Shutdown", kNotSent},
                    Case{503, "", kNotSent}));

TEST_F(ChannelApns, SinceWhenADeviceIsGoneGoesWithTheOutcome) {
  const auto gone = [&](const char* timestamp) {
    return send(answered(410, R"({"reason":"Unregistered","timestamp":)" + std::string(timestamp) + "}"));
  };
  EXPECT_EQ(gone("1700000000123").gone_since, Instant{1'700'000'000'123});
  for (const char* nonsense : {"null", "\"1700000000123\"", "1.5", "[]"}) {
    EXPECT_TRUE(gone(nonsense).disable_endpoint) << nonsense;
    EXPECT_EQ(gone(nonsense).gone_since, std::nullopt) << nonsense;
  }
  EXPECT_EQ(send(answered(410, reason("ExpiredToken"))).gone_since, std::nullopt);
}

TEST_F(ChannelApns, AnswersThatAreNoJsonAreJudgedByTheirStatus) {
  for (const char* body :
       {"", "<html>", "[]", R"({"reason":7})", R"({"reason":"two words\n"})", "{\"reason\":\"\xff\"}"})
    EXPECT_EQ(send(answered(400, body)).reason, "http-400") << body;
}

TEST_F(ChannelApns, WithoutAnAnswerTheTransportDecides) {
  EXPECT_EQ(send(connection_refused()).cls, kNotSent);
  EXPECT_TRUE(send(connection_refused()).connect_refused);
  EXPECT_EQ(send(no_answer()).cls, kUnknown);
  HttpEvidence goaway = no_answer();
  goaway.curl_code = 16;  // CURLE_HTTP2
  goaway.stream_id = 9;
  goaway.goaway_last_stream = 7;
  EXPECT_EQ(send(goaway).cls, kNotSent) << "above the last stream: not processed";
  goaway.goaway_last_stream = 9;
  EXPECT_EQ(send(goaway).cls, kUnknown);
}

TEST_F(ChannelApns, TooManyForOneDeviceIsNotTheLanesTrouble) {
  const Outcome device = send(answered(429, reason("TooManyRequests")));
  EXPECT_FALSE(device.lane_wide);
  const Outcome told = send(answered(429, reason("TooManyRequests"), {{"retry-after", "30"}}));
  EXPECT_TRUE(told.lane_wide);
  EXPECT_EQ(told.retry_after, Duration{30s});
}

TEST_F(ChannelApns, AfterServerErrorsApplesQuarterOfAnHourIsKept) {
  EXPECT_EQ(send(answered(500, reason("InternalServerError"))).retry_after, Duration{15min});
  EXPECT_EQ(send(answered(503, reason("ServiceUnavailable"))).retry_after, Duration{15min});
  EXPECT_EQ(send(answered(503, reason("ServiceUnavailable"), {{"retry-after", "9"}})).retry_after, Duration{9s});
}

TEST_F(ChannelApns, WhereAppleWantsANewConnectionTheOldOneIsLeft) {
  const auto left = [&](int status, std::string_view word) {
    bench.http.left.clear();
    HttpEvidence evidence = answered(status, word.empty() ? "" : reason(word));
    evidence.connections = 7;
    send(evidence);
    return bench.http.left;
  };
  EXPECT_THAT(left(400, "IdleTimeout"), testing::ElementsAre(7U));
  EXPECT_THAT(left(403, "UnrelatedKeyIdInToken"), testing::ElementsAre(7U));
  EXPECT_THAT(left(429, "TooManyProviderTokenUpdates"), testing::ElementsAre(7U));
  EXPECT_THAT(left(503, "ServiceUnavailable"), testing::ElementsAre(7U));
  EXPECT_THAT(left(503, "Shutdown"), testing::ElementsAre(7U));
  EXPECT_THAT(left(200, ""), testing::IsEmpty());
  EXPECT_THAT(left(429, "TooManyRequests"), testing::IsEmpty());
  EXPECT_THAT(left(410, "Unregistered"), testing::IsEmpty());
}

TEST_F(ChannelApns, ChannelsOfDifferentKeysOrTopicsShareNoConnection) {
  std::set<std::string> pools;
  const auto pool_of = [&](const ApnsDriverConfig& driver) {
    make(driver);
    send(answered(200));
    return last().pool;
  };
  pools.insert(pool_of(settings()));
  ApnsDriverConfig driver = settings();
  driver.key_id = "XYZ123DEFG";
  pools.insert(pool_of(driver));
  driver = settings();
  driver.team_id = "XYZ123GHIJ";
  pools.insert(pool_of(driver));
  driver = settings();
  driver.topic = "com.example.other";
  pools.insert(pool_of(driver));
  EXPECT_EQ(pools.size(), 4U);
  EXPECT_TRUE(pools.contains(pool_of(settings())));
}

TEST_F(ChannelApns, F38_TooManyTokensKeepsTheTokenAndHoldsTheLane) {
  const Outcome outcome = send(answered(429, reason("TooManyProviderTokenUpdates")));
  EXPECT_TRUE(outcome.lane_wide);
  EXPECT_EQ(outcome.retry_after, Duration{20min});
  const std::string token = bearer();
  send(answered(200));
  EXPECT_EQ(bearer(), token);
}

TEST_F(ChannelApns, F38_AllProcessesAndChannelsOfAKeyHaveOneToken) {
  send(answered(200));
  const std::string token = bearer();
  Bench other;
  other.credentials = test::FakeCredentials(2, bench.credentials.rows);
  other.clock = bench.clock;
  ApnsDriverConfig driver = settings();
  driver.topic = "com.example.other";
  const auto second = make_channel(make_config(driver), other.ports).value();
  other.send(*second, message());
  EXPECT_EQ(header(other.http.requests.back(), "authorization"), token);
}

TEST_F(ChannelApns, F38_OverTwoHoursNoTokenIsYoungerThan20MinutesOrUsedForAnHour) {
  std::set<std::string> tokens;
  std::string before;
  Instant made = bench.clock.wall;
  for (int minute = 0; minute < 120; ++minute, bench.loop.advance(1min)) {
    send(answered(200));
    bench.loop.run();
    if (bearer() != before) {
      if (!before.empty()) {
        EXPECT_GE(bench.clock.wall - made, 40min);
        EXPECT_LE(bench.clock.wall - made, 55min);
      }
      made = bench.clock.wall;
    }
    before = bearer();
    tokens.insert(before);
  }
  EXPECT_EQ(tokens.size(), 3U);
}

TEST_F(ChannelApns, AnExpiredTokenIsRenewedOnceAndTheMessageGoesAgain) {
  send(answered(200));
  const std::string token = bearer();
  bench.loop.advance(30min);  // it cannot be that old for us; Apple's clock may be ahead
  const Outcome refused = send(answered(403, reason("ExpiredProviderToken")));
  EXPECT_EQ(refused.cls, kNotSent);
  EXPECT_TRUE(refused.not_begun) << "at no cost to the message or the lane";
  EXPECT_FALSE(refused.halt_channel);
  EXPECT_EQ(send(answered(200)).cls, kSent);
  EXPECT_NE(bearer(), token);
}

TEST_F(ChannelApns, AYoungTokenThatIsExpiredHaltsTheLane) {
  const Outcome outcome = send(answered(403, reason("ExpiredProviderToken")));
  EXPECT_EQ(outcome.cls, kNotSent);
  EXPECT_TRUE(outcome.halt_channel) << "our clock is wrong; a new one every time would be punished";
  const std::string token = bearer();
  send(answered(200));
  EXPECT_EQ(bearer(), token);
}

TEST_F(ChannelApns, WhenEveryTokenIsDeadItIsTheEnvironmentThatIsWrong) {
  for (int i = 1; i < 10; ++i) EXPECT_TRUE(send(answered(400, reason("BadDeviceToken"))).disable_endpoint) << i;
  const Outcome tenth = send(answered(400, reason("BadDeviceToken")));
  EXPECT_FALSE(tenth.disable_endpoint);
  EXPECT_TRUE(tenth.halt_channel);
  EXPECT_THAT(tenth.detail, HasSubstr("sandbox"));
  send(answered(200));
  EXPECT_TRUE(send(answered(400, reason("BadDeviceToken"))).disable_endpoint) << "one that lives ends the doubt";
}

TEST_F(ChannelApns, ManyDevicesThatAreGoneAreNoTroubleOfTheLanes) {
  for (int i = 0; i < 30; ++i) {
    const Outcome outcome = send(answered(410, reason(i % 2 == 0 ? "Unregistered" : "ExpiredToken")));
    EXPECT_TRUE(outcome.disable_endpoint) << i;
    EXPECT_FALSE(outcome.halt_channel) << i;
  }
  for (int i = 1; i < 10; ++i) send(answered(400, reason("DeviceTokenNotForTopic")));
  EXPECT_TRUE(send(answered(410, reason("Unregistered"))).disable_endpoint);
  EXPECT_TRUE(send(answered(400, reason("DeviceTokenNotForTopic"))).halt_channel);
}

TEST_F(ChannelApns, F57_NeitherTokenNorTextComesBack) {
  send(answered(200));
  const std::string echo = bearer() + " " + last().url + " " + last().body;
  for (const int status : {400, 403, 410, 429, 500}) {
    const Outcome outcome = send(answered(status, echo));
    const std::string text = outcome.reason + outcome.detail + outcome.reference;
    EXPECT_THAT(text, Not(HasSubstr(kToken)));
    EXPECT_THAT(text, Not(HasSubstr(bearer().substr(7))));
    EXPECT_THAT(text, Not(HasSubstr("order 42")));
  }
  EXPECT_THAT(channel->preview(message()), HasSubstr("authorization: bearer ***"));
}

TEST_F(ChannelApns, AKeyThatIsNoneIsAConfigurationError) {
  for (const char* key : {"", "SECRET", test::kRsaKey, test::kP384Key}) {
    ApnsDriverConfig driver = settings();
    driver.key = secret_from_file(key);
    const auto made = make_channel(make_config(driver), bench.ports);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code, Code::kConfig);
    EXPECT_THAT(made.error().message, HasSubstr("channel lane: key: "));
    EXPECT_THAT(made.error().message, Not(HasSubstr("SECRET")));
  }
}

TEST_F(ChannelApns, TheResultMayComeAfterTheChannelIsGone) {
  channel->send(message(), bench.keep());
  EXPECT_TRUE(bench.outcomes.empty());
  channel.reset();
  bench.loop.run();
  EXPECT_EQ(bench.outcomes.size(), 1U);
}

}  // namespace
}  // namespace notify

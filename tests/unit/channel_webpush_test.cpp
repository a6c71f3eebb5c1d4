#include "channel/webpush.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "channel/webpush_encryption.hpp"
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

// RFC 8291, section 5 and appendix A.
constexpr const char* kAuth = "BTBZMqHH6r4Tts7J_aSIgg";
constexpr const char* kBrowserPublic =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
constexpr const char* kBrowserPrivate = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
constexpr const char* kSenderPrivate = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";
constexpr const char* kSalt = "DGv6ra1nlYgDCS1FRnbzlw";

std::string bytes(std::string_view base64url) {
  std::string out;
  EXPECT_TRUE(from_base64url(base64url, out)) << base64url;
  return out;
}

std::string subscription(std::string endpoint = "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
                         std::string p256dh = kBrowserPublic, std::string auth = kAuth) {
  return Json{{"endpoint", endpoint}, {"expirationTime", nullptr}, {"keys", {{"p256dh", p256dh}, {"auth", auth}}}}
      .dump();
}

TEST(WebPushEncryption, Rfc8291Section5) {
  const Subscription browser = read_subscription(subscription()).value();
  const std::string body = encrypt_push("When I grow up, I want to be a watermelon", browser,
                                        PrivateKey::from_p256(bytes(kSenderPrivate)).value(), bytes(kSalt))
                               .value();
  EXPECT_EQ(
      to_base64url(body),
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3"
      "jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN");
  EXPECT_EQ(test::open_push(body, bytes(kBrowserPrivate), bytes(kAuth)), "When I grow up, I want to be a watermelon");
}

TEST(WebPushEncryption, TheLongestTextFillsTheRecord) {
  const Subscription browser = read_subscription(subscription()).value();
  const std::string text(kLongestPush, 'x');
  const std::string body = encrypt_push(text, browser, PrivateKey::generate_p256(), random_bytes(16)).value();
  EXPECT_EQ(body.size(), 4096U);
  EXPECT_EQ(test::open_push(body, bytes(kBrowserPrivate), bytes(kAuth)), text);
}

WebPushDriverConfig settings() {
  WebPushDriverConfig driver;
  driver.key = secret_from_file(test::kEcKey);
  driver.subject = "mailto:push@example.com";
  return driver;
}

class ChannelWebPush : public testing::Test {
 protected:
  void SetUp() override { make(settings()); }
  void make(WebPushDriverConfig driver, Semantics semantics = Semantics::kAtMostOnce) {
    ChannelConfig config = make_config(std::move(driver));
    config.semantics = semantics;
    channel = make_channel(config, bench.ports).value();
  }
  static Dispatch message(std::string address = subscription()) {
    return make_dispatch("shop-0123abcd-7", std::move(address));
  }
  Outcome send(HttpEvidence evidence, Dispatch dispatch = message()) {
    bench.http.script = {std::move(evidence)};
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const HttpRequest& last() const { return bench.http.requests.back(); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
};

TEST_F(ChannelWebPush, PostsTheEncryptedMessage) {
  const Outcome outcome = send(answered(201, "", {{"location", "https://push.example.net/message/qDIYHNcfAIPP"}}));
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
  EXPECT_EQ(outcome.reference, "https://push.example.net/message/qDIYHNcfAIPP");
  EXPECT_EQ(last().url, "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV");
  EXPECT_FALSE(last().allow_private) << "the endpoint comes from a user";
  EXPECT_EQ(header(last(), "TTL"), "86400");
  EXPECT_EQ(header(last(), "Content-Encoding"), "aes128gcm");
  EXPECT_EQ(header(last(), "Content-Type"), "application/octet-stream");
  EXPECT_EQ(header(last(), "Urgency"), "normal");
  EXPECT_EQ(header(last(), "Topic").size(), 32U);
  const auto text = test::open_push(last().body, bytes(kBrowserPrivate), bytes(kAuth));
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(Json::parse(*text), (Json{{"message_id", "shop-0123abcd-7"},
                                      {"title", "Paid"},
                                      {"body", "Your order 42 is paid."},
                                      {"data", {{"order", 42}}}}));
}

TEST_F(ChannelWebPush, TheVapidTokenIsForTheEndpointsOrigin) {
  send(answered(201));
  const std::string value = header(last(), "Authorization");
  const std::string public_key = to_base64url(PrivateKey::from_pem(test::kEcKey)->public_point());
  ASSERT_TRUE(value.starts_with("vapid t="));
  ASSERT_TRUE(value.ends_with(", k=" + public_key));
  const std::string token = value.substr(8, value.find(", k=") - 8);
  const std::size_t dot = token.rfind('.');
  EXPECT_EQ(bytes(token.substr(0, token.find('.'))), R"({"typ":"JWT","alg":"ES256"})");
  const Json claims = Json::parse(bytes(token.substr(token.find('.') + 1, dot - token.find('.') - 1)));
  EXPECT_EQ(claims["aud"], "https://push.example.net");
  EXPECT_EQ(claims["sub"], "mailto:push@example.com");
  EXPECT_LE(claims["exp"].get<std::int64_t>(), test::kSomeTime.ms / 1000 + 24 * 3600);
  EXPECT_TRUE(test::verify_es256(bytes(public_key), token.substr(0, dot), bytes(token.substr(dot + 1))));

  send(answered(201), message(subscription("https://push.example.net/push/another")));
  EXPECT_EQ(header(last(), "Authorization"), value) << "one token an origin";
  send(answered(201), message(subscription("https://other.example.net:8443/x")));
  EXPECT_NE(header(last(), "Authorization"), value);
  bench.loop.advance(11h);
  send(answered(201));
  EXPECT_EQ(header(last(), "Authorization"), value);
  bench.loop.advance(2h);
  send(answered(201));
  EXPECT_NE(header(last(), "Authorization"), value) << "renewed long before it ends";
}

TEST_F(ChannelWebPush, KeyAndSaltAreNewForEveryAttemptTheTopicIsNot) {
  send(answered(500));
  const std::string body = last().body;
  const std::string topic = header(last(), "Topic");
  send(answered(201));
  EXPECT_NE(last().body.substr(0, 16), body.substr(0, 16));
  EXPECT_NE(last().body.substr(21, 65), body.substr(21, 65));
  EXPECT_EQ(header(last(), "Topic"), topic);
}

TEST_F(ChannelWebPush, SettingsAndExpiryShapeTheHeaders) {
  WebPushDriverConfig driver = settings();
  driver.ttl = Duration{0};
  driver.urgency = "high";
  driver.allow_private = true;
  driver.key = secret_from_file("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI");  // the same key in base64url
  make(driver);
  send(answered(201));
  EXPECT_EQ(header(last(), "TTL"), "0");
  EXPECT_EQ(header(last(), "Urgency"), "high");
  EXPECT_TRUE(last().allow_private);
  EXPECT_THAT(header(last(), "Authorization"),
              HasSubstr(to_base64url(PrivateKey::from_pem(test::kEcKey)->public_point())));
  Dispatch dispatch = message();
  dispatch.envelope.expires = test::kSomeTime + 90s;
  send(answered(201), dispatch);
  EXPECT_EQ(header(last(), "TTL"), "90");
}

TEST_F(ChannelWebPush, WhatIsNoSubscriptionIsRefusedBeforeTheClaim) {
  EXPECT_TRUE(channel->check(message()).has_value());
  std::string off_the_curve = bytes(kBrowserPublic);
  off_the_curve[64] = static_cast<char>(off_the_curve[64] ^ 1);
  const std::string wrong[] = {
      "https://push.example.net/x",
      "[]",
      "{}",
      R"({"endpoint":"https://push.example.net/x"})",
      R"({"endpoint":"https://push.example.net/x","keys":7})",
      subscription("http://push.example.net/x"),
      subscription("https://user@push.example.net/x"),
      subscription("https:///x"),
      subscription("file:///etc/passwd"),
      subscription("https://push.example.net/x", "AAAA"),
      subscription("https://push.example.net/x", to_base64url(off_the_curve)),
      subscription("https://push.example.net/x", kBrowserPublic, "AAAA"),
      subscription("https://push.example.net/x", kBrowserPublic, ""),
  };
  for (const std::string& address : wrong) {
    const Result<void> checked = channel->check(message(address));
    ASSERT_FALSE(checked.has_value()) << address;
    EXPECT_EQ(checked.error().field, "to") << address;
  }
}

TEST_F(ChannelWebPush, OnlyAllowedServicesArePostedTo) {
  WebPushDriverConfig driver = settings();
  driver.allow_hosts = {"fcm.googleapis.com", "*.push.services.mozilla.com"};
  make(driver);
  EXPECT_TRUE(channel->check(message(subscription("https://fcm.googleapis.com/fcm/send/x"))).has_value());
  EXPECT_TRUE(channel->check(message(subscription("https://updates.push.services.mozilla.com/x"))).has_value());
  EXPECT_FALSE(channel->check(message(subscription("https://fcm.googleapis.com.evil.test/x"))).has_value());
  EXPECT_FALSE(channel->check(message()).has_value());
}

TEST_F(ChannelWebPush, TooLongATextIsRefusedBeforeTheClaim) {
  Dispatch dispatch = message();
  const std::size_t frame = webpush_payload(dispatch).size() - dispatch.content.body.size();
  dispatch.content.body = std::string(kLongestPush - frame, 'x');
  EXPECT_TRUE(channel->check(dispatch).has_value());
  dispatch.content.body += 'x';
  EXPECT_FALSE(channel->check(dispatch).has_value());
}

struct Case {
  int status;
  bool retry_after;
  OutcomeClass cls;
  bool disables = false;
};

class WebPushStatuses : public ChannelWebPush, public testing::WithParamInterface<Case> {};

TEST_P(WebPushStatuses, EveryStatusHasItsMeaning) {
  const Case& c = GetParam();
  HttpEvidence evidence = answered(c.status);
  if (c.retry_after) evidence.headers.emplace_back("retry-after", "30");
  const Outcome outcome = send(evidence);
  EXPECT_EQ(outcome.cls, c.cls);
  EXPECT_EQ(outcome.disable_endpoint, c.disables);
  EXPECT_FALSE(outcome.halt_channel) << "the recipient is the endpoint";
  EXPECT_FALSE(outcome.lane_wide);
  EXPECT_EQ(outcome.retry_after.has_value(), c.retry_after);
}

constexpr auto kSent = OutcomeClass::kSent;
constexpr auto kPermanent = OutcomeClass::kPermanent;
constexpr auto kNotSent = OutcomeClass::kNotSent;
constexpr auto kUnknown = OutcomeClass::kUnknown;

INSTANTIATE_TEST_SUITE_P(
    Table, WebPushStatuses,
    testing::Values(Case{200, false, kSent}, Case{201, false, kSent}, Case{202, false, kSent}, Case{204, false, kSent},
                    Case{301, false, kPermanent}, Case{307, false, kPermanent}, Case{308, false, kPermanent},
                    Case{400, false, kPermanent}, Case{401, false, kNotSent}, Case{403, false, kNotSent},
                    Case{404, false, kPermanent, true}, Case{406, false, kPermanent},
                    Case{410, false, kPermanent, true}, Case{413, false, kPermanent}, Case{429, true, kNotSent},
                    Case{429, false, kNotSent}, Case{500, false, kUnknown}, Case{502, false, kUnknown},
                    Case{503, true, kNotSent}, Case{503, false, kUnknown}, Case{504, false, kUnknown}));

TEST_F(ChannelWebPush, WindowsSaysSlowerWith406) {
  EXPECT_EQ(send(answered(406), message(subscription("https://wns2-by3p.notify.windows.com/w/?token=x"))).cls,
            kNotSent);
}

TEST_F(ChannelWebPush, ARefusedKeyIsTheSubscriptionsFaultWhereItWasAcceptedBefore) {
  const Outcome doubt = send(answered(403));
  EXPECT_EQ(doubt.cls, kNotSent);
  EXPECT_FALSE(doubt.disable_endpoint);
  send(answered(201));
  const Outcome certain = send(answered(403));
  EXPECT_EQ(certain.cls, kPermanent);
  EXPECT_TRUE(certain.disable_endpoint) << "this one was made for another key";
  EXPECT_FALSE(send(answered(403), message(subscription("https://other.example.net/x"))).disable_endpoint);
}

TEST_F(ChannelWebPush, AKeyThatEverybodyRefusesHaltsTheLane) {
  for (int i = 1; i < 5; ++i) EXPECT_FALSE(send(answered(401)).halt_channel) << i;
  EXPECT_TRUE(send(answered(401)).halt_channel);
}

TEST_F(ChannelWebPush, AnEndpointThatLeadsInsideIsRefused) {
  HttpEvidence evidence = connection_refused();
  evidence.address_blocked = true;
  const Outcome outcome = send(evidence);
  EXPECT_EQ(outcome.cls, kPermanent);
  EXPECT_EQ(outcome.reason, "address-blocked");
}

TEST_F(ChannelWebPush, AnotherServersTroublesAreNotTheLanes) {
  const Outcome refused = send(connection_refused());
  EXPECT_EQ(refused.cls, kNotSent);
  EXPECT_FALSE(refused.connect_refused);
  EXPECT_EQ(send(no_answer()).cls, kUnknown);
}

TEST_F(ChannelWebPush, F57_NothingOfTheSubscriptionComesBack) {
  send(answered(201));
  const std::string echo = last().url + " " + header(last(), "Authorization") + " " + subscription();
  for (const int status : {400, 403, 410, 500}) {
    const std::string text = send(answered(status, echo)).detail;
    for (const char* secret : {"JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", "BTBZMqHH6r4Tts7J_aSIgg", "eyJ"})
      EXPECT_THAT(text, Not(HasSubstr(secret))) << status;
  }
  EXPECT_THAT(channel->preview(message()), Not(HasSubstr("JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV")));
  EXPECT_THAT(channel->preview(message()), HasSubstr("https://push.example.net/***"));
}

TEST(WebPushOrigin, IsSchemeHostAndForeignPort) {
  EXPECT_EQ(origin_of("https://Push.Example.net/a/b?c"), "https://push.example.net");
  EXPECT_EQ(origin_of("https://push.example.net:443/a"), "https://push.example.net");
  EXPECT_EQ(origin_of("https://push.example.net:8443/a"), "https://push.example.net:8443");
  EXPECT_EQ(origin_of("https://[2001:db8::1]:8443/a"), "https://[2001:db8::1]:8443");
}

TEST_F(ChannelWebPush, AKeyThatIsNoneIsAConfigurationError) {
  for (const char* key : {"", "SECRET!", "AAAA", test::kRsaKey, test::kP384Key}) {
    WebPushDriverConfig driver = settings();
    driver.key = secret_from_file(key);
    const auto made = make_channel(make_config(driver), bench.ports);
    ASSERT_FALSE(made.has_value()) << key;
    EXPECT_EQ(made.error().code, Code::kConfig);
    EXPECT_THAT(made.error().message, HasSubstr("key: "));
  }
}

}  // namespace
}  // namespace notify

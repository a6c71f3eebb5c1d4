// What SES reports later: its events bare, from EventBridge, and in SNS's signed envelope.

#include "core/ses_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/crypto.hpp"
#include "core/keys.hpp"
#include "support/test_keys.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTopic = "arn:aws:sns:ap-northeast-2:123456789012:mail";

Json event(const std::string& type, Json more = Json::object()) {
  Json made{{"eventType", type},
            {"mail", {{"messageId", "SES-1"}, {"tags", {{"notifyctl-message-id", Json::array({"shop-0123abcd-7"})}}}}}};
  made.update(more);
  return made;
}

// As SNS wraps and signs it, SignatureVersion 2 (SHA256withRSA).
Json envelope(const std::string& message, const std::string& topic = kTopic) {
  Json made{{"Type", "Notification"},
            {"MessageId", "sns-1"},
            {"TopicArn", topic},
            {"Message", message},
            {"Timestamp", "2026-11-29T13:26:09.000Z"},
            {"SignatureVersion", "2"},
            {"SigningCertURL", "https://sns.ap-northeast-2.amazonaws.com/SimpleNotificationService-x.pem"}};
  const std::string text = "Message\n" + message +
                           "\nMessageId\nsns-1\nTimestamp\n2026-11-29T13:26:09.000Z\nTopicArn\n" + topic +
                           "\nType\nNotification\n";
  made["Signature"] = to_base64(PrivateKey::from_pem(test::kRsaKey).value().sign(text));
  return made;
}

SnsProof proof() { return {kTopic, test::kRsaCertificate}; }

struct Row {
  Json body{};
  std::optional<ReceiptVerdict> verdict{};
  bool disable = false;
  std::string reason{};
};

TEST(SesEvents, EachEventMeansWhatIsDocumented) {
  constexpr auto kAccepted = ReceiptVerdict::kAccepted;
  constexpr auto kRefused = ReceiptVerdict::kRefused;
  const auto bounce = [](const char* type, const char* subtype) {
    return event("Bounce", {{"bounce",
                             {{"bounceType", type},
                              {"bounceSubType", subtype},
                              {"bouncedRecipients", Json::array({{{"emailAddress", "a@example.com"}}})}}}});
  };
  const auto complaint = [](Json more) { return event("Complaint", {{"complaint", std::move(more)}}); };
  const Row rows[] = {
      {event("Send"), kAccepted},
      {event("Delivery"), kAccepted},
      {bounce("Permanent", "NoEmail"), kRefused, true, "NoEmail"},
      {bounce("Permanent", "OnAccountSuppressionList"), kRefused, true, "OnAccountSuppressionList"},
      {bounce("Undetermined", "Undetermined"), kRefused, false, "Undetermined"},
      {bounce("Transient", "General"), std::nullopt},
      {complaint({{"complaintFeedbackType", "abuse"}}), kAccepted, true, "abuse"},
      {complaint(Json::object()), kAccepted, true, ""},
      {complaint({{"complaintFeedbackType", "not-spam"}}), kAccepted, false, "not-spam"},
      {complaint({{"complaintSubType", "OnAccountSuppressionList"}}), kRefused, true, "OnAccountSuppressionList"},
      {event("Reject", {{"reject", {{"reason", "Bad content"}}}}), kRefused, false, "Bad content"},
      {event("Rendering Failure", {{"failure", {{"errorMessage", "m"}}}}), kRefused, false, "m"},
      {event("DeliveryDelay"), std::nullopt},
      {event("Open"), std::nullopt},
  };
  for (const Row& row : rows) {
    const Json from_event_bridge{{"source", "aws.ses"}, {"detail-type", "x"}, {"detail", row.body}};
    for (const Json& body : {row.body, from_event_bridge, envelope(row.body.dump())}) {
      SCOPED_TRACE(body.dump());
      const auto read = read_ses_events(body.dump(), {});
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_TRUE(read->bad.empty());
      ASSERT_EQ(read->receipts.size(), row.verdict ? 1U : 0U);
      if (!row.verdict) continue;
      const Receipt& receipt = read->receipts.front();
      EXPECT_EQ(receipt.message_id, "shop-0123abcd-7");
      EXPECT_EQ(receipt.reference, "SES-1");
      EXPECT_EQ(receipt.verdict, *row.verdict);
      EXPECT_EQ(receipt.disable_endpoint, row.disable);
      EXPECT_FALSE(receipt.halt_channel);
      EXPECT_EQ(receipt.reason, row.reason);
    }
  }
}

// The notifications of an identity, which know no tags.
TEST(SesEvents, AMessageIsAlsoKnownByItsReference) {
  const Json body{
      {"notificationType", "Bounce"}, {"bounce", {{"bounceType", "Permanent"}}}, {"mail", {{"messageId", "SES-1"}}}};
  const auto read = read_ses_events(body.dump(), {});
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->receipts.size(), 1U);
  EXPECT_EQ(read->receipts.front().message_id, "");
  EXPECT_EQ(read->receipts.front().reference, "SES-1");
  EXPECT_TRUE(read->receipts.front().disable_endpoint);
}

TEST(SesEvents, WhatSnsHasSignedForOurTopicIsBelieved) {
  const Json genuine = envelope(event("Delivery").dump());
  const auto read = read_ses_events(genuine.dump(), proof());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->receipts.size(), 1U);

  const auto refused = [](const Json& body, const char* why) {
    const auto nothing = read_ses_events(body.dump(), proof());
    ASSERT_FALSE(nothing.has_value()) << body.dump();
    EXPECT_EQ(nothing.error().code, Code::kPermission);
    EXPECT_THAT(nothing.error().message, HasSubstr(why));
  };
  for (const auto& [name, value] : {std::pair{"Message", event("Bounce").dump()},
                                    {"Timestamp", std::string("later")},
                                    {"Subject", std::string("added")},
                                    {"Type", std::string("UnsubscribeConfirmation")},
                                    {"SignatureVersion", std::string("1")},
                                    {"Signature", std::string("AAAA")}}) {
    Json forged = genuine;
    forged[name] = value;
    refused(forged, "signature is wrong");
  }
  refused(event("Delivery"), "not in an envelope");
  refused(envelope(event("Delivery").dump(), "arn:aws:sns:ap-northeast-2:666666666666:mail"), "another SNS topic");
}

TEST(SesEvents, SignatureVersion1IsSha1) {
  const std::string signed_by_openssl = test::kSnsVersion1;
  const auto read = read_ses_events(signed_by_openssl, proof());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->receipts.size(), 1U);
}

TEST(SesEvents, WhatIsNoEventIsSaid) {
  const Json ask{
      {"Type", "SubscriptionConfirmation"}, {"TopicArn", kTopic}, {"SubscribeURL", "https://sns.test/?Token=1"}};
  const auto asked = read_ses_events(ask.dump(), {});
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().code, Code::kBadInput);
  EXPECT_THAT(asked.error().hint, HasSubstr("https://sns.test/?Token=1"));
  const auto greeting = read_ses_events(envelope("Successfully validated SNS topic").dump(), proof());
  ASSERT_TRUE(greeting.has_value());
  EXPECT_EQ(greeting->ignored, 1U);
  for (const char* body : {"", "x", "{"}) EXPECT_FALSE(read_ses_events(body, {}).has_value()) << body;
  for (const char* body : {"{}", "[]", "7"}) EXPECT_EQ(read_ses_events(body, {})->bad.size(), 1U) << body;
  EXPECT_EQ(read_ses_events(envelope(event("Delivery").dump()).dump(), {kTopic, "nonsense"}).error().code,
            Code::kConfig);
}

}  // namespace
}  // namespace notify

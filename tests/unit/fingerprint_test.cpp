#include "core/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/crypto.hpp"
#include "core/enqueue.hpp"
#include "core/payload.hpp"
#include "support/fakes.hpp"

namespace notify {
namespace {

Payload everything() {
  return {
      .subject = "s", .body = "b", .html = "h", .alt = "a", .data = "{}", .template_name = "t", .vars = {{"n", "v"}}};
}

// Stored fingerprints outlive releases: when this fails, old rows would be in conflict with their own reruns.
TEST(Fingerprint, IsTheSameInEveryRelease) {
  EXPECT_EQ(to_hex(fingerprint("sms", "+8210", "KIND", "transactional", everything())),
            "4f14cacb0876433ed304dc7e4c35c4bd7a9737f4345301fd43058c6105c07f76");
}

TEST(Fingerprint, EveryFieldCounts) {
  std::set<std::string> all;
  const Payload payload = everything();
  all.insert(fingerprint("sms", "+8210", "KIND", "transactional", payload));
  all.insert(fingerprint("mail", "+8210", "KIND", "transactional", payload));
  all.insert(fingerprint("sms", "+8211", "KIND", "transactional", payload));
  all.insert(fingerprint("sms", "+8210", "kind", "transactional", payload));
  all.insert(fingerprint("sms", "+8210", "KIND", "advertising", payload));
  for (std::string Payload::*part :
       {&Payload::subject, &Payload::body, &Payload::html, &Payload::alt, &Payload::data, &Payload::template_name}) {
    Payload changed = payload;
    changed.*part = "2";
    all.insert(fingerprint("sms", "+8210", "KIND", "transactional", changed));
  }
  for (const Variables& vars :
       {Variables{}, Variables{{"n", "w"}}, Variables{{"m", "v"}}, Variables{{"n", "v"}, {"o", ""}}}) {
    Payload changed = payload;
    changed.vars = vars;
    all.insert(fingerprint("sms", "+8210", "KIND", "transactional", changed));
  }
  EXPECT_EQ(all.size(), 15U);
}

TEST(Fingerprint, FieldsDoNotRunIntoEachOther) {
  EXPECT_NE(fingerprint("a", "bc", "", "", Payload{}), fingerprint("ab", "c", "", "", Payload{}));
  EXPECT_NE(fingerprint("a", "b", "", "", Payload{.subject = "x"}),
            fingerprint("a", "b", "", "", Payload{.body = "x"}));
  EXPECT_NE(fingerprint("a", "b", "", "", Payload{.vars = {{"xy", "z"}}}),
            fingerprint("a", "b", "", "", Payload{.vars = {{"x", "yz"}}}));
}

TEST(Fingerprint, LongAndShortFieldsAreAllHashed) {
  std::set<std::string> all;
  for (std::size_t size : {0U, 1U, 900U, 1000U, 1023U, 1024U, 1025U, 5000U})
    all.insert(fingerprint("a", "b", "", "", Payload{.subject = "s", .body = std::string(size, 'x'), .alt = "z"}));
  EXPECT_EQ(all.size(), 8U);
}

TEST(Fingerprint, AnApplicationsRowAgreesWithEnqueue) {
  EnqueueFields fields;
  fields.channel = "mail";
  fields.to = "a@example.com";
  fields.key = "k";
  fields.kind = "KIND";
  fields.subject = "Paid";
  fields.body = "Thank you — 감사합니다";
  fields.data = R"({"b":[1,2],"a":"é"})";
  const auto message = make_message(fields, {.now = test::kSomeTime});
  ASSERT_TRUE(message) << message.error().message;
  const auto row =
      fingerprint("mail", "a@example.com", "KIND", "transactional",
                  R"({ "data": {"a":"\u00e9", "b":[1,2]}, "body":"Thank you \u2014 감사합니다", "html":"",)"
                  R"( "subject":"Paid" })");
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(*row, message->fingerprint);
  EXPECT_EQ(message->fingerprint.size(), 32U);
}

TEST(Fingerprint, FailsForWhatIsNoPayload) { EXPECT_FALSE(fingerprint("a", "b", "", "", R"({"bodi":"x"})")); }

TEST(Fingerprint, TimesAndPriorityAreNoContent) {
  EnqueueFields fields;
  fields.channel = "mail";
  fields.to = "a@example.com";
  fields.key = "k";
  fields.body = "b";
  const auto first = make_message(fields, {.now = test::kSomeTime});
  fields.not_before = "+2h";
  fields.expires = "+3h";
  fields.priority = "9";
  fields.correlation = "c";
  const auto second = make_message(fields, {.now = test::kSomeTime + 1h});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->fingerprint, second->fingerprint);
}

}  // namespace
}  // namespace notify

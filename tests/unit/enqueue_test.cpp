#include "core/enqueue.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/payload.hpp"
#include "support/fakes.hpp"

namespace notify {
namespace {

using namespace std::string_literals;
using Member = std::optional<std::string_view> EnqueueFields::*;

EnqueueFields good() {
  EnqueueFields fields;
  fields.channel = "mail";
  fields.to = "a@example.com";
  fields.body = "text";
  return fields;
}

Result<NewMessage> make(const EnqueueFields& fields) { return make_message(fields, {.now = test::kSomeTime}); }

EnqueueFields with(Member member, std::string_view value) {
  EnqueueFields fields = good();
  fields.*member = value;
  return fields;
}

// The field that the error names, or "(taken)".
std::string refused_field(const EnqueueFields& fields) {
  const auto message = make(fields);
  if (message) return "(taken)";
  EXPECT_EQ(message.error().code, Code::kBadInput);
  EXPECT_FALSE(message.error().message.empty());
  EXPECT_EQ(message.error().message.find('\n'), std::string::npos);
  return message.error().field;
}

TEST(Enqueue, DefaultsOfAMessage) {
  const auto message = make(good());
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->category, "transactional");
  EXPECT_EQ(message->priority, 5);
  EXPECT_EQ(message->dedup_key, "");
  EXPECT_EQ(message->fingerprint, "") << "without a key nothing is compared";
  EXPECT_EQ(message->payload, R"({"body":"text"})");
  EXPECT_FALSE(message->not_before || message->expires);
}

TEST(Enqueue, TakesEveryField) {
  EnqueueFields fields = good();
  fields.key = "k:1";
  fields.kind = "KIND";
  fields.category = "advertising";
  fields.subject = "s";
  fields.html = "<p>h</p>";
  fields.alt = "a";
  fields.data = " {\"b\":2, \"a\":1} ";
  fields.not_before = "+1h";
  fields.expires = "2h";
  fields.priority = "9";
  fields.correlation = "req-1";
  const auto message = make(fields);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->payload, R"({"subject":"s","body":"text","html":"<p>h</p>","alt":"a","data":{"a":1,"b":2}})");
  EXPECT_EQ(message->category, "advertising");
  EXPECT_EQ(message->not_before, test::kSomeTime + 1h);
  EXPECT_EQ(message->expires, test::kSomeTime + 2h);
  EXPECT_EQ(message->priority, 9);
  EXPECT_EQ(message->correlation, "req-1");
  EXPECT_EQ(message->fingerprint.size(), 32U);
}

TEST(Enqueue, AReusedMessageKeepsNothingOfTheOneBefore) {
  EnqueueFields first = good();
  first.key = "k";
  first.kind = "KIND";
  first.category = "advertising";
  first.subject = "s";
  first.data = "1";
  first.expires = "2h";
  first.not_before = "1h";
  first.priority = "1";
  first.correlation = "c";
  NewMessage message;
  ASSERT_TRUE(make_message(message, first, {.now = test::kSomeTime}));
  ASSERT_TRUE(make_message(message, good(), {.now = test::kSomeTime}));
  const auto fresh = make(good());
  EXPECT_EQ(message.payload, fresh->payload);
  EXPECT_EQ(message.dedup_key + message.kind + message.fingerprint + message.correlation, "");
  EXPECT_EQ(message.category, "transactional");
  EXPECT_EQ(message.priority, 5);
  EXPECT_FALSE(message.expires || message.not_before);
}

TEST(Enqueue, NamesWhatIsMissing) {
  EnqueueFields fields = good();
  fields.channel.reset();
  EXPECT_EQ(refused_field(fields), "channel");
  fields = good();
  fields.to.reset();
  EXPECT_EQ(refused_field(fields), "to");
  fields = good();
  fields.body.reset();
  EXPECT_EQ(refused_field(fields), "body");
  EXPECT_EQ(refused_field(with(&EnqueueFields::body, "")), "body");
  fields.alt = "instead of nothing";
  EXPECT_EQ(refused_field(fields), "body");
  fields.data = "{}";
  EXPECT_EQ(refused_field(fields), "(taken)");
}

TEST(Enqueue, AnEmptyKeyIsAForgottenVariable) { EXPECT_EQ(refused_field(with(&EnqueueFields::key, "")), "key"); }

TEST(Enqueue, ChannelNames) {
  for (const char* name : {"sms", "a", "9", "push-2", "a_b.c"})
    EXPECT_EQ(refused_field(with(&EnqueueFields::channel, name)), "(taken)") << name;
  for (const std::string& name : {""s, "Mail"s, "-a"s, "_a"s, "a b"s, "a/b"s, "a\n"s, "é"s, std::string(65, 'a')})
    EXPECT_EQ(refused_field(with(&EnqueueFields::channel, name)), "channel") << name;
}

TEST(Enqueue, AnUnknownChannelIsRefusedWhereChannelsAreConfigured) {
  const std::vector<std::string> channels{"mail", "sms"};
  EnqueueContext context{.now = test::kSomeTime};
  context.channels = channels;
  EXPECT_TRUE(make_message(good(), context));
  const auto message = make_message(with(&EnqueueFields::channel, "maill"), context);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().field, "channel");
  EXPECT_EQ(message.error().hint, "did you mean \"mail\"?");
}

TEST(Enqueue, F46_NoControlCharacterInNamesAndAddresses) {
  const std::vector<std::string> attacks{"x\r\nBcc: e@evil.test",
                                         "x\n",
                                         "x\r",
                                         "x\u0085",
                                         "x\u2028",
                                         "x\u2029",
                                         "x\0"s,
                                         "\0x"s,
                                         "a\tb",
                                         "\x7f",
                                         "a\x1b[2J",
                                         "\"a@x.test>\r\nRCPT TO:<e@evil.test\""};
  for (const std::string& attack : attacks) {
    EXPECT_EQ(refused_field(with(&EnqueueFields::to, attack)), "to");
    EXPECT_EQ(refused_field(with(&EnqueueFields::key, attack)), "key");
    EXPECT_EQ(refused_field(with(&EnqueueFields::kind, attack)), "kind");
    EXPECT_EQ(refused_field(with(&EnqueueFields::correlation, attack)), "correlation");
    EXPECT_EQ(refused_field(with(&EnqueueFields::channel, attack)), "channel");
    const bool tab = attack == "a\tb";
    EXPECT_EQ(refused_field(with(&EnqueueFields::subject, attack)), tab ? "(taken)" : "subject");
  }
  EXPECT_EQ(refused_field(with(&EnqueueFields::to, "김철수 <a@example.com> é ±")), "(taken)");
}

TEST(Enqueue, F46_ASubjectWithALineEndSaysSo) {
  const auto message = make(with(&EnqueueFields::subject, "Paid\n"));
  ASSERT_FALSE(message);
  EXPECT_NE(message.error().message.find("more than one line"), std::string::npos);
  EXPECT_FALSE(message.error().hint.empty());
}

TEST(Enqueue, LengthsAreBounded) {
  struct Row {
    Member member;
    std::size_t longest;
    const char* name;
  };
  for (const Row& row :
       {Row{&EnqueueFields::to, limits::kRecipient, "to"}, Row{&EnqueueFields::key, limits::kDedupKey, "key"},
        Row{&EnqueueFields::kind, limits::kKind, "kind"},
        Row{&EnqueueFields::correlation, limits::kCorrelation, "correlation"},
        Row{&EnqueueFields::subject, limits::kSubject, "subject"}}) {
    EXPECT_EQ(refused_field(with(row.member, std::string(row.longest, 'x'))), "(taken)") << row.name;
    EXPECT_EQ(refused_field(with(row.member, std::string(row.longest + 1, 'x'))), row.name);
  }
  EXPECT_EQ(refused_field(with(&EnqueueFields::body, std::string(limits::kPayload, 'x'))), "body");
}

TEST(Enqueue, F59_InvalidUtf8IsRefusedInEveryField) {
  struct Row {
    Member member;
    const char* name;
  };
  for (const Row& row :
       {Row{&EnqueueFields::to, "to"}, Row{&EnqueueFields::key, "key"}, Row{&EnqueueFields::kind, "kind"},
        Row{&EnqueueFields::subject, "subject"}, Row{&EnqueueFields::body, "body"}, Row{&EnqueueFields::html, "html"},
        Row{&EnqueueFields::alt, "alt"}, Row{&EnqueueFields::data, "data"},
        Row{&EnqueueFields::template_name, "template"}, Row{&EnqueueFields::correlation, "correlation"},
        Row{&EnqueueFields::category, "category"}, Row{&EnqueueFields::priority, "priority"},
        Row{&EnqueueFields::expires, "expires"}, Row{&EnqueueFields::channel, "channel"}}) {
    for (const std::string& bytes : {"\xff"s, "\xc3"s, "\xed\xa0\x80"s, "\xf0\x9f\x98"s, "\xc0\xaf"s})
      EXPECT_EQ(refused_field(with(row.member, "\"ab" + bytes + "\"")), row.name) << row.name;
  }
  EnqueueFields fields = good();
  fields.vars = {{"n", "\xff"}};
  EXPECT_EQ(refused_field(fields), "vars.n");
  const auto message = make(with(&EnqueueFields::body, "ab\xff"));
  EXPECT_NE(message.error().message.find("byte 3"), std::string::npos) << message.error().message;
}

TEST(Enqueue, TextWithNulIsRefused) {
  EXPECT_EQ(refused_field(with(&EnqueueFields::body, "a\0b"s)), "body");
  EXPECT_EQ(refused_field(with(&EnqueueFields::html, "a\0b"s)), "html");
}

TEST(Enqueue, CategoryPriorityAndData) {
  EXPECT_EQ(refused_field(with(&EnqueueFields::category, "advertisement")), "category");
  EXPECT_EQ(refused_field(with(&EnqueueFields::category, "")), "category");
  for (const char* text : {"", "10", "-1", "5.0", "high", " 5", "0x5"})
    EXPECT_EQ(refused_field(with(&EnqueueFields::priority, text)), "priority") << text;
  for (const char* text : {"", "{", "{\"a\":1,\"a\":2}", "1 2"})
    EXPECT_EQ(refused_field(with(&EnqueueFields::data, text)), "data") << text;
}

TEST(Enqueue, F50_ExpiryHasToBeAfterNowAndAfterTheTimeItMayGo) {
  EXPECT_EQ(refused_field(with(&EnqueueFields::expires, "now")), "expires");
  EXPECT_EQ(refused_field(with(&EnqueueFields::expires, "-1s")), "expires");
  EXPECT_EQ(refused_field(with(&EnqueueFields::expires, "1ms")), "(taken)");
  EnqueueFields fields = with(&EnqueueFields::expires, "+1h");
  fields.not_before = "+1h";
  EXPECT_EQ(refused_field(fields), "expires");
  fields.not_before = "+2h";
  EXPECT_EQ(refused_field(fields), "expires");
  fields.not_before = "+59m";
  EXPECT_EQ(refused_field(fields), "(taken)");
}

TEST(Enqueue, TimesAreReadAndBounded) {
  EXPECT_EQ(refused_field(with(&EnqueueFields::not_before, "soon")), "not_before");
  EXPECT_EQ(refused_field(with(&EnqueueFields::not_before, "2026-12-01 08:00")), "not_before")
      << "no zone is configured";
  EXPECT_EQ(refused_field(with(&EnqueueFields::not_before, "@1796000")), "not_before");
  EXPECT_EQ(refused_field(with(&EnqueueFields::expires, "9999-01-01T00:00:00Z")), "expires");
}

// --- templates

TemplateSet templates() {
  TemplateSet set;
  set.templates["hello"] = {{.subject = "Hi {{name}}", .body = "Dear {{name}}"}};
  return set;
}

TEST(Enqueue, ATemplateIsStoredByNameWithItsVariables) {
  const TemplateSet set = templates();
  EnqueueFields fields = good();
  fields.body.reset();
  fields.template_name = "hello";
  fields.vars = {{"unused", "1"}, {"name", "Kim"}};
  const auto message = make_message(fields, {.now = test::kSomeTime, .templates = &set});
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->payload, R"({"template":"hello","vars":{"name":"Kim","unused":"1"}})");
}

TEST(Enqueue, F48_ATemplateHasToRenderNow) {
  const TemplateSet set = templates();
  const EnqueueContext context{.now = test::kSomeTime, .templates = &set};
  EnqueueFields fields = good();
  fields.body.reset();
  fields.template_name = "hello";
  auto message = make_message(fields, context);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().field, "vars.name");
  fields.template_name = "helo";
  message = make_message(fields, context);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().field, "template");
  EXPECT_EQ(message.error().hint, "did you mean \"hello\"?");
  fields.template_name = "hello";
  EXPECT_EQ(refused_field(fields), "template") << "none are configured";
}

TEST(Enqueue, EitherATemplateOrParts) {
  const TemplateSet set = templates();
  EnqueueFields fields = good();
  fields.template_name = "hello";
  fields.vars = {{"name", "Kim"}};
  const auto message = make_message(fields, {.now = test::kSomeTime, .templates = &set});
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().field, "body");

  fields = good();
  fields.vars = {{"name", "Kim"}};
  EXPECT_EQ(refused_field(fields), "vars");
  fields.vars = {{"na me", "Kim"}};
  EXPECT_EQ(refused_field(fields), "vars");
  fields.vars = {{"n", "1"}, {"n", "2"}};
  EXPECT_EQ(refused_field(fields), "vars.n");
}

TEST(Enqueue, F46_AVariableCannotAddALineToTheSubject) {
  const TemplateSet set = templates();
  EnqueueFields fields = good();
  fields.body.reset();
  fields.template_name = "hello";
  fields.vars = {{"name", "x\r\nBcc: e@evil.test"}};
  const auto message = make_message(fields, {.now = test::kSomeTime, .templates = &set});
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().field, "subject");
}

}  // namespace
}  // namespace notify

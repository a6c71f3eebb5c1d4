#include "core/template.hpp"

#include <gtest/gtest.h>

#include <string>

namespace notify {
namespace {

using namespace std::string_literals;

TemplateSet one(TemplateVariant variant) {
  TemplateSet set;
  set.templates["t"].push_back(std::move(variant));
  return set;
}

Result<Payload> fill(const TemplateVariant& variant, const Variables& vars) {
  return render(one(variant), Payload{.template_name = "t", .vars = vars}, "mail", "en");
}

std::string body(std::string_view text, const Variables& vars) {
  const auto payload = fill({.body = std::string(text)}, vars);
  return payload ? payload->body : "error in " + payload.error().field + ": " + payload.error().message;
}

TEST(Template, PutsValuesIn) {
  const Variables vars{{"name", "Kim"}, {"a.b-c_9", "x"}};
  EXPECT_EQ(body("Dear {{name}}, {{ name }}{{\tname\t}}!", vars), "Dear Kim, KimKim!");
  EXPECT_EQ(body("{{a.b-c_9}}", vars), "x");
  EXPECT_EQ(body("", vars), "");
  EXPECT_EQ(body("no placeholders { } }} {", vars), "no placeholders { } }} {");
}

TEST(Template, LiteralBraces) {
  const Variables vars{{"x", "1"}};
  EXPECT_EQ(body("{{{{x}}", vars), "{{x}}");
  EXPECT_EQ(body("{{{{ {{x}} }}", vars), "{{ 1 }}");
  EXPECT_EQ(body("{\"a\":{{x}}}", vars), "{\"a\":1}");
}

TEST(Template, Defaults) {
  EXPECT_EQ(body("Dear {{name:-customer}}", {}), "Dear customer");
  EXPECT_EQ(body("Dear {{name:-}}!", {}), "Dear !");
  EXPECT_EQ(body("Dear {{name :- dear customer }}!", {}), "Dear dear customer!");
  EXPECT_EQ(body("Dear {{name:-customer}}", {{"name", "Kim"}}), "Dear Kim");
  EXPECT_EQ(body("Dear {{name:-customer}}", {{"name", ""}}), "Dear ") << "an empty value is a value";
}

TEST(Template, F48_ValuesAreNeverRenderedAgain) {
  EXPECT_EQ(body("{{a}}", {{"a", "{{b}}"}, {"b", "no"}}), "{{b}}");
  EXPECT_EQ(body("{{a}}{{b}}", {{"a", "{"}, {"b", "{x}}"}}), "{{x}}");
  EXPECT_EQ(body("{{a}}", {{"a", "{{{{"}}), "{{{{");
}

TEST(Template, F48_AMissingVariableIsNamedWithItsPart) {
  const auto payload = fill({.subject = "s", .body = "Dear {{name}}"}, {{"Name", "Kim"}});
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().code, Code::kBadInput);
  EXPECT_EQ(payload.error().field, "vars.name");
  EXPECT_EQ(payload.error().message, "template \"t\", body: the variable \"name\" is missing");
}

TEST(Template, F48_EscapingFollowsThePart) {
  const std::string value = "line1\nline2 \"q\" \\ \a </script> {{x}} & 'a'";
  const auto payload = fill({.body = "{{v}}", .html = "<p>{{v}}</p>"}, {{"v", value}});
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->body, value);
  EXPECT_EQ(payload->html, "<p>line1\nline2 &quot;q&quot; \\ \a &lt;/script&gt; {{x}} &amp; &#39;a&#39;</p>");
}

TEST(Template, F48_FiltersForJsonAndUrl) {
  const Variables vars{{"msg", "line1\nline2 \"q\" \\ \a </script> {{x}}"}};
  EXPECT_EQ(body(R"({"text":"{{msg|json}}"})", vars), R"({"text":"line1\nline2 \"q\" \\ \u0007 </script> {{x}}"})");
  EXPECT_EQ(body("https://x.test/?q={{ v | url }}", {{"v", "a b&c=d/é~"}}),
            "https://x.test/?q=a%20b%26c%3Dd%2F%C3%A9~");
  EXPECT_EQ(body("{{v|url:-a b}}", {}), "a%20b");
  const auto html = fill({.html = "{{v|json}}"}, {{"v", "\"<"}});
  ASSERT_TRUE(html);
  EXPECT_EQ(html->html, "\\&quot;&lt;");
}

TEST(Template, F46_SubjectIsOneLine) {
  EXPECT_EQ(fill({.subject = "Paid\n", .body = "b"}, {})->subject, "Paid") << "the end of the file's last line";
  EXPECT_EQ(fill({.subject = "Paid\r\n", .body = "b"}, {})->subject, "Paid");
  for (const std::string& value : {"x\r\nBcc: e@evil.test"s, "x\n"s, "x\r"s, "x\u0085"s, "x\u2028"s, "x\0"s}) {
    const auto payload = fill({.subject = "{{v}}", .body = "b"}, {{"v", value}});
    ASSERT_FALSE(payload);
    EXPECT_EQ(payload.error().field, "subject");
  }
  EXPECT_FALSE(fill({.subject = "two\nlines", .body = "b"}, {}));
  const auto plain = render({}, Payload{.subject = "x\ny"}, "mail", "en");
  ASSERT_FALSE(plain) << "a payload of its own is checked as well";
  EXPECT_EQ(plain.error().field, "subject");
}

TEST(Template, UnknownTemplateHasAHint) {
  const auto payload = render(one({.body = "b"}), Payload{.template_name = "tt"}, "mail", "en");
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().field, "template");
}

TEST(Template, WithoutATemplateThePayloadIsItself) {
  const Payload payload{.subject = "s {{x}}", .body = "{{x}}", .data = "{}"};
  EXPECT_EQ(render({}, payload, "mail", "en").value(), payload);
}

TEST(Template, KeepsDataAndLosesTheTemplate) {
  const auto payload =
      render(one({.body = "{{x}}"}), Payload{.data = "[1]", .template_name = "t", .vars = {{"x", "1"}}}, "m", "en");
  ASSERT_TRUE(payload);
  EXPECT_EQ(*payload, (Payload{.body = "1", .data = "[1]"}));
}

TEST(Template, AnOperatorsPartWins) {
  const Payload patched{.body = "mended", .template_name = "t"};
  const auto payload = render(one({.subject = "s", .body = "{{missing}}"}), patched, "mail", "en");
  ASSERT_TRUE(payload) << "the part that is replaced is not rendered";
  EXPECT_EQ(payload->body, "mended");
  EXPECT_EQ(payload->subject, "s");
}

TEST(Template, RecipientsVariablesComeSecond) {
  const auto set = one({.body = "{{a}} {{b}}"});
  const auto payload = render(set, Payload{.template_name = "t", .vars = {{"a", "mine"}}}, "mail", "en",
                              {{"a", "theirs"}, {"b", "theirs"}});
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->body, "mine theirs");
}

TEST(Template, OutputIsBounded) {
  const std::string big(limits::kPayload / 2, 'x');
  EXPECT_TRUE(fill({.body = "{{v}}{{v}}"}, {{"v", big}}));
  EXPECT_FALSE(fill({.body = "{{v}}{{v}}."}, {{"v", big}}));
  EXPECT_FALSE(fill({.body = "{{v}}", .html = "{{v}}", .alt = "{{v}}"}, {{"v", big}}));
}

// --- which wording

TemplateSet worded() {
  TemplateSet set;
  set.templates["t"] = {{.body = "default"},
                        {.locale = "ko", .body = "ko"},
                        {.locale = "zh", .body = "zh"},
                        {.locale = "zh-Hant", .body = "zh-Hant"},
                        {.channel = "sms", .body = "sms"},
                        {.channel = "sms", .locale = "ko", .body = "sms ko"}};
  return set;
}

std::string chosen(std::string_view channel, std::string_view locale) {
  const auto payload = render(worded(), Payload{.template_name = "t"}, channel, locale);
  return payload ? payload->body : payload.error().message;
}

TEST(Template, ChoosesTheNearestWording) {
  EXPECT_EQ(chosen("sms", "ko"), "sms ko");
  EXPECT_EQ(chosen("sms", "ko-KR"), "sms ko");
  EXPECT_EQ(chosen("sms", "en"), "sms") << "the channel counts more than the locale";
  EXPECT_EQ(chosen("sms", "zh"), "sms");
  EXPECT_EQ(chosen("mail", "ko"), "ko");
  EXPECT_EQ(chosen("mail", "ko_KR"), "ko");
  EXPECT_EQ(chosen("mail", "kok"), "default") << "kok is another language";
  EXPECT_EQ(chosen("mail", "zh-Hant-TW"), "zh-Hant");
  EXPECT_EQ(chosen("mail", "zh-Hans"), "zh");
  EXPECT_EQ(chosen("mail", ""), "default");
}

TEST(Template, TheVariableLocaleDecides) {
  const Payload payload{.template_name = "t", .vars = {{"locale", "ko"}}};
  EXPECT_EQ(render(worded(), payload, "mail", "en")->body, "ko");
  EXPECT_EQ(render(worded(), Payload{.template_name = "t"}, "mail", "en", {{"locale", "ko-KR"}})->body, "ko");
}

TEST(Template, NoWordingForTheChannelIsAnError) {
  TemplateSet set = one({.channel = "sms", .body = "b"});
  const auto payload = render(set, Payload{.template_name = "t"}, "mail", "en");
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().field, "template");
}

TEST(Template, PartsOfDifferentWordingsAreNotMixed) {
  TemplateSet set;
  set.templates["t"] = {{.subject = "s", .body = "b"}, {.channel = "sms", .body = "short"}};
  EXPECT_EQ(render(set, Payload{.template_name = "t"}, "sms", "en")->subject, "");
}

// --- the configuration's check

std::string check(const std::vector<TemplateVariant>& variants) {
  const auto checked = check_template("t", variants);
  return checked ? "fine" : checked.error().field;
}

TEST(Template, CheckFindsWhatCannotBeRendered) {
  EXPECT_EQ(check({{.subject = "s {{x}}\n", .body = "{{x}} {{{{"}}), "fine");
  for (const char* text :
       {"{{", "{{x", "{{x}", "{{}}", "{{ }}", "{{a b}}", "{{x|upper}}", "{{x|}}", "{{{x}}}", "{{é}}", "{{x\n}}"})
    EXPECT_EQ(check({{.body = "b"}, {.channel = "sms", .html = text}}), "html") << text;
  EXPECT_EQ(check({{.subject = "two\nlines", .body = "b"}}), "subject");
  EXPECT_EQ(check({}), "body");
  EXPECT_EQ(check({{.locale = "ko"}}), "body");
  EXPECT_EQ(check({{.body = ""}}), "body");
  EXPECT_EQ(check({{.body = "a"}, {.body = "b"}}), "body");
}

}  // namespace
}  // namespace notify

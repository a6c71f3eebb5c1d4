// Recipes beside their vendors: what values can and cannot do, what filters make of them, what is no recipe.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/recipe_answer.hpp"
#include "core/recipe_filter.hpp"
#include "core/recipe_request.hpp"
#include "core/recipe_token.hpp"
#include "support/channel_support.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr const char* kAnswer = "\n[[answer]]\nstatus = 200\noutcome = \"sent\"\n";

std::shared_ptr<const Recipe> recipe_of(const std::string& text) {
  auto recipe = parse_recipe("summary = \"s\"\n" + text, "test.toml");
  EXPECT_TRUE(recipe.has_value()) << recipe.error().message;
  return recipe ? *recipe : nullptr;
}

HttpRequest request_of(const Recipe& recipe, const Dispatch& dispatch, const RecipeSettings& settings = {}) {
  RecipeInput input{recipe, settings};
  input.message = &dispatch;
  input.now = test::kSomeTime;
  input.nonce = "n";
  auto call = make_call(recipe.request, recipe.auth, recipe.signature, input, HttpRequest{});
  EXPECT_TRUE(call.has_value()) << call.error().message;
  return call ? call->request : HttpRequest{};
}

Result<RecipeCall> call_of(const std::string& request, const Dispatch& dispatch) {
  const auto recipe = recipe_of("[request]\nurl = \"https://x.test/a\"\n" + request + kAnswer);
  const RecipeSettings settings;
  RecipeInput input{*recipe, settings};
  input.message = &dispatch;
  return make_call(recipe->request, recipe->auth, recipe->signature, input, HttpRequest{});
}

// --- no value leaves its place

TEST(Recipe, NoValueLeavesItsPlace) {
  const std::string hostile = "\"}],\"admin\":true,{{to}}&to=x?#/../\\\x01\xea\xb0\x80%0d%0a";
  Dispatch dispatch = test::make_dispatch("shop-0123abcd-7", "a/b?c=d#e&f");
  dispatch.content.body = hostile;
  const auto recipe = recipe_of(R"(
[request]
url = "https://x.test/to/{{to}}/end"
query = { q = "{{body}}" }
json = { text = "{{body}}", list = ["{{body}}"], fixed = "a{{{{b" }
)" + std::string(kAnswer));
  const HttpRequest request = request_of(*recipe, dispatch);
  const Json body = Json::parse(request.body);
  EXPECT_EQ(body, (Json{{"text", hostile}, {"list", {hostile}}, {"fixed", "a{{b"}}));
  EXPECT_TRUE(request.url.starts_with("https://x.test/to/a%2Fb%3Fc%3Dd%23e%26f/end?q=%22%7D%5D%2C")) << request.url;
  EXPECT_EQ(request.url.find_first_of("\"{}\\ #\x01"), std::string::npos);

  const auto form = call_of("form = { a = \"{{body}}\", b = \"2\" }", dispatch);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(std::count(form->request.body.begin(), form->request.body.end(), '&'), 1);
  EXPECT_THAT(form->request.body, testing::EndsWith("&b=2"));
}

TEST(Recipe, AHeaderTakesVisibleAsciiOnly) {
  Dispatch dispatch = test::make_dispatch();
  for (const char* bad : {"a\r\nX-Admin: 1", "a\nb", "\xea\xb0\x80", "\x7f"}) {
    dispatch.content.subject = bad;
    EXPECT_FALSE(call_of("headers = { X-Subject = \"{{subject}}\" }", dispatch).has_value()) << bad;
  }
  dispatch.content.subject = "fine";
  EXPECT_TRUE(call_of("headers = { X-Subject = \"{{subject}}\" }", dispatch).has_value());
}

TEST(Recipe, AUrlCannotBeMadeAnotherPath) {
  const auto recipe = recipe_of("[request]\nurl = \"https://x.test/{{to}}/send\"\n" + std::string(kAnswer));
  for (const char* bad : {"..", ".", ""}) {
    Dispatch dispatch = test::make_dispatch("shop-0123abcd-7", bad);
    const RecipeSettings settings;
    RecipeInput input{*recipe, settings};
    input.message = &dispatch;
    EXPECT_FALSE(url_of(recipe->request.url, input).has_value()) << bad;
  }
}

// --- members

TEST(Recipe, MembersAreLeftOutByTheirMarks) {
  Dispatch dispatch = test::make_dispatch();
  dispatch.content.data = R"({"flag":false,"id":12345678901234567890,"list":[1,{"a":null}],"name":"n"})";
  const auto body = [&](const std::string& json) {
    auto call = call_of("json = " + json, dispatch);
    return call ? call->request.body : call.error().message;
  };
  EXPECT_EQ(body(R"({ "a?" = "{{html}}", "b?" = "{{data.none}}", "c?" = { "d?" = "{{html}}" }, e = "x" })"),
            R"({"e":"x"})");
  EXPECT_EQ(
      body(R"({ "a?category = transactional" = 1, "b?category != transactional" = 1, "c?!html & subject" = true })"),
      R"({"a":1,"c":true})");
  EXPECT_EQ(
      body(
          R"({ f = "{{data.flag|json}}", i = "{{data.id|json}}", l = "{{data.list|json}}", n = "{{data.name|json}}" })"),
      R"({"f":false,"i":12345678901234567890,"l":[1,{"a":null}],"n":"n"})");
  EXPECT_EQ(body(R"({ t = "{{data.flag}} {{data.list.0}} {{data.name}}" })"), R"({"t":"false 1 n"})");
  EXPECT_EQ(body(R"({ l = [{ "?" = "html", h = "{{html}}" }, { "?" = "body", b = 1 }] })"), R"({"l":[{"b":1}]})");
  EXPECT_EQ(body(R"({ d = "{{data.none:-default}}", o = "{{html|or:kind}}" })"), R"({"d":"default","o":"order-paid"})");
  EXPECT_THAT(body(R"({ a = "{{data.none}}" })"), HasSubstr("data.none"));
  EXPECT_THAT(body(R"({ a = "{{data.list}}" })"), HasSubstr("data.list"));
  EXPECT_THAT(body(R"({ a = "{{data.name|number}}" })"), HasSubstr("not a whole number"));
}

// --- filters

std::string filter(const std::string& filters, const std::string& value) {
  Dispatch dispatch = test::make_dispatch();
  dispatch.content.body = value;
  const auto text = parse_recipe_text("{{body|" + filters + "}}", recipe_roots::kSend);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  static const Recipe recipe{};
  const RecipeSettings settings;
  RecipeInput input{recipe, settings};
  input.message = &dispatch;
  const auto result = text_of(*text, input);
  return result ? *result : "error";
}

TEST(Recipe, FiltersChangeTheirValue) {
  const struct {
    const char* filters;
    const char* value;
    const char* result;
  } kRows[] = {
      {"digits", "+82 (10) 12-34", "82101234"},
      {"korean", "+82 10-1234-5678", "01012345678"},
      {"korean", "+82010-1234-5678", "01012345678"},
      {"korean", "0082 10 1234 5678", "01012345678"},
      {"korean", "00182-10-1234-5678", "01012345678"},
      {"korean", "82010-1234-5678", "01012345678"},
      {"korean", "010.1234.5678", "01012345678"},
      {"korean", "02-123-4567", "021234567"},
      {"korean", "15771577", "15771577"},
      {"korean", "+1 202 555 0100", "error"},
      {"korean", "nobody", "error"},
      {"e164", "010-1234-5678", "+821012345678"},
      {"e164", "+82 010 1234 5678", "+821012345678"},
      {"e164", "008210 1234 5678", "+821012345678"},
      {"e164", "+1 (202) 555-0100", "+12025550100"},
      {"e164", "12+34", "error"},
      {"no_plus", "+821", "821"},
      {"trim", " a b\n", "a b"},
      {"lower", "ABc\xc3\x84", "abc\xc3\x84"},
      {"upper", "aBc", "ABC"},
      {"lf", "a\r\nb\rc\n", "a\nb\nc\n"},
      {"compose", "\xe1\x84\x80\xe1\x85\xa1", "\xea\xb0\x80"},
      {"first:2", "\xea\xb0\x80\xf0\x9f\x98\x80x", "\xea\xb0\x80\xf0\x9f\x98\x80"},
      {"fit:3:CP949", "\xea\xb0\x80\xea\xb0\x80", "\xea\xb0\x80"},
      {"fit:3:UTF-16", "a\xf0\x9f\x98\x80x", "a\xf0\x9f\x98\x80"},
      {"fit:4:bytes", "\xea\xb0\x80\xea\xb0\x80", "\xea\xb0\x80"},
      {"hash:8", "abc", "ba7816bf"},
      {"short", "notification-outbox-0123abcd-42", "0123abcd-42"},
      {"html", "<a & \"b\">", "&lt;a &amp; &quot;b&quot;&gt;"},
      {"slack", "<a & \"b\">", "&lt;a &amp; \"b\"&gt;"},
      {"base64", "user:password", "dXNlcjpwYXNzd29yZA=="},
      {"minus:60", "100", "40"},
      {"minus:60", "x", "error"},
      {"plus:60", "100", "160"},
      {"plus:1", "9223372036854775807", "error"},
      {"minus:2", "-9223372036854775807", "error"},
      {"urlencode", "a:b %+/\xc3\xb6", "a%3Ab%20%25%2B%2F%C3%B6"},
      {"digits|first:3", "1-2-3-4", "123"},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(filter(row.filters, row.value), row.result) << row.filters << " " << row.value;
}

// --- answers

RecipeDocument document(const std::string& body) { return {body, {}}; }

TEST(Recipe, PointersAndValues) {
  const auto matches = [](const std::string& body, std::vector<std::string> pointer, std::vector<std::string> values) {
    RecipeMatch match;
    match.tests.push_back({{std::move(pointer), {}}, {std::move(values), {}}});
    return document(body).matches(match, 200);
  };
  EXPECT_TRUE(matches(R"({"a":{"b":1000}})", {"a", "b"}, {"1000"}));
  EXPECT_TRUE(matches(R"({"a":"1000"})", {"a"}, {"999", "1000"}));
  EXPECT_TRUE(matches(R"({"a":"Bad Request: chat NOT found"})", {"a"}, {"*chat not found*"}));
  EXPECT_TRUE(matches(R"({"a":4500})", {"a"}, {"4000..4999"}));
  EXPECT_FALSE(matches(R"({"a":5000})", {"a"}, {"4000..4999"}));
  EXPECT_FALSE(matches(R"({"a":null})", {"a"}, {"*"}));
  EXPECT_TRUE(matches(R"({"a":[]})", {"a"}, {"*"}));
  EXPECT_FALSE(matches(R"({})", {"a"}, {"*"}));
  EXPECT_TRUE(matches(R"([{"s":0},{"s":"0"}])", {"*", "s"}, {"0"}));
  EXPECT_FALSE(matches(R"([{"s":0},{"s":1}])", {"*", "s"}, {"0"}));
  EXPECT_FALSE(matches(R"([])", {"*", "s"}, {"0"}));
  EXPECT_FALSE(matches("[1,2", {"0"}, {"*"}));
  // Hostile: deep, long, patterns that would take for ever in a backtracking engine.
  EXPECT_FALSE(matches(std::string(60'000, '['), {"0"}, {"*"}));
  EXPECT_FALSE(matches("{\"a\":\"" + std::string(60'000, 'a') + "\"}", {"a"}, {"*a*a*a*a*a*a*a*b*"}));
}

TEST(Recipe, RegularExpressionsAreFoundAnywhere) {
  const auto matches = [](const std::string& body, const char* expression) {
    RecipeMatch match;
    match.tests.push_back({{{"a"}, {}}, {{}, {Pattern::parse(expression).value()}}});
    match.text.patterns.push_back(Pattern::parse("^\\{").value());
    return document(body).matches(match, 200);
  };
  EXPECT_TRUE(matches(R"({"a":"E4711: no such number"})", "^E4[0-9]{3}:"));
  EXPECT_FALSE(matches(R"({"a":"code E4711"})", "^E4[0-9]{3}:"));
  EXPECT_TRUE(matches(R"({"a":4500})", "^4..0$"));
  EXPECT_FALSE(matches(R"({"a":"Blocked"})", "blocked"));
  EXPECT_TRUE(matches(R"({"a":"Blocked"})", "(?i)blocked"));
  EXPECT_TRUE(matches(R"({"a":"번호 오류"})", "^번호.오류$"));
  EXPECT_FALSE(matches(R"({"a":{}})", ".*"));
  EXPECT_FALSE(matches(R"({})", ".*"));
  EXPECT_FALSE(matches("{\"a\":\"" + std::string(60'000, 'a') + "\"}", "^(a+)+$b"));
}

TEST(Recipe, AnAcceptanceWhoseBodyIsCutIsUnknown) {
  const auto recipe = recipe_of(
      "[request]\nurl = \"https://x.test/\"\n[[answer]]\nstatus = 200\njson = { \"/id\" = \"*\" }\n"
      "outcome = \"sent\"\n");
  HttpEvidence evidence = test::answered(200, R"({"id":1})");
  EXPECT_EQ(judge_answer(*recipe, evidence, {}, {}).outcome.cls, OutcomeClass::kSent);
  evidence.body_truncated = true;
  EXPECT_EQ(judge_answer(*recipe, evidence, {}, {}).outcome.cls, OutcomeClass::kUnknown);
  evidence.body = R"({"id":)";
  EXPECT_EQ(judge_answer(*recipe, evidence, {}, {}).outcome.reason, "answer-incomplete");
}

TEST(Recipe, TextsOfAnOutcomeHoldNothingPrivate) {
  const auto recipe =
      recipe_of("[request]\nurl = \"https://x.test/\"\n[evidence]\nreference = \"/r\"\ntext = \"/t\"\ncode = \"/c\"" +
                std::string(kAnswer));
  const std::vector<std::string> parts{"tok-secret", "01012345678"};
  const auto outcome =
      judge_answer(*recipe, test::answered(400, R"({"r":"tok-secret","t":"no 01012345678\n","c":"tok-secret"})"), {},
                   parts)
          .outcome;
  for (const std::string& text : {outcome.reference, outcome.detail, outcome.reason}) {
    EXPECT_THAT(text, testing::Not(HasSubstr("tok-secret")));
    EXPECT_THAT(text, testing::Not(HasSubstr("01012345678")));
  }
}

TEST(Recipe, TokensEndWhenTheVendorSays) {
  RecipeToken token;
  token.granted.statuses = {{200, 200}};
  token.value.pointer = {"t"};
  token.expires.pointer = {"e"};
  token.lifetime = 1h;
  const Instant now = test::kSomeTime;  // 2026-11-29T13:26:09Z, 22:26:09 in Korea
  const auto end = [&](RecipeToken::Expiry expiry, const std::string& body) -> std::int64_t {
    token.expiry = expiry;
    const auto granted = granted_token(token, test::answered(200, body), now);
    return granted ? (granted->expires - now).count() : -1;
  };
  using Expiry = RecipeToken::Expiry;
  EXPECT_EQ(end(Expiry::kNone, R"({"t":"x"})"), 3'600'000);
  EXPECT_EQ(end(Expiry::kSeconds, R"({"t":"x","e":60})"), 60'000);
  EXPECT_EQ(end(Expiry::kSeconds, R"({"t":"x"})"), 3'600'000);
  EXPECT_EQ(end(Expiry::kEpoch, R"({"t":"x","e":"1795958779"})"), 10'000);
  token.offset = 9h;
  EXPECT_EQ(end(Expiry::kCompact, R"({"t":"x","e":"20261129222619"})"), 10'000);
  EXPECT_EQ(end(Expiry::kCompact, R"({"t":"x","e":"20261129222609"})"), -1);
  EXPECT_EQ(end(Expiry::kSeconds, R"({"t":"x","e":0})"), -1);
  EXPECT_EQ(end(Expiry::kNone, R"({"t":"a b"})"), -1);
  EXPECT_EQ(end(Expiry::kNone, R"({"t":""})"), -1);
  EXPECT_EQ(end(Expiry::kNone, "<html>"), -1);
}

// --- what is no recipe

TEST(Recipe, WhatIsWrongIsToldWithItsPlace) {
  const std::string request = "[request]\nurl = \"https://x.test/\"\n";
  const struct {
    std::string text;
    const char* says;
  } kRows[] = {
      {request, "no rule says when a message was accepted"},
      {kAnswer, "request: is missing"},
      {request + "colour = 1\n" + kAnswer, "test.toml:4:10: request.colour: unknown key"},
      {"[request]\nurl = \"ftp://x.test/\"\n" + std::string(kAnswer), "must begin with https://"},
      {"[request]\nurl = \"https://{{to}}.test/\"\n" + std::string(kAnswer), "no placeholder can be part of the host"},
      {"[request]\nurl = \"{{to}}\"\n" + std::string(kAnswer), "must begin with https://"},
      {"[request]\nurl = \"https://x.test/{{bdy}}\"\n" + std::string(kAnswer), "there is no placeholder \"bdy\""},
      {"[request]\nurl = \"https://x.test/{{body\"\n" + std::string(kAnswer), "{{ without }}"},
      {"[request]\nurl = \"https://x.test/{{body|digit}}\"\n" + std::string(kAnswer), "no filter is called \"digit\""},
      {"[request]\nurl = \"https://x.test/{{body|first}}\"\n" + std::string(kAnswer), "needs a number"},
      {"[request]\nurl = \"https://x.test/{{now.week}}\"\n" + std::string(kAnswer),
       "there is no placeholder \"now.week\""},
      {"[request]\nurl = \"https://x.test/{{reference}}\"\n" + std::string(kAnswer), "has no value in this place"},
      {"[request]\nurl = \"https://x.test/{{token}}\"\n" + std::string(kAnswer), "has no value in this place"},
      {"[request]\nurl = \"https://x.test/{{settings.x}}\"\n" + std::string(kAnswer), "there is no setting \"x\""},
      {request + "text = \"{{data.x|json}}\"\n" + kAnswer, "alone in a text of `json`"},
      {request + "text = \"a\"\nform = { a = \"b\" }\n" + kAnswer, "a request has one body"},
      {request + "method = \"GET\"\ntext = \"a\"\n" + kAnswer, "a GET has no body"},
      {request + "headers = { Host = \"x\" }\n" + kAnswer, "Host is written by notifyctl itself"},
      {request + "headers = { \"a b\" = \"x\" }\n" + kAnswer, "is not a header's name"},
      {request + "[settings.a]\ntext = \"t\"\n" + kAnswer, "the setting \"a\" is used nowhere"},
      {request + "[settings.timeout]\ntext = \"t\"\n" + kAnswer, "every channel has a key of this name"},
      {request + "[idempotency]\nwindow = \"1m\"\n" + kAnswer, "the request carries no key"},
      {request + "[[answer]]\nstatus = 700\noutcome = \"sent\"\n", "is no status from 200 to 599"},
      {request + "[[answer]]\nstatus = 200\noutcome = \"done\"\n", "\"done\" is not one of"},
      {request + "[[answer]]\noutcome = \"sent\"\n", "an acceptance names its status"},
      {request + kAnswer + "[[answer]]\njson = { \"/a\" = \"/(x/\" }\noutcome = \"unknown\"\n",
       "test.toml:9:17: answer.json./a: is no regular expression: missing )"},
      {request + kAnswer + "[[answer]]\njson = { \"code\" = 1 }\noutcome = \"unknown\"\n", "is not a JSON pointer"},
      {request + kAnswer + "[[answer]]\njson = { \"/a~2\" = 1 }\noutcome = \"unknown\"\n", "is not a JSON pointer"},
      {request + kAnswer + "[[answer]]\nstatus = 200\noutcome = \"unknown\"\n",
       "test.toml:8:1: answer: is never reached"},
      {request + kAnswer + "[[answer]]\nstatus = 401\nrefresh_token = true\noutcome = \"not_sent\"\n",
       "has no [token]"},
      {request + kAnswer + "[[answer]]\nstatus = 400\ndisable_endpoint = true\noutcome = \"not_sent\"\n",
       "only with outcome"},
      {request + "[values]\na = [{ when = \"body\", value = \"x\" }]\n" + kAnswer, "the last choice has no condition"},
      {request + "[[check]]\nname = \"n\"\nvalue = \"{{body}}\"\n" + kAnswer, "looks at nothing"},
      {request + "[[check]]\nname = \"n\"\nvalue = \"{{body}}\"\nmax = 1\nwhen = \"body > x\"\n" + kAnswer,
       "is no condition"},
      {request + "[[check]]\nname = \"n\"\nvalue = \"{{body}}\"\nmax = 1\nunit = \"elements\"\n" + kAnswer,
       "elements are counted of a list"},
      {request + "[[check]]\nname = \"n\"\nvalue = \"{{data.x|json}}\"\nmax = 1\n" + kAnswer,
       "alone in a text of `json`"},
      {request + kAnswer + "[[answer]]\nstatus = 429\nlane_wide = false\noutcome = \"unknown\"\n",
       "only with outcome = \"not_sent\""},
      {request + "[look_up]\nlist = \"/x\"\n[look_up.request]\nurl = \"https://x.test/\"\nmethod = \"GET\"\n" + kAnswer,
       "needs find"},
      {request + "[receipt]\n" + kAnswer, "names its message by message_id or reference"},
      {request + kAnswer +
           "[receipt]\nreference = \"/a\"\n[[receipt.rule]]\noutcome = \"ignore\"\nhalt_channel = true\n",
       "halt_channel: means something only with outcome = \"accepted\" or \"refused\""},
      {request + kAnswer +
           "[receipt]\nreference = \"/a\"\n[[receipt.rule]]\noutcome = \"refused\"\n[[receipt.signature]]\n" +
           "value = \"/s\"\nexpected = \"x\"\n[[receipt.signature]]\nvalue = \"/t\"\nexpected = \"y\"\n",
       "receipt.signature: is never reached"},
      {request + kAnswer +
           "[receipt]\nreference = \"/a\"\n[[receipt.rule]]\noutcome = \"refused\"\n[receipt.signature]\n" +
           "value = \"/s\"\nalgorithm = \"ecdsa-p256-sha256\"\nkey = \"k\"\ntext = \"t\"\n",
       "encoding: must be base64"},
      {request + kAnswer +
           "[look_up]\n[look_up.request]\nmethod = \"GET\"\nurl = \"https://x.test/\"\n[[look_up.answer]]\n"
           "outcome = \"unknown\"\ndisable_endpoint = true\n",
       "disable_endpoint: means something only with"},
      {request + "headers = { Authorization = \"Bearer {{jwt}}\" }\n" + kAnswer, "has no value in this place"},
      {request + "headers = { A = \"{{jwt}}\" }\n[jwt]\nalgorithm = \"RS512\"\nkey = \"k\"\nclaims = {}\n" + kAnswer,
       "\"RS512\" is not one of \"HS256\", \"RS256\", \"ES256\""},
      {request +
           "headers = { A = \"{{jwt}}\" }\n[jwt]\nalgorithm = \"HS256\"\nkey = \"k\"\nclaims = {}\nheader = { alg = "
           "\"none\" }\n" +
           kAnswer,
       "jwt.header: alg is written by notifyctl itself"},
      {request + "[jwt]\nalgorithm = \"HS256\"\nkey = \"k\"\nclaims = { sub = \"{{to}}\" }\n" + kAnswer,
       "has no value in this place"},
      {request + "[jwt]\nalgorithm = \"HS256\"\nkey = \"k\"\nclaims = {}\n" + kAnswer, "{{jwt}} is mentioned nowhere"},
      {"not toml", "test.toml:2:"},
      {"[.a]", "test.toml:2:"},
      {"[#", "test.toml:2:"},
  };
  for (const auto& row : kRows) {
    std::vector<Error> problems;
    const auto recipe = parse_recipe("summary = \"s\"\n" + row.text, "test.toml", &problems);
    ASSERT_FALSE(recipe.has_value()) << row.text;
    std::string all;
    for (const Error& problem : problems) {
      EXPECT_TRUE(problem.message.starts_with("test.toml:")) << problem.message;
      all += problem.message + "\n";
    }
    EXPECT_THAT(all, HasSubstr(row.says)) << row.text;
  }
}

}  // namespace
}  // namespace notify

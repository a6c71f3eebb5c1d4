#include "core/payload.hpp"

#include <gtest/gtest.h>

#include <string>

namespace notify {
namespace {

using namespace std::string_literals;

Error refused(std::string_view json) {
  auto payload = parse_payload(json);
  EXPECT_FALSE(payload.has_value()) << json;
  return payload ? Error{} : payload.error();
}

TEST(Payload, ReadsEveryMember) {
  const auto payload = parse_payload(
      R"({"vars":{"n":5,"big":12345678901234567890123,"on":true,"name":"Kim"},"template":"t","alt":"a","html":"<p>",)"
      R"("body":"b\n\"q\"","subject":"s","data":{"z":1,"a":[true,null,1.0,"x"]}})");
  ASSERT_TRUE(payload) << payload.error().message;
  EXPECT_EQ(payload->subject, "s");
  EXPECT_EQ(payload->body, "b\n\"q\"");
  EXPECT_EQ(payload->html, "<p>");
  EXPECT_EQ(payload->alt, "a");
  EXPECT_EQ(payload->template_name, "t");
  EXPECT_EQ(payload->data, R"({"a":[true,null,1.0,"x"],"z":1})");
  const std::vector<std::pair<std::string, std::string>> vars{
      {"big", "12345678901234567890123"}, {"n", "5"}, {"name", "Kim"}, {"on", "true"}};
  EXPECT_EQ(payload->vars, vars);
}

TEST(Payload, IsWrittenInOneOrderWithoutEmptyMembers) {
  const auto payload = parse_payload(
      "{ \"vars\" : {\"b\":\"2\",\"a\":\"1\"}, \"template\":\"t\", \"data\":[1, 2], \"html\":\"\", "
      "\"body\":\"b\", \"subject\":\"s\" }");
  ASSERT_TRUE(payload);
  EXPECT_EQ(to_json(*payload), R"({"subject":"s","body":"b","data":[1,2],"template":"t","vars":{"a":"1","b":"2"}})");
  EXPECT_EQ(to_json(Payload{}), "{}");
}

TEST(Payload, ReadsBackWhatItWrites) {
  Payload payload;
  payload.subject = "성적 확정";
  for (int c = 1; c < 0x80; ++c) payload.body += static_cast<char>(c);
  payload.html = "12345678\"2345678\\2345678\x01";
  payload.data = R"({"":{"":[]}})";
  payload.vars = {{"a", "{{b}}"}, {"b", ""}};
  const auto again = parse_payload(to_json(payload));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, payload);
}

TEST(Payload, EscapesAsLittleAsItMay) {
  std::string out;
  append_json_string(out, "a\"b\\c/d\b\f\n\r\t\x01\x1f\x7f é\u2028");
  EXPECT_EQ(out, "\"a\\\"b\\\\c/d\\b\\f\\n\\r\\t\\u0001\\u001f\x7f é\u2028\"");
}

// Every position of a special byte relative to the words that are looked at together.
TEST(Payload, FindsWhatNeedsAnEscapeAtEveryPosition) {
  for (std::size_t length = 0; length < 20; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      std::string text(length, '\xe9');
      text[at] = '"';
      std::string expected = text;
      expected.insert(at, "\\");
      std::string out;
      append_json_string(out, text);
      EXPECT_EQ(out, "\"" + expected + "\"");
    }
  }
}

TEST(Payload, RefusesWhatIsNoPayload) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "\"x\"",
                           "5",
                           "null",
                           "{",
                           "{\"body\":\"x\"",
                           "{\"body\":\"x\"} x",
                           "{\"body\":\"x\"}{}",
                           "{\"body\" \"x\"}",
                           "{\"body\":\"x\",}",
                           "{,}",
                           "{body:\"x\"}",
                           "{'body':'x'}",
                           "{\"body\":\"a\":1}",
                           "{\"body\":\"b\":1},\"alt\":\"c\"}",
                           "{\"body\":\"x\"]",
                           "{\"data\":[1}",
                           "{\"data\":{\"a\":1]}}",
                           "{\"data\":01}",
                           "{\"data\":1.}",
                           "{\"data\":+1}",
                           "{\"data\":.5}",
                           "{\"data\":1e}",
                           "{\"data\":nul}",
                           "{\"data\":truex}",
                           "{\"data\":True}",
                           "{\"data\":NaN}",
                           "{\"data\":-}",
                           "{\"data\":[1,]}",
                           "{\"data\":[,1]}",
                           "{\"data\":[1 2]}",
                           "{\"data\":}",
                           "{\"data\":\"\\x\"}",
                           "{\"data\":\"\\u12g4\"}",
                           "{\"data\":\"\\ud800\"}",
                           "{\"data\":\"\\udc00\"}",
                           "{\"data\":\"\\ud800\\u0041\"}",
                           "{\"data\":\"a\tb\"}",
                           "{\"data\":\"a",
                           "\xef\xbb\xbf{}"}) {
    EXPECT_EQ(refused(text).code, Code::kBadInput) << text;
  }
}

TEST(Payload, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(refused(R"({"body":5})").field, "body");
  EXPECT_EQ(refused(R"({"body":null})").field, "body");
  EXPECT_EQ(refused(R"({"vars":[]})").field, "vars");
  EXPECT_EQ(refused(R"({"vars":{"a":null}})").field, "vars.a");
  EXPECT_EQ(refused(R"({"vars":{"a":[1]}})").field, "vars.a");
  EXPECT_EQ(refused(R"({"body":"a","body":"b"})").field, "body");
  EXPECT_EQ(refused(R"({"body":"a","b\u006fdy":"b"})").field, "body") << "an escaped name is the same name";
  EXPECT_EQ(refused(R"({"vars":{"a":1,"a":2}})").field, "vars");
  EXPECT_EQ(refused(R"({"data":{"x":{"a":1,"b":2,"a":3}}})").field, "data");
  EXPECT_EQ(refused(R"({"body":"a\u0000b"})").field, "body");
  const Error unknown = refused(R"({"bodi":"a"})");
  EXPECT_EQ(unknown.field, "bodi");
  EXPECT_EQ(unknown.hint, "did you mean \"body\"?");
}

TEST(Payload, SaysAtWhichByteTheFormIsWrong) {
  EXPECT_NE(refused("{\"body\":\"x\", \"alt\" \"y\"}").message.find("at byte 20"), std::string::npos);
  EXPECT_NE(refused("{\"data\": 01}").message.find("at byte 10"), std::string::npos);
}

TEST(Payload, F59_InvalidUtf8IsRefusedWithItsPosition) {
  for (const std::string& bytes : {"\xff"s, "\xc3"s, "\xed\xa0\x80"s, "\xf0\x9f\x98"s, "\xc0\xaf"s}) {
    const Error error = refused("{\"body\":\"ab" + bytes + "\"}");
    EXPECT_EQ(error.code, Code::kBadInput);
    EXPECT_NE(error.message.find("UTF-8 at byte 12"), std::string::npos) << error.message;
  }
}

TEST(Payload, DepthIsBounded) {
  const auto nested = [](std::size_t arrays) {
    return "{\"data\":" + std::string(arrays, '[') + std::string(arrays, ']') + "}";
  };
  EXPECT_TRUE(parse_payload(nested(63)));
  EXPECT_FALSE(parse_payload(nested(64)));
  EXPECT_FALSE(parse_payload(nested(100'000)));
  EXPECT_TRUE(canonical_json(std::string(63, '[') + std::string(63, ']')));
  EXPECT_FALSE(canonical_json(std::string(64, '[') + std::string(64, ']')));
}

TEST(Payload, SizeIsBounded) {
  const std::string longest = "{\"body\":\"" + std::string(limits::kPayload - 11, 'x') + "\"}";
  EXPECT_TRUE(parse_payload(longest));
  EXPECT_FALSE(parse_payload(longest + " "));
}

TEST(Payload, CanonicalDataIgnoresHowItWasWritten) {
  const char* canonical = R"({"a":{"x":"é/\n","y":[]},"b":1.50,"é":-0})";
  for (const char* text : {canonical, " { \"é\" : -0, \"b\":1.50 ,\"a\":{\"y\": [ ],\"x\":\"\\u00e9\\/\\u000a\"} } ",
                           R"({"\u00e9":-0,"a":{"y":[],"x":"é\/\n"},"\u0062":1.50})"}) {
    const auto result = canonical_json(text);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(*result, canonical);
  }
}

TEST(Payload, CanonicalJsonTakesAnyValue) {
  for (const char* text : {"5", "\"x\"", "null", "true", "[]", "{}", "[[],{}]", "-1.5e+10"})
    EXPECT_EQ(canonical_json(text).value_or("refused"), text);
  for (const char* text : {"", " ", "1,2", "1],[2", "1]", "[1", "1 2", "]", "x"})
    EXPECT_FALSE(canonical_json(text)) << text;
}

TEST(Payload, SortsNamesByTheirBytes) {
  EXPECT_EQ(canonical_json(R"({"b":1,"a\u0000":2,"a":3,"":4,"Z":5,"aa":6})").value_or(""),
            R"({"":4,"Z":5,"a":3,"a\u0000":2,"aa":6,"b":1})");
}

}  // namespace
}  // namespace notify

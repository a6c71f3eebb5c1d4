#include "core/jsonl.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace notify {
namespace {

using namespace std::string_literals;

struct Line {
  std::int64_t number;
  std::string text;
  bool too_long = false;
  bool unended = false;

  friend bool operator==(const Line&, const Line&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Line& line) {
    return out << line.number << ":" << line.text << (line.too_long ? " too long" : "")
               << (line.unended ? " unended" : "");
  }
};

std::vector<Line> split(std::string_view input, std::size_t chunk, std::size_t longest = kLongestLine) {
  std::vector<Line> lines;
  LineSplitter splitter(longest);
  const auto take = [&] {
    for (InputLine line; splitter.next(line);)
      lines.push_back({line.number, std::string(line.text), line.too_long, line.unended});
  };
  for (std::size_t at = 0; at < input.size(); at += chunk) {
    // A copy that dies after the call, so that a view kept too long shows under a sanitizer.
    const std::string piece(input.substr(at, chunk));
    splitter.push(piece);
    take();
  }
  splitter.finish();
  take();
  return lines;
}

// However the input comes in pieces, the lines are the same.
void expect_lines(std::string_view input, const std::vector<Line>& lines, std::size_t longest = kLongestLine) {
  for (std::size_t chunk = 1; chunk <= input.size() + 1; ++chunk)
    EXPECT_EQ(split(input, chunk, longest), lines) << chunk;
}

TEST(LineSplitter, F61_LinesOfAllKinds) {
  expect_lines("", {});
  expect_lines("a\nb\n", {{1, "a"}, {2, "b"}});
  expect_lines("a\r\nb\r\n", {{1, "a"}, {2, "b"}});
  expect_lines("a\nb", {{1, "a"}, {2, "b", false, true}});
  expect_lines("a\rb\n", {{1, "a\rb"}});
  expect_lines("\n \n\t\r\na\n\n", {{4, "a"}});
  expect_lines("a\n ", {{1, "a"}});
}

TEST(LineSplitter, F61_ByteOrderMarkIsNoPartOfALine) {
  expect_lines(
      "\xef\xbb\xbf"
      "a\nb\n",
      {{1, "a"}, {2, "b"}});
  expect_lines(
      "a\n\xef\xbb\xbf"
      "b\n",
      {{1, "a"}, {2, "b"}});
  expect_lines("\xef\xbb\xbf\n\xef\xbb\xbf", {});
  expect_lines("a\xef\xbb\xbf\n", {{1, "a\xef\xbb\xbf"}});
}

TEST(LineSplitter, F61_ALongLineIsCutAndSkippedToItsEnd) {
  expect_lines("1234\n12345\n123456789\nab\n", {{1, "1234"}, {2, "1234", true}, {3, "1234", true}, {4, "ab"}}, 4);
  expect_lines("12345", {{1, "1234", true, true}}, 4);
  expect_lines("1234\r\n", {{1, "1234", true}}, 4);
}

TEST(LineSplitter, MemoryStaysBounded) {
  LineSplitter splitter(1000);
  const std::string chunk(64 * 1024, 'x');
  InputLine line;
  for (int i = 0; i < 1600; ++i) {  // a line of 100 MB
    splitter.push(chunk);
    ASSERT_FALSE(splitter.next(line));
  }
  splitter.push("\nnext\n");
  ASSERT_TRUE(splitter.next(line));
  EXPECT_TRUE(line.too_long);
  EXPECT_EQ(line.text.size(), 1000U);
  ASSERT_TRUE(splitter.next(line));
  EXPECT_EQ(line.text, "next");
  EXPECT_EQ(line.number, 2);
}

TEST(WideEncoding, F61_IsRecognisedByItsFirstBytes) {
  EXPECT_EQ(wide_encoding("\xff\xfe{\0"s), "UTF-16");
  EXPECT_EQ(wide_encoding("\xfe\xff\0{"s), "UTF-16");
  EXPECT_EQ(wide_encoding("\xff\xfe"), "UTF-16");
  EXPECT_EQ(wide_encoding("{\0\"\0t\0"s), "UTF-16");
  EXPECT_EQ(wide_encoding("\0{\0\"\0t"s), "UTF-16");
  EXPECT_EQ(wide_encoding("\xff\xfe\0\0{\0\0\0"s), "UTF-32");
  EXPECT_EQ(wide_encoding("\0\0\0{"s), "UTF-32");
  EXPECT_EQ(wide_encoding("{\"to\":"), "");
  EXPECT_EQ(wide_encoding("{\0\0\"t"s), "");
  EXPECT_EQ(wide_encoding(""), "");
  EXPECT_EQ(wide_encoding("\xff"), "");
}

// --- one line

struct Read {
  LineReader reader{};
  EnqueueFields fields{};

  // "" or "field: message".
  std::string operator()(std::string_view line) {
    const auto result = reader.read(line, fields);
    if (result) return "";
    EXPECT_EQ(result.error().code, Code::kBadInput);
    return result.error().field + ": " + result.error().message;
  }
};

TEST(LineReader, ReadsEveryMember) {
  Read read;
  const std::string line =
      R"({"channel":"mail","to":"a@x.test","key":"k","kind":"K","category":"advertising","subject":"s","body":"b\n","html":"h",)"
      R"("alt":"a","data":{"b":1,"a":2},"template":"t","vars":{"y":2,"x":"1"},"not_before":"+1h","expires":"+2h","priority":9,)"
      R"("correlation":"c"})";
  ASSERT_EQ(read(line), "");
  const EnqueueFields& f = read.fields;
  EXPECT_EQ(f.channel, "mail");
  EXPECT_EQ(f.to, "a@x.test");
  EXPECT_EQ(f.key, "k");
  EXPECT_EQ(f.kind, "K");
  EXPECT_EQ(f.category, "advertising");
  EXPECT_EQ(f.subject, "s");
  EXPECT_EQ(f.body, "b\n");
  EXPECT_EQ(f.html, "h");
  EXPECT_EQ(f.alt, "a");
  EXPECT_EQ(f.data, R"({"a":2,"b":1})");
  EXPECT_EQ(f.template_name, "t");
  ASSERT_EQ(f.vars.size(), 2U);
  EXPECT_EQ(f.vars[0].first, "x");
  EXPECT_EQ(f.vars[1].second, "2");
  EXPECT_EQ(f.not_before, "+1h");
  EXPECT_EQ(f.expires, "+2h");
  EXPECT_EQ(f.priority, "9");
  EXPECT_EQ(f.correlation, "c");
}

TEST(LineReader, NothingStaysFromTheLineBefore) {
  Read read;
  ASSERT_EQ(read(R"({"key":"k","data":1,"vars":{"a":"b"},"priority":1})"), "");
  ASSERT_EQ(read(R"({"to":"x"})"), "");
  EXPECT_FALSE(read.fields.key || read.fields.data || read.fields.priority);
  EXPECT_TRUE(read.fields.vars.empty());
}

TEST(LineReader, EveryMemberMayAppearOnce) {
  Read read;
  for (const char* name : {"channel", "to", "key", "kind", "category", "subject", "body", "html", "alt", "template",
                           "not_before", "expires", "correlation"}) {
    const std::string member = "\"" + std::string(name) + "\":\"\"";
    EXPECT_EQ(read("{" + member + "}"), "");
    EXPECT_EQ(read("{" + member + "," + member + "}"), std::string(name) + ": the member appears twice");
  }
  EXPECT_EQ(read(R"({"data":1,"data":1})"), "data: the member appears twice");
  EXPECT_EQ(read(R"({"vars":{},"vars":{}})"), "vars: the member appears twice");
  EXPECT_EQ(read(R"({"priority":1,"priority":1})"), "priority: the member appears twice");
  EXPECT_EQ(read(R"({"to":"","t\u006f":""})"), "to: the member appears twice");
}

TEST(LineReader, NamesTheMemberThatIsWrong) {
  Read read;
  EXPECT_EQ(read(R"({"too":"x"})"), "too: no member is called \"too\"");
  EXPECT_EQ(read(R"({"To":"x"})"), "To: no member is called \"To\"");
  EXPECT_EQ(read(R"({"to":5})"), "to: must be a string, not a number");
  EXPECT_EQ(read(R"({"key":null})"), "key: must be a string, not null");
  EXPECT_EQ(read(R"({"priority":"5"})"), "priority: must be a number from 0 to 9");
  EXPECT_EQ(read(R"({"vars":{"a":null}})"), "vars.a: must be a string, number or boolean, not null");
}

TEST(LineReader, SaysWhereTheLineIsNoJson) {
  Read read;
  EXPECT_EQ(read(R"({"to":"a)"), ": not valid JSON at byte 1: a string is not closed");
  EXPECT_EQ(read(R"({"to":"a"}{"to":"b"})").substr(0, 30), ": not valid JSON at byte 11: s");
  EXPECT_EQ(read("{\"to\":\"a\0b\"}"s), "to: NUL byte at byte 9");
  EXPECT_EQ(read("{\"to\":\"a\"\0}"s), "to: NUL byte at byte 10");
  EXPECT_EQ(read("\0{\"to\":\"a\"}"s), ": NUL byte at byte 1");
  EXPECT_EQ(read("[]").substr(0, 17), ": not valid JSON ");
  EXPECT_EQ(read("hello").substr(0, 17), ": not valid JSON ");
}

TEST(LineReader, F59_InvalidUtf8IsRefusedWithItsPosition) {
  Read read;
  for (const std::string& bytes : {"\xff"s, "\xc3"s, "\xed\xa0\x80"s, "\xf0\x9f\x98"s, "\xc0\xaf"s})
    EXPECT_EQ(read("{\"to\":\"a" + bytes + "\"}"), "to: not valid UTF-8 at byte 9");
}

TEST(LineReader, F59_TheMemberThatHoldsInvalidUtf8IsNamed) {
  Read read;
  EXPECT_EQ(read("{\"to\":\"\\\\\",\"data\" : {\"to\":[\"\xff\"]}}"), "data: not valid UTF-8 at byte 29");
  EXPECT_EQ(read("{\"\xff\":\"a\"}"), ": not valid UTF-8 at byte 3");
  EXPECT_EQ(read("{\"nope\":\"\xff\"}"), ": not valid UTF-8 at byte 10") << "no member of ours";
}

TEST(LineReader, F61_ALoneCarriageReturnIsExplained) {
  LineReader reader;
  EnqueueFields fields;
  const auto result = reader.read("{\"to\":\"a\"}\r{\"to\":\"b\"}", fields);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().hint.find("carriage return"), std::string::npos);
}

TEST(LineReader, DepthIsBounded) {
  Read read;
  const auto nested = [](std::size_t arrays) {
    return "{\"data\":" + std::string(arrays, '[') + std::string(arrays, ']') + "}";
  };
  EXPECT_EQ(read(nested(63)), "");
  EXPECT_EQ(read(nested(64)), "data: nested deeper than 64 levels");
  EXPECT_EQ(read(nested(500'000)), "data: nested deeper than 64 levels");
}

}  // namespace
}  // namespace notify

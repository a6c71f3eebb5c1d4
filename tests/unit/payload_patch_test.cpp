#include "core/payload_patch.hpp"

#include <gtest/gtest.h>

namespace notify {
namespace {

MendedContent apply(const std::string& patch, std::vector<std::string> sets, const std::string& payload,
                    const std::string& original = {}) {
  const auto parsed = PayloadPatch::parse(patch, sets);
  EXPECT_TRUE(parsed) << parsed.error().message;
  auto mended = parsed->apply(payload, original, "a@example.com");
  EXPECT_TRUE(mended) << mended.error().message;
  return mended ? *mended : MendedContent{};
}

std::string refused(const std::string& patch, std::vector<std::string> sets = {},
                    const std::string& payload = R"({"body":"x"})") {
  const auto parsed = PayloadPatch::parse(patch, sets);
  if (!parsed) return parsed.error().field + ": " + parsed.error().message;
  const auto mended = parsed->apply(payload, {}, "a@example.com");
  return mended ? std::string() : mended.error().field + ": " + mended.error().message;
}

// The examples of RFC 7396, appendix A, in canonical form.
TEST(MergePatch, TheExamplesOfTheRfc) {
  const std::vector<std::array<std::string, 3>> examples{
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, result] : examples) EXPECT_EQ(*merge_json(target, patch), result) << patch;
}

TEST(PayloadPatch, ChangesWhatItNamesAndKeepsTheRestExactly) {
  const MendedContent mended =
      apply(R"({"body":"new","data":{"list":{"x":null},"n":7}})", {},
            R"({"subject":"s","body":"old","data":{"id":12345678901234567890.10,"list":{"x":1}}})");
  EXPECT_EQ(mended.payload, R"({"subject":"s","body":"new","data":{"id":12345678901234567890.10,"list":{},"n":7}})");
  EXPECT_TRUE(mended.changed);
  EXPECT_EQ(mended.recipient, "a@example.com");
}

TEST(PayloadPatch, SetsTexts) {
  EXPECT_EQ(apply("", {"body=a=b \"c\""}, R"({"body":"x"})").payload, R"({"body":"a=b \"c\""})");
  EXPECT_EQ(apply("", {"subject="}, R"({"subject":"s","body":"x"})").payload, R"({"body":"x"})");
  EXPECT_EQ(apply("", {R"(data={"b":1,"a":2})"}, R"({"body":"x"})").payload, R"({"body":"x","data":{"a":2,"b":1}})");
  EXPECT_EQ(apply("", {"vars.a=1", "vars.b="}, R"({"template":"t","vars":{"b":"2","c":"3"}})").payload,
            R"({"template":"t","vars":{"a":"1","c":"3"}})");
}

TEST(PayloadPatch, TheFirstOriginalStays) {
  const std::string first = R"({"body":"first"})";
  EXPECT_EQ(apply("", {"body=x"}, first).original, first);
  EXPECT_EQ(apply("", {"body=y"}, R"({"body":"x"})", first).original, first);
  const MendedContent moved = apply("", {"to=b@example.com"}, R"({"body":"x"})", first);
  EXPECT_EQ(moved.recipient, "b@example.com");
  EXPECT_EQ(moved.original, R"({"body":"first","to":"a@example.com"})");
  EXPECT_EQ(apply("", {"to=c@example.com"}, R"({"body":"x"})", R"({"body":"first","to":"z"})").original,
            R"({"body":"first","to":"z"})");
}

TEST(PayloadPatch, NothingChangedIsSaid) { EXPECT_FALSE(apply("", {"body=x"}, R"({"body":"x"})").changed); }

TEST(PayloadPatch, RefusesWhatEnqueueWouldRefuse) {
  EXPECT_NE(refused(R"({"bdy":"x"})"), "");
  EXPECT_NE(refused(R"({"body":1})"), "");
  EXPECT_NE(refused(R"({"body":null})"), "") << "it would say nothing";
  EXPECT_NE(refused(R"({"to":null})"), "");
  EXPECT_NE(refused(R"({"to":""})"), "");
  EXPECT_NE(refused(R"({"body":"a","body":"b"})"), "");
  EXPECT_NE(refused(R"(["body"])"), "");
  EXPECT_NE(refused(R"({"template":"t"})"), "") << "a template and a body";
  EXPECT_NE(refused(R"({"subject":"two\nlines"})"), "");
  EXPECT_NE(refused("", {"body"}), "");
  EXPECT_NE(refused("", {"vars.a b=1"}), "");
  EXPECT_NE(refused("", {"vars.a=1"}), "") << "variables need a template";
  EXPECT_NE(refused("", {"data={"}), "");
  EXPECT_NE(refused("", {"body=x"}, "not json"), "");
}

}  // namespace
}  // namespace notify

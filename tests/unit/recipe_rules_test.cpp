// What recipes ask of a message before it is claimed, and rules about answers that no built-in recipe tries in full.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/recipe_answer.hpp"
#include "core/recipe_checks.hpp"
#include "support/channel_support.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using testing::HasSubstr;

constexpr const char* kAccepts = "\n[[answer]]\nstatus = 200\noutcome = \"sent\"\n";

std::shared_ptr<const Recipe> rules_of(const std::string& text) {
  auto recipe = parse_recipe("summary = \"s\"\n" + text, "test.toml");
  EXPECT_TRUE(recipe.has_value()) << recipe.error().message;
  return recipe ? *recipe : nullptr;
}

TEST(RecipeRules, TimesAreMovedBeforeTheyAreWritten) {
  const Recipe recipe{};
  const RecipeSettings settings;
  const LookUpQuestion question{"shop-0123abcd-7", "", "to", test::kSomeTime};  // 2026-11-29T13:26:09Z
  RecipeInput input{recipe, settings};
  input.question = &question;
  input.now = test::kSomeTime + 1h;
  const auto written = [&](const std::string& inside) {
    const auto text = parse_recipe_text("{{" + inside + "}}", recipe_roots::kQuestion);
    EXPECT_TRUE(text.has_value()) << text.error().message;
    return text_of(*text, input).value_or("error");
  };
  EXPECT_EQ(written("called_at.kst|minus:60"), "2026-11-29 22:25");
  EXPECT_EQ(written("called_at.rfc3339|minus:10"), "2026-11-29T13:25:59.000Z");
  EXPECT_EQ(written("called_at.date|plus:86400|lower"), "2026-11-30");
  EXPECT_EQ(written("now.kst|plus:60|minus:3600"), "2026-11-29 22:27");
  EXPECT_EQ(written("called_at|minus:60"), "1795958709");
  EXPECT_EQ(written("called_at.ms|minus:60"), "1795958768940");
}

// --- checks

TEST(RecipeRules, ChecksTellWhatTheyMiss) {
  const auto said = [](const std::string& check, const std::string& body, const std::string& data = {}) {
    const auto recipe = rules_of("[[check]]\nname = \"the text\"\nvalue = \"{{body}}\"\n" + check +
                                 "\n[request]\nurl = \"https://x.test/\"\n" + kAccepts);
    const RecipeSettings settings;
    Dispatch dispatch = test::make_dispatch();
    dispatch.content.body = body;
    dispatch.content.data = data;
    RecipeInput input{*recipe, settings};
    input.message = &dispatch;
    const auto fit = check_message(*recipe, input);
    return fit ? std::string("fits") : fit.error().message;
  };
  for (const char* good : {"a@x.test", "a.b+c@x-y.test", "a@b", ""}) EXPECT_EQ(said("form = \"email\"", good), "fits");
  for (const char* bad :
       {"a@x.test,b@y.test", "a@x.test, b@y.test", "a@x.test;b@y.test", "a@x.test b@y.test", "A <a@x.test>",
        "<a@x.test>", "\"a,b\"@x.test", "a@x.test\r\nBcc: b@y.test", "nobody", "@x.test"})
    EXPECT_EQ(said("form = \"email\"", bad), "the text is not one bare mail address, name@example.com") << bad;

  EXPECT_EQ(said("begins = \"(광고)\"", "(광고)할인"), "fits");
  for (const char* bad : {" (광고)할인", "[광고]할인", "(광 고)할인", "할인 (광고)"})
    EXPECT_EQ(said("begins = \"(광고)\"", bad), "the text does not begin with (광고)") << bad;
  EXPECT_EQ(said("contains = \"b\"", "abc"), "fits");
  EXPECT_EQ(said("contains = [\"x\", \"c\"]", "abc"), "fits");
  EXPECT_EQ(said("contains = [\"x\", \"y\"]", "abc"), "the text does not hold x or y");

  const std::string elements =
      "[[check]]\nname = \"the list\"\nvalue = \"{{data.list|json}}\"\nmax = 2\nunit = \"elements\"";
  EXPECT_EQ(said("max = 9\n" + elements, "a"), "fits");
  EXPECT_EQ(said("max = 9\n" + elements, "a", R"({"list":[{"a":[1,2,3]},2]})"), "fits");
  EXPECT_EQ(said("max = 9\n" + elements, "a", R"({"list":[1,2,3]})"), "the list has 3 elements; the vendor takes 2");
  EXPECT_THAT(said("max = 9\n" + elements, "a", R"({"list":"x"})"), HasSubstr("a list"));
}

// --- answers

TEST(RecipeRules, ARuleSaysWhetherA429IsTheLanes) {
  const auto recipe = rules_of("[request]\nurl = \"https://x.test/\"" + std::string(kAccepts) +
                               "[[answer]]\njson = { \"/c\" = 1 }\noutcome = \"not_sent\"\nlane_wide = false\n"
                               "[[answer]]\njson = { \"/c\" = 2 }\noutcome = \"not_sent\"\n"
                               "[[answer]]\njson = { \"/c\" = 3 }\noutcome = \"not_sent\"\nlane_wide = true\n"
                               "[[answer]]\njson = { \"/c\" = 4 }\noutcome = \"unknown\"\n");
  const auto wide = [&](int status, int code) {
    const std::string body = "{\"c\":" + std::to_string(code) + "}";
    return judge_answer(*recipe, test::answered(status, body, {{"retry-after", "3"}}), {}, {}).outcome.lane_wide;
  };
  EXPECT_FALSE(wide(429, 1));
  EXPECT_TRUE(wide(429, 2));
  EXPECT_FALSE(wide(400, 2));
  EXPECT_TRUE(wide(400, 3));
  EXPECT_FALSE(wide(429, 4));
}

TEST(RecipeRules, OfAllThatIsOursTheFirstRuleDecides) {
  const auto recipe = rules_of(
      "[request]\nurl = \"https://x.test/\"" + std::string(kAccepts) +
      "[look_up]\nlist = \"/l\"\nfind = { \"/id\" = \"{{message_id}}\" }\n[look_up.request]\nmethod = \"GET\"\n"
      "url = \"https://x.test/\"\n[[look_up.answer]]\njson = { \"/e\" = \"bounced\" }\noutcome = \"refused\"\n"
      "[[look_up.answer]]\njson = { \"/e\" = \"taken\" }\noutcome = \"accepted\"\n");
  const LookUpQuestion question{"m", "", "to", test::kSomeTime};
  const RecipeSettings settings;
  RecipeInput input{*recipe, settings};
  input.question = &question;
  const auto kind = [&](const std::string& list) {
    return judge_look_up(*recipe->look_up, test::answered(200, "{\"l\":" + list + "}"), input, {}).kind;
  };
  using Kind = LookUpAnswer::Kind;
  EXPECT_EQ(kind(R"([{"id":"m","e":"delayed"},{"id":"m","e":"taken"}])"), Kind::kAccepted);
  EXPECT_EQ(kind(R"([{"id":"m","e":"taken"},{"id":"m","e":"bounced"}])"), Kind::kRefused);
  EXPECT_EQ(kind(R"([{"id":"n","e":"bounced"},{"id":"m","e":"taken"}])"), Kind::kAccepted);
  EXPECT_EQ(kind(R"([{"id":"m","e":"delayed"}])"), Kind::kUnknown);
  EXPECT_EQ(kind("[]"), Kind::kUnknown);
}

}  // namespace
}  // namespace notify

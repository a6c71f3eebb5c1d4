// Several messages in one request: what a recipe may say of it, the request, what its answer means for each message, and
// what the driver gathers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/recipe_batch.hpp"
#include "support/channel_support.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;
using test::answered;
using test::Bench;
using test::make_dispatch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTop = R"(summary = "s"
[request]
url = "https://x.test/one"
json = { to = "{{to}}", text = "{{body}}" }
[[answer]]
status = 200
json = { "/ok" = true }
outcome = "sent"
[[answer]]
status = 403
outcome = "permanent"
disable_endpoint = true
)";

constexpr const char* kBatch = R"([batch]
max = 5
each = "/messages"
together = ["{{subject}}"]
accepted = { status = 200, json = { "/ok" = true } }
result = ["/good", "/bad"]
find = { "/ours" = "{{message_id}}" }
reference = "/request"
[batch.request]
url = "https://x.test/many"
headers = { X-Id = "{{nonce}}" }
json = { title = "{{subject}}", messages = [{ to = "{{to}}", id = "{{message_id}}", "text?" = "{{body}}" }] }
[batch.evidence]
reference = "/id"
code = "/code"
text = "/words"
[[batch.answer]]
json = { "/code" = 0 }
outcome = "sent"
[[batch.answer]]
json = { "/code" = 7 }
outcome = "permanent"
disable_endpoint = true
[[batch.answer]]
json = { "/code" = 8 }
outcome = "not_sent"
halt_channel = true
)";

std::shared_ptr<const Recipe> recipe_with(const std::string& batch) {
  auto recipe = parse_recipe(kTop + batch, "test.toml");
  EXPECT_TRUE(recipe.has_value()) << recipe.error().message;
  return recipe.value_or(nullptr);
}

// The batch with one of its lines changed.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kBatch;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string by_index() {
  std::string text = changed("find = { \"/ours\" = \"{{message_id}}\" }", "by = \"index\"");
  const std::string lists = R"(["/good", "/bad"])";
  return text.replace(text.find(lists), lists.size(), R"("/good")");
}

// --- the recipe

TEST(RecipeBatches, WhatIsWrongIsToldWithItsPlace) {
  const struct {
    std::string text;
    const char* says;
  } kRows[] = {
      {changed("X-Id = \"{{nonce}}\"", "X-Id = \"{{message_id}}\""),
       "test.toml:23:20: batch.request.headers.X-Id: {{message_id}} differs from message to message"},
      {changed("X-Id = ", "\"X-Id?kind = a\" = "), "{{kind}} differs"},
      {changed("/many", "/{{to}}"), "{{to}} differs"},
      {changed("\"{{subject}}\", m", "\"{{subject|or:body}}\", m"), "{{body}} differs"},
      {changed("{{nonce}}", "{{uuid}}"), "{{uuid}} differs"},
      {changed("together = [\"{{subject}}\"]", ""), "{{subject}} differs"},
      {changed("max = 5", "max = 1"), "batch.max"},
      {changed("max = 5", "max = 1001"), "batch.max"},
      {changed("max = 5", ""), "batch.max: is missing"},
      {changed("each = \"/messages\"", "each = \"/title\""), "names no list with one element"},
      {changed("each = \"/messages\"", "each = \"/none\""), "names no list with one element"},
      {changed("each = \"/messages\"", ""), "batch.each: is missing"},
      {changed("messages = [{", "messages = [{ a = 1 }, {"), "names no list with one element"},
      {changed("messages = [{", "messages = [{ \"?\" = \"body\","), "no message may be left out"},
      {changed("\"/ours\" = \"{{message_id}}\"", ""), "one of find and by"},
      {changed("result =", "by = \"index\"\nresult ="), "one of find and by"},
      {changed("find = { \"/ours\" = \"{{message_id}}\" }", "by = \"index\""), "no order over several lists"},
      {changed("result = [\"/good\", \"/bad\"]", "result = []"), "must not be an empty list"},
      {changed("result = [\"/good\", \"/bad\"]", "result = \"good\""), "is not a JSON pointer"},
      {changed("result = [\"/good\", \"/bad\"]", ""), "batch.result: is missing"},
      {changed("accepted = { status = 200, json = { \"/ok\" = true } }", ""), "batch.accepted: is missing"},
      {changed("{ status = 200, json = ", "{ json = "), "batch.accepted.status: is missing"},
      {changed("{ \"/code\" = 0 }\noutcome = \"sent\"", "{ \"/code\" = 0 }\noutcome = \"unknown\""),
       "no rule says when a message was accepted"},
      {changed("json = { \"/code\" = 0 }\n", ""), "an acceptance names what the result says"},
      {changed("json = { \"/code\" = 7 }", "status = 200"), "unknown key"},
      {changed("{ \"/code\" = 7 }", "{ \"/code\" = 0 }"), "batch.answer: is never reached"},
      {std::string("[auth]\nkind = \"bearer\"\ntoken = \"{{to}}\"\n") + kBatch, "{{to}} differs"},
      {std::string("[recipient]\nhosts = [\"x.test\"]\n") + kBatch, "no two messages can share a request"},
  };
  for (const auto& row : kRows) {
    std::vector<Error> problems;
    ASSERT_FALSE(parse_recipe(kTop + row.text, "test.toml", &problems).has_value()) << row.says;
    std::string all;
    for (const Error& problem : problems) all += problem.message + "\n";
    EXPECT_THAT(all, HasSubstr(row.says)) << row.text;
  }
}

TEST(RecipeBatches, OneElementForEachMessage) {
  const auto recipe = recipe_with(kBatch);
  const RecipeSettings settings;
  std::vector<std::string> elements;
  Dispatch dispatch;
  for (const char* id : {"a", "b"}) {
    dispatch = make_dispatch(id, std::string("to-\"") + id);
    dispatch.content.body = *id == 'a' ? "" : "}],\"x\":[{";
    RecipeInput input{*recipe, settings};
    input.message = &dispatch;
    const auto part = batch_part(*recipe->batch, input);
    ASSERT_TRUE(part.has_value()) << part.error().message;
    EXPECT_THAT(part->together, ElementsAre("Paid"));
    EXPECT_THAT(part->key, ElementsAre(id));
    elements.push_back(part->element);
  }
  RecipeInput input{*recipe, settings};
  input.message = &dispatch;
  input.nonce = "n";
  const auto call = make_batch_call(*recipe, input, elements, HttpRequest{});
  ASSERT_TRUE(call.has_value()) << call.error().message;
  EXPECT_EQ(call->request.url, "https://x.test/many");
  EXPECT_EQ(test::header(call->request, "X-Id"), "n");
  EXPECT_EQ(Json::parse(call->request.body), Json::parse(R"j({"title":"Paid","messages":[{"to":"to-\"a","id":"a"},
                            {"to":"to-\"b","id":"b","text":"}],\"x\":[{"}]})j"));
}

// --- the answer

// "S" sent, "P" refused for good, "N" not sent, "U" unknown; then what is told of it.
std::string word_of(const Outcome& outcome) {
  std::string word(1, "SPNU"[static_cast<int>(outcome.cls)]);
  if (outcome.disable_endpoint) word += "+dead";
  if (outcome.halt_channel) word += "+halt";
  if (outcome.lane_wide) word += "+lane";
  return word + ":" + (outcome.cls == OutcomeClass::kSent ? outcome.reference : outcome.reason);
}

std::string judged(const Recipe& recipe, const HttpEvidence& evidence, std::vector<std::string> ids = {"a", "b", "c"}) {
  std::vector<RecipeBatchMember> members;
  for (std::string& id : ids) members.push_back({{std::move(id)}, {"PERSON"}});
  const RecipeBatchVerdict verdict =
      judge_batch(recipe, evidence, test::kSomeTime, members, std::vector<std::string>{"s3cret-token"});
  EXPECT_EQ(verdict.outcomes.size(), members.size());
  std::string words;
  for (const Outcome& outcome : verdict.outcomes) words += (words.empty() ? "" : " ") + word_of(outcome);
  return words;
}

HttpEvidence cut_off(std::string body) {
  HttpEvidence evidence = answered(200, std::move(body));
  evidence.body_truncated = true;
  return evidence;
}

TEST(RecipeBatches, EachMessageIsWhatItsResultSays) {
  const auto recipe = recipe_with(kBatch);
  const struct {
    HttpEvidence evidence;
    const char* words;
  } kRows[] = {
      {answered(200, R"({"ok":true,"request":"R","good":[{"ours":"c","code":0,"id":3},{"ours":"a","code":0,"id":1}],
                         "bad":[{"ours":"b","code":7}]})"),
       "S:R:1 P+dead:code-7 S:R:3"},
      {answered(200, R"({"ok":true,"request":"R","good":[{"ours":"a","code":8},{"ours":"b","code":9},{"code":0}]})"),
       "N+halt:code-8 U:code-9 U:no-result"},
      {answered(200, R"({"ok":true,"good":[{"ours":"a","code":0,"id":1},{"ours":"a","code":0,"id":2}],
                         "bad":[{"ours":"b","code":7},"c",null]})"),
       "U:no-result P+dead:code-7 U:no-result"},
      {answered(200, R"({"ok":true,"good":[{"ours":"a","code":0,"id":1}],"bad":[{"ours":"a","code":7}]})"),
       "U:no-result U:no-result U:no-result"},
      {answered(200, R"({"ok":true,"good":{"x":{"ours":"a","code":0,"id":1}}})"), "S: U:no-result U:no-result"},
      {answered(200, R"({"ok":true})"), "U:no-result U:no-result U:no-result"},
      {answered(200, R"({"ok":true,"good":"a"})"), "U:no-result U:no-result U:no-result"},
      // A success in an answer that was not accepted contradicts it; a refusal does not.
      {answered(200, R"({"ok":false,"good":[{"ours":"a","code":0,"id":1},{"ours":"b","code":7}]})"),
       "U:answer-contradicts P+dead:code-7 U:no-result"},
      {answered(200, R"({"ok":false,"good":[]})"), "U:answer-not-known U:answer-not-known U:answer-not-known"},
      {answered(200, "<html>"), "U:answer-not-known U:answer-not-known U:answer-not-known"},
      {cut_off(R"({"ok":true,"good":[{"ours":"a","code":0)"),
       "U:answer-incomplete U:answer-incomplete U:answer-incomplete"},
      // As a whole.
      {answered(403, "{}"), "N:http-403 N:http-403 N:http-403"},
      {answered(410, ""), "N:http-410 N:http-410 N:http-410"},
      {answered(400, ""), "N:http-400 N:http-400 N:http-400"},
      {answered(401, ""), "N+halt:http-401 N+halt:http-401 N+halt:http-401"},
      {answered(429, "", {{"retry-after", "7"}}), "N+lane:http-429 N+lane:http-429 N+lane:http-429"},
      {answered(500, ""), "U:http-500 U:http-500 U:http-500"},
      {test::connection_refused(), "N:connect-failed N:connect-failed N:connect-failed"},
  };
  for (const auto& row : kRows) EXPECT_EQ(judged(*recipe, row.evidence), row.words) << row.evidence.body;
  EXPECT_THAT(judged(*recipe, test::no_answer()), Not(HasSubstr("N")));
}

TEST(RecipeBatches, OneResultForTwoMessagesOfTheSameKeyIsNeithers) {
  const auto recipe = recipe_with(kBatch);
  const auto answer = answered(200, R"({"ok":true,"good":[{"ours":"a","code":0},{"ours":"b","code":0}]})");
  EXPECT_EQ(judged(*recipe, answer, {"a", "a", "b"}), "U:no-result U:no-result S:");
}

TEST(RecipeBatches, ByIndexTheyAreAsMany) {
  const auto recipe = recipe_with(by_index());
  const struct {
    const char* body;
    const char* words;
  } kRows[] = {
      {R"({"ok":true,"request":"R","good":[{"code":0,"id":1},{"code":7},{"code":0,"id":3}]})",
       "S:R:1 P+dead:code-7 S:R:3"},
      {R"({"ok":true,"good":[{"code":0,"id":1},{"code":7}]})", "U:no-result U:no-result U:no-result"},
      {R"({"ok":true,"good":[{"code":0},{"code":0},{"code":0},{"code":0}]})", "U:no-result U:no-result U:no-result"},
      {R"({"ok":true,"good":{"a":{"code":0},"b":{"code":0},"c":{"code":0}}})", "U:no-result U:no-result U:no-result"},
      {R"({"ok":true,"good":[{"code":0,"id":1},null,7]})", "S: U:answer-not-known U:answer-not-known"},
  };
  for (const auto& row : kRows) EXPECT_EQ(judged(*recipe, answered(200, row.body)), row.words) << row.body;
}

TEST(RecipeBatches, WhatIsToldHoldsNoSecretAndNoPerson) {
  const auto recipe = recipe_with(kBatch);
  const std::vector<RecipeBatchMember> members{{{"a"}, {"PERSON-ONE"}}, {{"b"}, {"PERSON-TWO"}}};
  const std::vector<std::string> secrets{"s3cret-token"};
  for (const HttpEvidence& evidence :
       {answered(200, R"({"ok":true,"good":[{"ours":"a","code":7,"words":"no PERSON-ONE s3cret-token"},
                          {"ours":"b","code":7,"words":"no PERSON-TWO s3cret-token"}]})"),
        answered(400, "no PERSON-ONE, no PERSON-TWO s3cret-token")}) {
    for (const Outcome& outcome : judge_batch(*recipe, evidence, test::kSomeTime, members, secrets).outcomes) {
      EXPECT_THAT(outcome.detail, HasSubstr("no "));
      EXPECT_THAT(outcome.detail, Not(HasSubstr("PERSON")));
      EXPECT_THAT(outcome.detail, Not(HasSubstr("s3cret")));
    }
  }
}

// --- the driver

class HttpBatch : public testing::Test {
 protected:
  void make(const std::string& recipe, int batch) {
    HttpDriverConfig driver;
    driver.recipe = recipe_with(recipe);
    driver.batch = batch;
    channel = make_channel(test::make_config(std::move(driver)), bench.ports).value();
  }
  void send(const std::string& id, const std::string& subject = "Paid", int tries = 0) {
    Dispatch dispatch = make_dispatch(id);
    dispatch.content.subject = subject;
    dispatch.tries = tries;
    ASSERT_TRUE(channel->check(dispatch).has_value());
    channel->send(std::move(dispatch), [this, id](const Outcome& outcome) { done[id] += word_of(outcome); });
  }
  // How many messages are in each request; 1 stands for the request of one alone.
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all;
    for (const HttpRequest& request : bench.http.requests)
      all.push_back(request.url.ends_with("/one") ? 1 : Json::parse(request.body).at("messages").size());
    return all;
  }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
  std::map<std::string, std::string> done{};
};

TEST_F(HttpBatch, WhatIsSentInOneTurnSharesRequestsOfThatSize) {
  make(kBatch, 3);
  bench.http.script = {
      answered(200, R"({"ok":true,"request":"R","good":[{"ours":"b","code":0,"id":2},{"ours":"a","code":0,"id":1}],
                        "bad":[{"ours":"c","code":7}]})"),
      test::no_answer(),
      answered(200, R"({"ok":true})"),
  };
  for (const char* id : {"a", "b", "c", "d", "e"}) send(id);
  EXPECT_THAT(sizes(), ElementsAre(3));  // full; the others wait for the end of this turn
  bench.loop.run();
  EXPECT_THAT(sizes(), ElementsAre(3, 2));
  EXPECT_TRUE(bench.http.requests[0].once);
  EXPECT_EQ(done["a"], "S:R:1");
  EXPECT_EQ(done["b"], "S:R:2");
  EXPECT_EQ(done["c"], "P+dead:code-7");
  EXPECT_TRUE(done["d"].starts_with("U:") && done["d"] == done["e"]) << done["d"] << done["e"];
  send("f");
  bench.loop.run();
  EXPECT_THAT(sizes(), ElementsAre(3, 2, 1));
  EXPECT_EQ(done["f"], "S:");
}

TEST_F(HttpBatch, WhatDoesNotAgreeAndWhatWasTriedBeforeGoApart) {
  make(kBatch, 5);
  for (int i = 0; i < 4; ++i) bench.http.script.push_back(test::no_answer());
  send("a");
  send("b", "Other");
  send("c");
  send("d", "Other");
  send("e", "Paid", 1);
  send("a");  // the same key: its result could not be told from the other's
  bench.loop.run();
  EXPECT_THAT(sizes(), testing::UnorderedElementsAre(1, 2, 2, 1));
  EXPECT_EQ(done.size(), 5U);
}

TEST_F(HttpBatch, WhatWasGatheredGoesOutWhenTheChannelIsGone) {
  make(kBatch, 5);
  bench.http.script = {test::no_answer()};
  send("a");
  send("b");
  channel.reset();
  bench.loop.run();
  EXPECT_THAT(sizes(), ElementsAre(2));
  EXPECT_EQ(done.size(), 2U);
}

TEST_F(HttpBatch, ARefusedTokenIsReplacedOnceForAll) {
  const std::string token = R"([token]
granted = { status = 200 }
value = "/t"
[token.request]
url = "https://x.test/token"
)";
  make(token + changed("X-Id = \"{{nonce}}\"", "X-Id = \"{{token}}\"") + R"([[answer]]
status = 401
outcome = "not_sent"
refresh_token = true
)",
       5);
  bench.http.script = {answered(200, R"({"t":"first"})"), answered(401, ""), answered(200, R"({"t":"second"})"),
                       answered(200, R"({"ok":true,"good":[{"ours":"a","code":0},{"ours":"b","code":0}]})")};
  send("a");
  send("b");
  bench.loop.run();
  EXPECT_EQ(done["a"], "N:http-401");
  EXPECT_EQ(done["b"], "N:http-401");
  send("a");
  send("b");
  bench.loop.run();
  ASSERT_EQ(bench.http.requests.size(), 4U);
  EXPECT_EQ(test::header(bench.http.requests[1], "X-Id"), "first");
  EXPECT_EQ(test::header(bench.http.requests[3], "X-Id"), "second");
  EXPECT_EQ(done["a"], "N:http-401S:");
}

}  // namespace
}  // namespace notify

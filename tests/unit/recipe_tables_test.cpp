// Every built-in recipe has a table in tests/recipes/NAME.json: the request that a message becomes, messages that are
// refused before the claim, and what each documented answer, look-up and receipt means. One test runs them all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "channel/http_settings.hpp"
#include "core/payload.hpp"
#include "core/recipe_answer.hpp"
#include "core/recipe_batch.hpp"
#include "core/recipe_receipt.hpp"
#include "core/recipe_request.hpp"
#include "support/channel_support.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;
using test::Bench;

std::string text_of_json(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::vector<std::string> recipe_list() {
  std::vector<std::string> names;
  for (const BuiltInRecipe& recipe : built_in_recipes()) names.emplace_back(recipe.name);
  return names;
}

OutcomeClass class_named(const std::string& name) {
  if (name == "sent") return OutcomeClass::kSent;
  if (name == "permanent") return OutcomeClass::kPermanent;
  if (name == "not_sent") return OutcomeClass::kNotSent;
  EXPECT_EQ(name, "unknown");
  return OutcomeClass::kUnknown;
}

// Its own object: what items() of a temporary walks over would be gone.
Json headers_of(const Json& row) { return row.value("headers", Json::object()); }

HttpEvidence evidence_of(const Json& row) {
  std::vector<std::pair<std::string, std::string>> headers;
  const Json written = headers_of(row);
  for (const auto& [name, value] : written.items()) headers.emplace_back(name, text_of_json(value));
  return test::answered(row.at("status"), row.contains("body") ? text_of_json(row["body"]) : "", headers);
}

class RecipeTable : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(NOTIFYCTL_SOURCE_DIR) + "/tests/recipes/" + GetParam() + ".json");
    ASSERT_TRUE(file) << "no table of the recipe " << GetParam();
    table = Json::parse(file);
    auto loaded = load_recipe(GetParam(), "");
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    recipe = std::move(*loaded);
    driver.recipe = recipe;
    for (const auto& [name, value] : table.at("settings").items())
      driver.settings.emplace(name, test::plain_secret(value.get<std::string>()));
    values = setting_values(driver);
  }

  std::unique_ptr<Channel> channel() {
    auto made = make_channel(test::make_config(driver), bench.ports);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return std::move(*made);
  }

  Dispatch message(const Json& changes = {}) const {
    Json parts = table.at("message");
    parts.update(changes.is_object() ? changes : Json::object());
    Dispatch dispatch = test::make_dispatch(parts.value("message_id", "shop-0123abcd-7"), parts.at("to"));
    Payload& content = dispatch.content;
    content = {};
    content.subject = parts.value("subject", "");
    content.body = parts.value("body", "");
    content.html = parts.value("html", "");
    content.alt = parts.value("alt", "");
    if (parts.contains("data") && !parts["data"].is_null()) content.data = canonical_json(parts["data"].dump()).value();
    dispatch.envelope.category = parts.value("category", kTransactional);
    return dispatch;
  }

  RecipeCall call(const Dispatch& dispatch) {
    RecipeInput input{*recipe, values};
    input.message = &dispatch;
    input.now = test::kSomeTime;
    input.nonce = "0123456789abcdef0123456789abcdef";
    input.token = "THE-TOKEN";
    auto made = make_call(recipe->request, recipe->auth, recipe->signature, input, HttpRequest{});
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return made.value_or(RecipeCall{});
  }

  Json table{};
  std::shared_ptr<const Recipe> recipe{};
  HttpDriverConfig driver{};
  RecipeSettings values{};
  Bench bench{};
};

INSTANTIATE_TEST_SUITE_P(BuiltIn, RecipeTable, testing::ValuesIn(recipe_list()), [](const auto& built_in) {
  std::string name = built_in.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

TEST_P(RecipeTable, AMessageBecomesThisRequest) {
  const Json& requests = table.at("requests");
  ASSERT_FALSE(requests.empty());
  for (const Json& wanted : requests) {
    SCOPED_TRACE(wanted.dump());
    const Dispatch dispatch = message(wanted.value("message", Json::object()));
    const auto fit = channel()->check(dispatch);
    ASSERT_TRUE(fit.has_value()) << fit.error().message;
    const HttpRequest request = call(dispatch).request;
    EXPECT_EQ(request.method, wanted.value("method", "POST"));
    EXPECT_EQ(request.url, wanted.at("url"));
    const Json headers = headers_of(wanted);
    for (const auto& [name, value] : headers.items()) EXPECT_EQ(test::header(request, name), value) << name;
    if (wanted.contains("json")) {
      EXPECT_EQ(Json::parse(request.body, nullptr, false), wanted["json"]) << request.body;
    } else {
      EXPECT_EQ(request.body, wanted.value("body", ""));
    }
  }
}

TEST_P(RecipeTable, WhatTheVendorWouldRefuseIsRefusedBeforeTheClaim) {
  ASSERT_FALSE(table.at("refused").empty());
  for (const Json& row : table["refused"]) {
    SCOPED_TRACE(row.dump());
    Json changes = row.at("message");
    if (row.contains("repeat"))
      changes["body"] = [&] {
        std::string text;
        for (int i = 0; i < row["times"].get<int>(); ++i) text += row["repeat"].get<std::string>();
        return text;
      }();
    const auto fit = channel()->check(message(changes));
    ASSERT_FALSE(fit.has_value());
    EXPECT_THAT(fit.error().message, testing::HasSubstr(row.at("says").get<std::string>()));
  }
}

TEST_P(RecipeTable, EveryDocumentedAnswerMeansWhatIsDocumented) {
  ASSERT_GE(table.at("answers").size(), 5U);
  for (const Json& row : table["answers"]) {
    SCOPED_TRACE(row.dump());
    const RecipeVerdict verdict = judge_answer(*recipe, evidence_of(row), test::kSomeTime, {});
    const Outcome& outcome = verdict.outcome;
    EXPECT_EQ(outcome.cls, class_named(row.at("class"))) << outcome_name(outcome.cls) << " " << outcome.reason;
    EXPECT_EQ(outcome.disable_endpoint, row.value("disable", false)) << "disable";
    EXPECT_EQ(outcome.halt_channel, row.value("halt", false)) << "halt";
    EXPECT_EQ(verdict.refresh_token, row.value("refresh", false)) << "refresh";
    if (row.contains("lane")) {
      EXPECT_EQ(outcome.lane_wide, row["lane"]) << "lane";
    }
    if (row.contains("reason")) {
      EXPECT_EQ(outcome.reason, row["reason"]);
    }
    if (row.contains("detail")) {
      EXPECT_EQ(outcome.detail, row["detail"]);
    }
    if (row.contains("reference")) {
      EXPECT_EQ(outcome.reference, row["reference"]);
    }
    if (row.contains("wait_ms")) {
      ASSERT_TRUE(outcome.retry_after.has_value());
      EXPECT_EQ(outcome.retry_after->count(), row["wait_ms"]);
    }
  }
}

TEST_P(RecipeTable, WhatNoRuleNamesIsUnknownOrAsEverywhere) {
  // A portal's page, half an answer, another vendor's JSON.
  for (const char* body : {"<html>sign in</html>", "", "{", "[]", "{\"x\":1}", "null"}) {
    const HttpEvidence page = test::answered(203, body);
    EXPECT_EQ(judge_answer(*recipe, page, test::kSomeTime, {}).outcome.cls, OutcomeClass::kUnknown) << body;
  }
  for (const int status : {500, 502, 503, 504})
    EXPECT_EQ(judge_answer(*recipe, test::answered(status, "<html>"), test::kSomeTime, {}).outcome.cls,
              OutcomeClass::kUnknown)
        << status;
  const Outcome busy =
      judge_answer(*recipe, test::answered(429, "", {{"retry-after", "7"}}), test::kSomeTime, {}).outcome;
  EXPECT_EQ(busy.cls, OutcomeClass::kNotSent);
  EXPECT_FALSE(busy.halt_channel);
  EXPECT_TRUE(busy.retry_after.has_value());
  EXPECT_EQ(judge_answer(*recipe, test::no_answer(), test::kSomeTime, {}).outcome.cls, OutcomeClass::kUnknown);
  EXPECT_EQ(judge_answer(*recipe, test::connection_refused(), test::kSomeTime, {}).outcome.cls, OutcomeClass::kNotSent);
  const RecipeVerdict refused = judge_answer(*recipe, test::answered(401, ""), test::kSomeTime, {});
  EXPECT_EQ(refused.outcome.cls, OutcomeClass::kNotSent);
  EXPECT_TRUE(refused.outcome.halt_channel ||
              refused.refresh_token);  // the lane halts when a new token is refused, too
}

TEST_P(RecipeTable, PreviewsHideEverySecret) {
  const auto made = channel();
  const std::string preview = made->preview(message(table["requests"][0].value("message", Json::object())));
  EXPECT_FALSE(preview.empty());
  for (const RecipeSetting& setting : recipe->settings) {
    if (!setting.secret || !values.contains(setting.name)) continue;
    EXPECT_THAT(preview, testing::Not(testing::HasSubstr(values.at(setting.name)))) << setting.name;
  }
}

TEST_P(RecipeTable, LookUpsMeanWhatIsDocumented) {
  ASSERT_EQ(recipe->look_up.has_value(), table.contains("look_ups"));
  if (!recipe->look_up) return;
  const LookUpQuestion question{"shop-0123abcd-7", "REF", table["message"]["to"], test::kSomeTime};
  RecipeInput input{*recipe, values};
  input.question = &question;
  input.now = test::kSomeTime + 20min;
  input.nonce = "0123456789abcdef0123456789abcdef";
  const auto made = make_call(recipe->look_up->request, recipe->auth, recipe->signature, input, HttpRequest{});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->request.method, "GET");
  EXPECT_EQ(made->request.url, table["look_ups"]["url"]);
  using Kind = LookUpAnswer::Kind;
  const std::map<std::string, Kind> kinds{{"accepted", Kind::kAccepted},
                                          {"refused", Kind::kRefused},
                                          {"never_arrived", Kind::kNeverArrived},
                                          {"unknown", Kind::kUnknown}};
  for (const Json& row : table["look_ups"]["answers"]) {
    SCOPED_TRACE(row.dump());
    const LookUpAnswer answer = judge_look_up(*recipe->look_up, evidence_of(row), input, {});
    EXPECT_EQ(answer.kind, kinds.at(row.at("outcome"))) << answer.reason;
    EXPECT_EQ(answer.disable_endpoint, row.value("disable", false)) << "disable";
    EXPECT_EQ(answer.halt_channel, row.value("halt", false)) << "halt";
    if (row.contains("reference")) {
      EXPECT_EQ(answer.reference, row["reference"]);
    }
  }
  for (const int status : {401, 404, 429, 500, 503})
    EXPECT_EQ(judge_look_up(*recipe->look_up, test::answered(status, "{}"), input, {}).kind, Kind::kUnknown);
}

TEST_P(RecipeTable, ReceiptsMeanWhatIsDocumented) {
  ASSERT_EQ(recipe->receipt.has_value(), table.contains("receipts"));
  if (!recipe->receipt) return;
  for (const Json& row : table["receipts"]) {
    SCOPED_TRACE(row.dump());
    RecipeReceived received;
    received.body = text_of_json(row.at("body"));
    received.url = row.value("url", "");
    const Json headers = headers_of(row);
    for (const auto& [name, value] : headers.items()) received.headers.emplace_back(name, value.get<std::string>());
    RecipeSettings settings = values;
    const Json others = row.value("settings", Json::object());
    for (const auto& [name, value] : others.items()) settings[name] = value.get<std::string>();
    const auto read = read_receipts(*recipe, settings, "shop", std::move(received));
    if (row.contains("error")) {
      ASSERT_FALSE(read.has_value());
      EXPECT_THAT(read.error().message, testing::HasSubstr(row["error"].get<std::string>()));
      continue;
    }
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->bad.size(), row.value("bad", 0U));
    ASSERT_EQ(read->receipts.size(), row.at("receipts").size());
    for (std::size_t i = 0; i < read->receipts.size(); ++i) {
      const Receipt& receipt = read->receipts[i];
      const Json& wanted = row["receipts"][i];
      EXPECT_EQ(receipt.message_id, wanted.value("message_id", ""));
      EXPECT_EQ(receipt.reference, wanted.value("reference", ""));
      EXPECT_EQ(receipt.verdict == ReceiptVerdict::kAccepted, wanted.at("outcome") == "accepted");
      EXPECT_EQ(receipt.disable_endpoint, wanted.value("disable", false)) << "disable";
      EXPECT_EQ(receipt.halt_channel, wanted.value("halt", false)) << "halt";
      if (wanted.contains("reason")) {
        EXPECT_EQ(receipt.reason, wanted["reason"]);
      }
    }
  }
}

TEST_P(RecipeTable, BatchesMeanWhatIsDocumented) {
  ASSERT_EQ(recipe->batch.has_value(), table.contains("batch"));
  if (!recipe->batch) return;
  const Json& batch = table["batch"];
  std::vector<Dispatch> dispatches;
  for (const Json& changes : batch.at("messages")) dispatches.push_back(message(changes));
  driver.batch = static_cast<int>(dispatches.size());
  std::vector<std::string> elements;
  std::vector<RecipeBatchMember> members;
  RecipeInput input{*recipe, values};
  input.now = test::kSomeTime;
  input.nonce = "0123456789abcdef0123456789abcdef";
  input.token = "THE-TOKEN";
  for (const Dispatch& dispatch : dispatches) {
    const auto fit = channel()->check(dispatch);
    ASSERT_TRUE(fit.has_value()) << fit.error().message;
    input.message = &dispatch;
    const auto part = batch_part(*recipe->batch, input);
    ASSERT_TRUE(part.has_value()) << part.error().message;
    elements.push_back(part->element);
    members.push_back({part->key, {}});
  }
  const auto call = make_batch_call(*recipe, input, elements, HttpRequest{});
  ASSERT_TRUE(call.has_value()) << call.error().message;
  EXPECT_EQ(call->request.url, batch.at("url"));
  const Json headers = headers_of(batch);
  for (const auto& [name, value] : headers.items()) EXPECT_EQ(test::header(call->request, name), value) << name;
  EXPECT_EQ(Json::parse(call->request.body, nullptr, false), batch.at("json")) << call->request.body;

  for (const Json& row : batch.at("answers")) {
    SCOPED_TRACE(row.dump());
    Json outcomes = Json::array();
    const RecipeBatchVerdict verdict = judge_batch(*recipe, evidence_of(row), test::kSomeTime, members, {});
    for (const Outcome& outcome : verdict.outcomes) {
      std::string words = outcome.cls == OutcomeClass::kSent        ? "sent " + outcome.reference
                          : outcome.cls == OutcomeClass::kPermanent ? "permanent"
                          : outcome.cls == OutcomeClass::kNotSent   ? "not_sent"
                                                                    : "unknown";
      if (outcome.disable_endpoint) words += " disable";
      if (outcome.halt_channel) words += " halt";
      outcomes.push_back(words);
    }
    EXPECT_EQ(outcomes, row.at("outcomes"));
  }
  for (const char* body : {"<html>sign in</html>", "", "{", "[]", "{\"x\":1}", "null"}) {
    const auto verdict = judge_batch(*recipe, test::answered(200, body), test::kSomeTime, members, {});
    for (const Outcome& outcome : verdict.outcomes) EXPECT_EQ(outcome.cls, OutcomeClass::kUnknown) << body;
  }
}

TEST(RecipeDocuments, TheExampleIsARecipe) {
  std::ifstream file(std::string(NOTIFYCTL_SOURCE_DIR) + "/docs/recipes.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const std::string open = "```toml\n";
  const std::size_t begin = page.find(open) + open.size();
  const auto recipe = parse_recipe(page.substr(begin, page.find("```", begin) - begin), "docs/recipes.md");
  ASSERT_TRUE(recipe.has_value()) << recipe.error().message;
  EXPECT_EQ((*recipe)->summary, "Example SMS");
}

}  // namespace
}  // namespace notify

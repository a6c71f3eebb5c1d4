// Tokens that a recipe signs: what is in them, who gets one, which keys are none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/crypto.hpp"
#include "core/jwt.hpp"
#include "core/keys.hpp"
#include "core/recipe_request.hpp"
#include "support/channel_support.hpp"
#include "support/test_keys.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr std::string_view kSecret = "a secret of more than 32 bytes, shared";

// A vendor that takes `{{jwt}}` where `request` says.
std::shared_ptr<const Recipe> vendor(const std::string& algorithm, const std::string& request) {
  const auto recipe = parse_recipe(R"(summary = "s"
[settings.key]
text = "The key"
lines = true
[jwt]
algorithm = ")" + algorithm + R"("
key = "{{settings.key}}"
header = { kid = "k-1" }
claims = { iss = "shop", iat = "{{now|number}}", exp = "{{now|plus:60|number}}", jti = "{{nonce}}" }
[look_up]
[look_up.request]
method = "GET"
url = "https://x.test/a"
headers = { X-Token = "{{jwt}}" }
[[look_up.answer]]
status = 200
outcome = "accepted"
[request]
url = "https://x.test/a"
)" + request + R"(
[[answer]]
status = 200
outcome = "sent"
)",
                                   "test.toml");
  EXPECT_TRUE(recipe.has_value()) << recipe.error().message;
  return recipe ? *recipe : nullptr;
}

Result<RecipeCall> call(const Recipe& recipe, const RecipeRequest& request, std::string key) {
  const RecipeSettings settings{{"key", std::move(key)}};
  RecipeInput input{recipe, settings};
  const Dispatch dispatch = test::make_dispatch("shop-0123abcd-7", "+821012345678");
  input.message = &dispatch;
  input.now = test::kSomeTime;
  input.nonce = "n0";
  return make_call(request, recipe.auth, recipe.signature, input, HttpRequest{});
}

std::string header_of(const HttpRequest& request, std::string_view name) {
  for (const auto& [known, value] : request.headers)
    if (known == name) return value;
  return {};
}

struct Parts {
  Json header;
  Json claims;
  std::string signed_text;
  std::string signature;
};

Parts parts_of(const std::string& token) {
  const std::size_t first = token.find('.');
  const std::size_t second = token.find('.', first + 1);
  std::string header;
  std::string claims;
  Parts parts;
  EXPECT_TRUE(from_base64url(token.substr(0, first), header));
  EXPECT_TRUE(from_base64url(token.substr(first + 1, second - first - 1), claims));
  EXPECT_TRUE(from_base64url(token.substr(second + 1), parts.signature));
  parts.header = Json::parse(header);
  parts.claims = Json::parse(claims);
  parts.signed_text = token.substr(0, second);
  return parts;
}

TEST(RecipeJwt, HoldsWhatTheRecipeSays) {
  const auto recipe = vendor("HS256", "form = { assertion = \"{{jwt}}\" }");
  const auto made = call(*recipe, recipe->request, std::string(kSecret));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  ASSERT_TRUE(made->request.body.starts_with("assertion="));
  const std::string token = made->request.body.substr(10);
  const Parts parts = parts_of(token);
  const std::int64_t now = test::kSomeTime.ms / 1000;
  EXPECT_EQ(parts.header, (Json{{"alg", "HS256"}, {"typ", "JWT"}, {"kid", "k-1"}}));
  EXPECT_EQ(parts.claims, (Json{{"iss", "shop"}, {"iat", now}, {"exp", now + 60}, {"jti", "n0"}}));
  EXPECT_EQ(parts.signature, hmac_sha256_text(kSecret, parts.signed_text));
  EXPECT_THAT(made->secrets, testing::Contains(token)) << "it would stand in logs and in what is shown";
}

// RS256 has one signature for a text; ES256 another one each time, of 64 bytes.
TEST(RecipeJwt, IsSignedWithTheKey) {
  for (const auto& [algorithm, key] : {std::pair{"RS256", test::kRsaKey}, std::pair{"ES256", test::kEcKey}}) {
    const auto recipe = vendor(algorithm, "[auth]\nkind = \"bearer\"\ntoken = \"{{jwt}}\"");
    const auto made = call(*recipe, recipe->request, key);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    const std::string header = header_of(made->request, "Authorization");
    ASSERT_TRUE(header.starts_with("Bearer "));
    const Parts parts = parts_of(header.substr(7));
    EXPECT_EQ(parts.header["alg"], algorithm);
    if (std::string_view(algorithm) == "RS256")
      EXPECT_EQ(parts.signature, PrivateKey::from_pem(key)->sign(parts.signed_text));
    else
      EXPECT_EQ(parts.signature.size(), 64U);
  }
}

TEST(RecipeJwt, IsMadeOnlyForRequestsThatMentionIt) {
  const auto recipe = vendor("HS256", "json = { a = \"{{body}}\" }");
  const auto sent = call(*recipe, recipe->request, "short");
  EXPECT_TRUE(sent.has_value()) << "a key was looked at that this request does not need";
  const auto asked = call(*recipe, recipe->look_up->request, std::string(kSecret));
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(parts_of(header_of(asked->request, "X-Token")).claims["iss"], "shop");
}

TEST(RecipeJwt, KeysThatAreNone) {
  const struct {
    const char* algorithm;
    std::string key;
    const char* says;
  } kRows[] = {
      {"HS256", "thirty-one-bytes-are-not-enough", "at least 32 bytes"},
      {"RS256", "garbled-key", "jwt.key"},
      {"RS256", test::kEcKey, "RS256 needs an RSA key"},
      {"ES256", test::kRsaKey, "ES256 needs a key on P-256"},
      {"ES256", test::kP384Key, "jwt.key"},
  };
  for (const auto& row : kRows) {
    const auto recipe = vendor(row.algorithm, "headers = { A = \"{{jwt}}\" }");
    const auto made = call(*recipe, recipe->request, row.key);
    ASSERT_FALSE(made.has_value()) << row.says;
    EXPECT_THAT(made.error().message, HasSubstr(row.says));
    EXPECT_THAT(made.error().message, testing::Not(HasSubstr("garbled-key")));
  }
}

}  // namespace
}  // namespace notify

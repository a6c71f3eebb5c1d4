#include <gtest/gtest.h>

#include "channel/signature.hpp"
#include "core/crypto.hpp"

namespace notify {
namespace {

// The test vector of the Standard Webhooks libraries.
constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* kId = "msg_p5jXN8AQM9LWM0D4loKWxJek";
constexpr std::int64_t kTimestamp = 1614265330;
constexpr const char* kBody = R"({"test": 2432232314})";
constexpr const char* kSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

std::string key_of(std::string_view secret) { return signing_key(secret).value(); }

TEST(ChannelSignature, AgreesWithTheTestVectorOfStandardWebhooks) {
  EXPECT_EQ(webhook_signature({{key_of(kSecret)}}, kId, kTimestamp, kBody), kSignature);
}

TEST(ChannelSignature, F58_LineEndAtTheEndOfTheSecretIsNotPartOfIt) {
  for (const std::string end : {"\n", "\r\n"}) {
    EXPECT_EQ(key_of(kSecret + end), key_of(kSecret));
    EXPECT_EQ(key_of("plain secret" + end), "plain secret");
  }
  EXPECT_EQ(key_of("two\n\n"), "two\n") << "only one line end belongs to the file";
}

TEST(ChannelSignature, F58_EveryKeySignsDuringARotationNewestFirst) {
  const std::string both = webhook_signature({{"newest", key_of(kSecret)}}, kId, kTimestamp, kBody);
  const std::string newest = webhook_signature({{"newest"}}, kId, kTimestamp, kBody);
  EXPECT_EQ(both, newest + " " + kSignature);
}

TEST(ChannelSignature, SignsIdTimestampAndTheExactBytes) {
  const std::vector<std::string> keys{key_of(kSecret)};
  EXPECT_NE(webhook_signature(keys, kId, kTimestamp + 1, kBody), kSignature);
  EXPECT_NE(webhook_signature(keys, "msg_other", kTimestamp, kBody), kSignature);
  EXPECT_NE(webhook_signature(keys, kId, kTimestamp, std::string(kBody) + " "), kSignature);
  EXPECT_NE(webhook_signature(keys, kId, kTimestamp, R"({"a":1e3,"b":"\/가"})"),
            webhook_signature(keys, kId, kTimestamp, R"({"a":1000,"b":"/가"})"));
}

TEST(ChannelSignature, OnlyThePrefixMeansBase64) {
  EXPECT_EQ(key_of("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  EXPECT_EQ(key_of("whsec_aGVsbG8="), "hello");
}

TEST(ChannelSignature, F57_RefusesWhatIsNoKeyWithoutShowingIt) {
  for (const std::string secret : {"whsec_not*base64*SECRET", "whsec_", "", "\n"}) {
    const Result<std::string> key = signing_key(secret);
    ASSERT_FALSE(key.has_value()) << secret;
    EXPECT_EQ(key.error().code, Code::kConfig);
    EXPECT_EQ(key.error().message.find("SECRET"), std::string::npos);
  }
}

TEST(ChannelSignature, NoKeyNoSignature) { EXPECT_EQ(webhook_signature({}, kId, kTimestamp, kBody), ""); }

}  // namespace
}  // namespace notify

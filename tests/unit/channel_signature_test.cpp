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

SigningKey key_of(std::string_view secret) { return signing_key(secret).value(); }
std::string bytes_of_key(std::string_view secret) { return std::get<std::string>(key_of(secret)); }
std::string unhex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return bytes;
}

TEST(ChannelSignature, AgreesWithTheTestVectorOfStandardWebhooks) {
  EXPECT_EQ(webhook_signature({{key_of(kSecret)}}, kId, kTimestamp, kBody), kSignature);
}

TEST(ChannelSignature, F58_LineEndAtTheEndOfTheSecretIsNotPartOfIt) {
  for (const std::string end : {"\n", "\r\n"}) {
    EXPECT_EQ(bytes_of_key(kSecret + end), bytes_of_key(kSecret));
    EXPECT_EQ(bytes_of_key("plain secret" + end), "plain secret");
  }
  EXPECT_EQ(bytes_of_key("two\n\n"), "two\n") << "only one line end belongs to the file";
}

TEST(ChannelSignature, F58_EveryKeySignsDuringARotationNewestFirst) {
  const std::string both = webhook_signature({{SigningKey("newest"), key_of(kSecret)}}, kId, kTimestamp, kBody);
  const std::string newest = webhook_signature({{SigningKey("newest")}}, kId, kTimestamp, kBody);
  EXPECT_EQ(both, newest + " " + kSignature);
}

TEST(ChannelSignature, SignsIdTimestampAndTheExactBytes) {
  const std::vector<SigningKey> keys{key_of(kSecret)};
  EXPECT_NE(webhook_signature(keys, kId, kTimestamp + 1, kBody), kSignature);
  EXPECT_NE(webhook_signature(keys, "msg_other", kTimestamp, kBody), kSignature);
  EXPECT_NE(webhook_signature(keys, kId, kTimestamp, std::string(kBody) + " "), kSignature);
  EXPECT_NE(webhook_signature(keys, kId, kTimestamp, R"({"a":1e3,"b":"\/가"})"),
            webhook_signature(keys, kId, kTimestamp, R"({"a":1000,"b":"/가"})"));
}

TEST(ChannelSignature, OnlyThePrefixMeansBase64) {
  EXPECT_EQ(bytes_of_key("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  EXPECT_EQ(bytes_of_key("whsec_" + to_base64("0123456789abcdef01234567")), "0123456789abcdef01234567");
}

TEST(ChannelSignature, ASharedSecretHas24To64Bytes) {
  for (const std::size_t size : {24U, 64U})
    EXPECT_TRUE(signing_key("whsec_" + to_base64(std::string(size, 'k')))) << size;
  for (const std::size_t size : {1U, 23U, 65U}) {
    const auto key = signing_key("whsec_" + to_base64(std::string(size, 'k')));
    ASSERT_FALSE(key.has_value()) << size;
    EXPECT_EQ(key.error().code, Code::kConfig);
    EXPECT_NE(key.error().message.find("24 to 64"), std::string::npos);
  }
}

// RFC 8032 7.1, TEST 2.
TEST(ChannelSignature, APrivateKeySignsByEd25519) {
  const std::string seed = unhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const std::string point = unhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const std::string signature = unhex(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
      "b00d"
      "291612bb0c00");
  EXPECT_EQ(PrivateKey::from_ed25519(seed)->sign("r"), signature);
  for (const std::string& key : {seed, seed + point}) {
    const SigningKey signer = key_of("whsk_" + to_base64(key) + "\n");
    const std::string content = std::string(kId) + "." + std::to_string(kTimestamp) + "." + kBody;
    EXPECT_EQ(webhook_signature({{signer}}, kId, kTimestamp, kBody),
              "v1a," + to_base64(std::get<PrivateKey>(signer).sign(content)));
    EXPECT_EQ(webhook_signature({{key_of(kSecret), signer}}, kId, kTimestamp, kBody).find(kSignature), 0U);
  }
  for (const std::string& bad : {seed.substr(1), seed + seed, seed + point + "x"}) {
    const auto key = signing_key("whsk_" + to_base64(bad));
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code, Code::kConfig);
  }
}

TEST(ChannelSignature, F57_RefusesWhatIsNoKeyWithoutShowingIt) {
  for (const std::string secret :
       {"whsec_not*base64*SECRET", "whsec_", "whsk_SECRET", "whsk_", "whpk_SECRET", "", "\n"}) {
    const Result<SigningKey> key = signing_key(secret);
    ASSERT_FALSE(key.has_value()) << secret;
    EXPECT_EQ(key.error().code, Code::kConfig);
    EXPECT_EQ(key.error().message.find("SECRET"), std::string::npos);
  }
}

TEST(ChannelSignature, NoKeyNoSignature) { EXPECT_EQ(webhook_signature({}, kId, kTimestamp, kBody), ""); }

}  // namespace
}  // namespace notify

// Against published vectors: RFC 7515 A.2 and A.3 (signatures), RFC 5903 8.1 (agreement), and the test cases of AES-GCM.

#include "core/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/crypto.hpp"
#include "support/test_keys.hpp"
#include "support/verify.hpp"

namespace notify {
namespace {

using testing::HasSubstr;

std::string bytes(std::string_view base64url) {
  std::string out;
  EXPECT_TRUE(from_base64url(base64url, out)) << base64url;
  return out;
}

std::string unhex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

constexpr const char* kClaims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

TEST(Keys, Rfc7515A2IsSignedWithRs256) {
  const PrivateKey key = PrivateKey::from_pem(test::kRsaKey).value();
  EXPECT_EQ(key.kind(), PrivateKey::Kind::kRsa);
  EXPECT_EQ(
      to_base64url(key.sign("eyJhbGciOiJSUzI1NiJ9." + std::string(kClaims))),
      "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUA"
      "r7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO-"
      "-xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_"
      "IoypGlUPQGe77Rw");
}

TEST(Keys, Rfc7515A3IsSignedWithEs256) {
  const PrivateKey key = PrivateKey::from_pem(test::kEcKey).value();
  EXPECT_EQ(key.kind(), PrivateKey::Kind::kP256);
  EXPECT_EQ(key.public_point(), "\x04" + bytes(test::kEcX) + bytes(test::kEcY));
  const std::string input = "eyJhbGciOiJFUzI1NiJ9." + std::string(kClaims);
  // The RFC's own signature tells that the verifier is right.
  const std::string published =
      bytes("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q");
  EXPECT_TRUE(test::verify_es256(key.public_point(), input, published));
  for (int i = 0; i < 64; ++i) {  // R and S have leading zeros now and then
    const std::string signature = key.sign(input);
    ASSERT_EQ(signature.size(), 64U);
    EXPECT_TRUE(test::verify_es256(key.public_point(), input, signature));
    EXPECT_FALSE(test::verify_es256(key.public_point(), input + "x", signature));
  }
}

TEST(Keys, Rfc5903Agreement) {
  const PrivateKey ours =
      PrivateKey::from_p256(unhex("C88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433")).value();
  EXPECT_EQ(ours.public_point(),
            unhex("04DAD0B65394221CF9B051E1FECA5787D098DFE637FC90B9EF945D0C37725811805271A0461CDB8252D"
                  "61F1C456FA3E59AB1F45B33ACCF5F58389E0577B8990BB3"));
  const std::string theirs = unhex(
      "04D12DFB5289C8D4F81208B70270398C342296970A0BCCB74C736FC7554494BF6356FBF3CA366CC23E81578"
      "54C13C58D6AAC23F046ADA30F8353E74F33039872AB");
  EXPECT_EQ(ours.agree(theirs).value(), unhex("D6840F6B42F6EDAFD13116E0E12565202FEF8E9ECE7DCE03812464D04B9442DE"));
}

TEST(Keys, AgreementRefusesWhatIsNoPoint) {
  const PrivateKey key = PrivateKey::generate_p256();
  std::string off_the_curve = key.public_point();
  off_the_curve[64] = static_cast<char>(off_the_curve[64] ^ 1);
  for (const std::string& peer : {std::string(), std::string(65, '\0'), off_the_curve, key.public_point().substr(1)}) {
    EXPECT_FALSE(is_p256_point(peer));
    EXPECT_FALSE(key.agree(peer).has_value());
  }
  EXPECT_TRUE(is_p256_point(key.public_point()));
}

// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 1, 2 and 3.
TEST(Keys, Aes128GcmVectors) {
  const std::string zero(16, '\0');
  EXPECT_EQ(aes128_gcm_seal(zero, zero.substr(4), ""), unhex("58e2fccefa7e3061367f1d57a4e7455a"));
  EXPECT_EQ(aes128_gcm_seal(zero, zero.substr(4), zero),
            unhex("0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"));
  EXPECT_EQ(
      aes128_gcm_seal(unhex("feffe9928665731c6d6a8f9467308308"), unhex("cafebabefacedbaddecaf888"),
                      unhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2"
                            "449a6b525b16aedf5aa0de657ba637b391aafd255")),
      unhex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a"
            "0aac973d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4"));
}

TEST(Keys, WhatIsNoKeyIsRefusedWithoutBeingRepeated) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "no private key in PEM"},
      {"SECRET", "no private key in PEM"},
      {"-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n", "no private key in PEM"},
      {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nSECRET\n-----END ENCRYPTED PRIVATE KEY-----\n", "passphrase"},
      {test::kP384Key, "neither RSA nor on the curve P-256"},
  };
  for (const auto& [text, why] : cases) {
    const auto key = PrivateKey::from_pem(text);
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code, Code::kConfig);
    EXPECT_THAT(key.error().message, HasSubstr(why));
    EXPECT_EQ((key.error().message + key.error().hint).find("SECRET"), std::string::npos);
  }
  EXPECT_FALSE(PrivateKey::from_p256(std::string(32, '\0')).has_value());
  EXPECT_FALSE(PrivateKey::from_p256(std::string(32, '\xff')).has_value()) << "beyond the order of the curve";
  EXPECT_FALSE(PrivateKey::from_p256(std::string(31, '\x01')).has_value());
}

// --- public keys

// A key, a body, a time and a signature that SendGrid has published with its own verifier.
constexpr const char* kVendorsKey =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/"
    "7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6w"
    "EA3F+g==";
constexpr const char* kVendorsBody =
    R"([{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":)"
    R"("ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":)"
    R"("LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":)"
    R"("<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}])"
    "\r\n";
constexpr const char* kVendorsSignature =
    "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=";

TEST(Keys, AVendorsSignatureIsVerified) {
  std::string signature;
  ASSERT_TRUE(from_base64(kVendorsSignature, signature));
  const std::string signed_text = std::string("1600112502") + kVendorsBody;
  const std::string pem = "-----BEGIN PUBLIC KEY-----\n" + std::string(kVendorsKey) + "\n-----END PUBLIC KEY-----\n";
  for (const std::string& text : {std::string(kVendorsKey), pem}) {
    const auto key = PublicKey::from_text(text);
    ASSERT_TRUE(key.has_value()) << key.error().message;
    EXPECT_TRUE(key->verify(signed_text, signature));
    EXPECT_FALSE(key->verify(signed_text + " ", signature));
    EXPECT_FALSE(key->verify("1600112503" + std::string(kVendorsBody), signature));
    for (std::size_t i = 0; i < signature.size(); ++i) {
      std::string forged = signature;
      forged[i] = static_cast<char>(forged[i] ^ 1);
      EXPECT_FALSE(key->verify(signed_text, forged)) << i;
    }
    for (const std::string& none : {std::string(), std::string(64, '\0'), signature + "x", signature.substr(1)})
      EXPECT_FALSE(key->verify(signed_text, none));
  }
}

TEST(Keys, WhatIsNoPublicKeyOnP256IsRefused) {
  for (const char* text : {"", "SECRET", "AAAA", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"}) {
    const auto key = PublicKey::from_text(text);
    ASSERT_FALSE(key.has_value()) << text;
    EXPECT_EQ(key.error().code, Code::kConfig);
    EXPECT_THAT(key.error().message, HasSubstr("no public key"));
  }
  EXPECT_FALSE(PublicKey::from_text(test::kEcKey).has_value()) << "a private key";
  const auto other = PublicKey::from_text(test::kRsaPublicKey);
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("not on the curve P-256"));
}

TEST(Keys, TheKeyOfACertificateVerifies) {
  const auto key = PublicKey::from_certificate(test::kRsaCertificate);
  ASSERT_TRUE(key.has_value()) << key.error().message;
  const std::string signature = PrivateKey::from_pem(test::kRsaKey).value().sign("text");
  EXPECT_TRUE(key->verify("text", signature));
  EXPECT_FALSE(key->verify("another", signature));
  EXPECT_FALSE(key->verify("text", signature, PublicKey::Digest::kSha1));
  EXPECT_FALSE(key->verify("text", signature.substr(1)));
  for (const char* text : {"", "SECRET", test::kRsaKey, test::kRsaPublicKey}) {
    const auto none = PublicKey::from_certificate(text);
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().code, Code::kConfig);
    EXPECT_THAT(none.error().message, HasSubstr("no certificate"));
  }
}

TEST(Keys, Base64UrlVectors) {
  const std::pair<std::string, std::string> vectors[] = {
      {"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"\xfb\xff", "-_8"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(to_base64url(plain), encoded);
    EXPECT_EQ(bytes(encoded), plain);
  }
  EXPECT_EQ(bytes("Zg=="), "f");
  std::string out;
  for (const char* wrong : {"Z", "Zh", "a+b/", "Zg=", "Z g", "Zm9v\n"})
    EXPECT_FALSE(from_base64url(wrong, out)) << wrong;
}

TEST(Keys, RandomBytesAreNotTheSameTwice) {
  EXPECT_EQ(random_bytes(16).size(), 16U);
  EXPECT_NE(random_bytes(16), random_bytes(16));
}

}  // namespace
}  // namespace notify

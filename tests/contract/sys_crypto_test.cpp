// Against published vectors: FIPS 180-4, RFC 4231, RFC 4648.

#include "core/crypto.hpp"

#include <gtest/gtest.h>

#include <string>

namespace notify {
namespace {

std::string hex(const Sha256& digest) { return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()}); }

std::string sha256(std::string_view text) {
  Sha256Hasher hasher;
  hasher.update(text);
  return hex(hasher.finish());
}

TEST(Crypto, Sha256Vectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Crypto, Sha256InPieces) {
  const std::string text(1000, 'x');
  for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{999}}) {
    Sha256Hasher hasher;
    for (std::size_t at = 0; at < text.size(); at += size) hasher.update(std::string_view(text).substr(at, size));
    EXPECT_EQ(hex(hasher.finish()), sha256(text)) << size;
  }
}

TEST(Crypto, HmacVectors) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex(hmac_sha256("", "")), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Crypto, Base64Vectors) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(to_base64(plain), encoded);
    std::string bytes = "before";
    EXPECT_TRUE(from_base64(encoded, bytes)) << encoded;
    EXPECT_EQ(bytes, plain);
  }
}

TEST(Crypto, Base64OfEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  std::string back;
  ASSERT_TRUE(from_base64(to_base64(all), back));
  EXPECT_EQ(back, all);
}

TEST(Crypto, WhatIsNoBase64) {
  std::string bytes;
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "====", "=", "Z===", "Zg==Zg==", "Z g=", "Zm9v\n", "Zm9-", "Zm9_",
                           "Zh==", "Zm9=", "Zm\xc3\xa9v"})
    EXPECT_FALSE(from_base64(text, bytes)) << text;
}

TEST(Crypto, Hex) { EXPECT_EQ(to_hex(std::string_view("\x00\x7f\x80\xff", 4)), "007f80ff"); }

}  // namespace
}  // namespace notify

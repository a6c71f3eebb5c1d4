#include "support/verify.hpp"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <memory>

#include "core/crypto.hpp"
#include "core/keys.hpp"

namespace notify::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype([](EVP_PKEY* key) { EVP_PKEY_free(key); })>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* context) { EVP_MD_CTX_free(context); })>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype([](EVP_CIPHER_CTX* context) { EVP_CIPHER_CTX_free(context); })>;

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Key public_key(std::string_view point) {
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  std::string curve = SN_X9_62_prime256v1;
  std::string copy(point);
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, curve.data(), 0),
                             OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, copy.data(), copy.size()),
                             OSSL_PARAM_construct_end()};
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context);
  EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  EVP_PKEY_CTX_free(context);
  return Key(key);
}

bool verify(EVP_PKEY* key, std::string_view message, std::string_view signature) {
  const Digest context(EVP_MD_CTX_new());
  return key != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(message), message.size()) == 1;
}

std::string mac(std::string_view key, std::string_view message) {
  const Sha256 digest = hmac_sha256(key, message);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

bool verify_es256(std::string_view point, std::string_view message, std::string_view signature) {
  if (signature.size() != 64) return false;
  ECDSA_SIG* parts = ECDSA_SIG_new();
  ECDSA_SIG_set0(parts, BN_bin2bn(bytes(signature), 32, nullptr), BN_bin2bn(bytes(signature) + 32, 32, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parts, &der);
  ECDSA_SIG_free(parts);
  const std::string encoded(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return verify(public_key(point).get(), message, encoded);
}

bool verify_rs256(std::string_view private_pem, std::string_view message, std::string_view signature) {
  BIO* memory = BIO_new_mem_buf(private_pem.data(), static_cast<int>(private_pem.size()));
  const Key key(PEM_read_bio_PrivateKey(memory, nullptr, nullptr, nullptr));
  BIO_free(memory);
  return verify(key.get(), message, signature);
}

std::optional<std::string> open_push(std::string_view body, std::string_view scalar, std::string_view auth) {
  if (body.size() < 86 + 17 || body[20] != 65) return std::nullopt;
  const PrivateKey browser = PrivateKey::from_p256(scalar).value();
  const std::string_view salt = body.substr(0, 16);
  const std::string_view sender = body.substr(21, 65);
  const auto shared = browser.agree(sender);
  if (!shared) return std::nullopt;
  std::string info("WebPush: info\0", 14);
  info.append(browser.public_point()).append(sender).append(1, '\x01');
  const std::string random = mac(salt, mac(mac(auth, *shared), info));
  const std::string key = mac(random, std::string("Content-Encoding: aes128gcm\0\x01", 29)).substr(0, 16);
  const std::string nonce = mac(random, std::string("Content-Encoding: nonce\0\x01", 25)).substr(0, 12);

  const std::string_view sealed = body.substr(86, body.size() - 86 - 16);
  std::string tag(body.substr(body.size() - 16));
  std::string plain(sealed.size(), '\0');
  const Cipher context(EVP_CIPHER_CTX_new());
  int size = 0;
  EVP_DecryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, bytes(key), bytes(nonce));
  EVP_DecryptUpdate(context.get(), reinterpret_cast<unsigned char*>(plain.data()), &size, bytes(sealed),
                    static_cast<int>(sealed.size()));
  EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
  if (EVP_DecryptFinal_ex(context.get(), nullptr, &size) != 1) return std::nullopt;
  if (plain.empty() || plain.back() != '\x02') return std::nullopt;
  plain.pop_back();
  return plain;
}

}  // namespace notify::test

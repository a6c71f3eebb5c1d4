#include "jwt_check.hpp"

#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <stdexcept>

#include "openssl_bytes.hpp"

namespace stub {

namespace {

// R and S to what OpenSSL reads.
std::string to_der(std::string_view raw) {
  ECDSA_SIG* signature = ECDSA_SIG_new();
  ECDSA_SIG_set0(signature, BN_bin2bn(bytes(raw), 32, nullptr), BN_bin2bn(bytes(raw) + 32, 32, nullptr));
  unsigned char* out = nullptr;
  const int size = i2d_ECDSA_SIG(signature, &out);
  std::string der(reinterpret_cast<char*>(out), static_cast<std::size_t>(size));
  OPENSSL_free(out);
  ECDSA_SIG_free(signature);
  return der;
}

bool verifies(EVP_PKEY* key, std::string_view message, std::string_view signature) {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool good = EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key) == 1 &&
                    EVP_DigestVerify(context, bytes(signature), signature.size(), bytes(message), message.size()) == 1;
  EVP_MD_CTX_free(context);
  return good;
}

}  // namespace

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    group = group << 6U | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(group >> static_cast<unsigned>(bits) & 0xffU);
  }
  return out;
}

JwtCheck::JwtCheck(const std::string& pem_file) {
  BIO* file = BIO_new_file(pem_file.c_str(), "r");
  if (file == nullptr) throw std::invalid_argument("--vendor: cannot read " + pem_file);
  key_.reset(PEM_read_bio_PrivateKey(file, nullptr, nullptr, nullptr), [](EVP_PKEY* key) { EVP_PKEY_free(key); });
  BIO_free(file);
  if (key_ == nullptr) throw std::invalid_argument("--vendor: no private key in " + pem_file);
  elliptic_ = EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_EC;
}

JwtCheck JwtCheck::of_point(std::string_view point) {
  JwtCheck check;
  check.elliptic_ = true;
  const std::string group = "prime256v1";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("group", const_cast<char*>(group.c_str()), group.size()),
                             OSSL_PARAM_construct_octet_string("pub", const_cast<char*>(point.data()), point.size()),
                             OSSL_PARAM_construct_end()};
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata_init(context) == 1) EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  EVP_PKEY_CTX_free(context);
  check.key_.reset(key, [](EVP_PKEY* old) { EVP_PKEY_free(old); });
  return check;
}

std::optional<Token> JwtCheck::read(std::string_view token) const {
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const auto header = base64url_decode(token.substr(0, first));
  const auto claims = base64url_decode(token.substr(first + 1, last - first - 1));
  const auto signature = base64url_decode(token.substr(last + 1));
  if (key_ == nullptr || !header || !claims || !signature || (elliptic_ && signature->size() != 64))
    return std::nullopt;
  if (!verifies(key_.get(), token.substr(0, last), elliptic_ ? to_der(*signature) : *signature)) return std::nullopt;
  Token read{nlohmann::json::parse(*header, nullptr, false), nlohmann::json::parse(*claims, nullptr, false)};
  if (!read.header.is_object() || !read.claims.is_object()) return std::nullopt;
  if (read.header.value("alg", "") != (elliptic_ ? "ES256" : "RS256")) return std::nullopt;
  return read;
}

}  // namespace stub

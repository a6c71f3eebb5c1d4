#include "core/keys.hpp"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/crypto.hpp"

namespace notify {
namespace {

constexpr std::size_t kScalar = 32;
constexpr std::size_t kPoint = 65;
constexpr std::size_t kTag = 16;
constexpr int kShortestRsa = 2048;

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* pointer) const noexcept {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, FreeWith<BN_clear_free>>;
using Group = std::unique_ptr<EC_GROUP, FreeWith<EC_GROUP_free>>;
using Point = std::unique_ptr<EC_POINT, FreeWith<EC_POINT_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, FreeWith<ECDSA_SIG_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, FreeWith<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, FreeWith<OSSL_PARAM_free>>;
using Memory = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;

const unsigned char* bytes(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes(std::string& text) noexcept { return reinterpret_cast<unsigned char*>(text.data()); }

// OpenSSL would ask on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Group p256() { return Group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)); }

// With the private half when there is one.
Key p256_key(std::string_view point, const BIGNUM* scalar) {
  const Builder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  if (scalar != nullptr) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar);
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  const int selection = scalar != nullptr ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  const bool made = EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, selection, parameters.get()) == 1;
  ERR_clear_error();
  return Key(made ? key : nullptr);
}

bool on_p256(EVP_PKEY* key) {
  std::array<char, 64> name{};
  std::size_t length = 0;
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, name.data(), name.size(), &length) == 1 &&
         std::string_view(name.data(), length) == SN_X9_62_prime256v1;
}

// ASN.1 to R and S (RFC 7518 3.4).
std::string raw_signature(const std::string& der) {
  const unsigned char* at = bytes(std::string_view(der));
  const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  ASSERT(signature != nullptr);
  std::string raw(2 * kScalar, '\0');
  ASSERT(BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), bytes(raw), kScalar) == kScalar);
  ASSERT(BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), bytes(raw) + kScalar, kScalar) == kScalar);
  return raw;
}

}  // namespace

struct PrivateKey::Impl {
  Key key;
  Kind kind;
};

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<std::size_t>(pem.size(), 1U << 20U))));
  Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, &no_passphrase, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    const bool locked = pem.find("ENCRYPTED") != std::string_view::npos;
    return fail(Code::kConfig, locked ? "the private key is locked with a passphrase" : "this is no private key in PEM",
                locked ? "take the passphrase away: openssl pkcs8 -in KEY -out KEY.plain"
                       : "it begins with -----BEGIN PRIVATE KEY----- and ends with its counterpart");
  }
  if (on_p256(key.get())) return PrivateKey(std::make_shared<const Impl>(Impl{std::move(key), Kind::kP256}));
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA)
    return fail(Code::kConfig, "the private key is neither RSA nor on the curve P-256");
  if (EVP_PKEY_get_bits(key.get()) < kShortestRsa) return fail(Code::kConfig, "the RSA key has fewer than 2048 bits");
  return PrivateKey(std::make_shared<const Impl>(Impl{std::move(key), Kind::kRsa}));
}

Result<PrivateKey> PrivateKey::from_p256(std::string_view scalar) {
  const Group group = p256();
  const Number number(BN_bin2bn(bytes(scalar), static_cast<int>(scalar.size()), nullptr));
  if (scalar.size() != kScalar || BN_is_zero(number.get()) ||
      BN_cmp(number.get(), EC_GROUP_get0_order(group.get())) >= 0)
    return fail(Code::kConfig, "this is no private key on the curve P-256");
  const Point point(EC_POINT_new(group.get()));
  std::string encoded(kPoint, '\0');
  ASSERT(EC_POINT_mul(group.get(), point.get(), number.get(), nullptr, nullptr, nullptr) == 1);
  ASSERT(EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, bytes(encoded), kPoint, nullptr) ==
         kPoint);
  Key key = p256_key(encoded, number.get());
  ASSERT(key != nullptr);
  return PrivateKey(std::make_shared<const Impl>(Impl{std::move(key), Kind::kP256}));
}

PrivateKey PrivateKey::generate_p256() {
  Key key(EVP_EC_gen(SN_X9_62_prime256v1));
  ASSERT(key != nullptr);
  return PrivateKey(std::make_shared<const Impl>(Impl{std::move(key), Kind::kP256}));
}

Result<PrivateKey> PrivateKey::from_ed25519(std::string_view text) {
  const std::string_view scalar = text.substr(0, kScalar);
  if (text.size() != kScalar && text.size() != 2 * kScalar)
    return fail(Code::kConfig, "an Ed25519 key has 32 bytes, or 64 with its public half");
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes(scalar), scalar.size()));
  ASSERT(key != nullptr);
  std::string point(kScalar, '\0');
  std::size_t size = point.size();
  ASSERT(EVP_PKEY_get_raw_public_key(key.get(), bytes(point), &size) == 1 && size == kScalar);
  if (text.size() > kScalar && text.substr(kScalar) != point)
    return fail(Code::kConfig, "the two halves of the Ed25519 key do not belong together");
  return PrivateKey(std::make_shared<const Impl>(Impl{std::move(key), Kind::kEd25519}));
}

PrivateKey::Kind PrivateKey::kind() const noexcept { return impl_->kind; }

std::string PrivateKey::sign(std::string_view message) const {
  const DigestContext context(EVP_MD_CTX_new());
  std::size_t size = 0;
  const EVP_MD* const digest = impl_->kind == Kind::kEd25519 ? nullptr : EVP_sha256();  // Ed25519 has its own
  ASSERT(EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, impl_->key.get()) == 1);
  ASSERT(EVP_DigestSign(context.get(), nullptr, &size, bytes(message), message.size()) == 1);
  std::string signature(size, '\0');
  ASSERT(EVP_DigestSign(context.get(), bytes(signature), &size, bytes(message), message.size()) == 1);
  signature.resize(size);
  return impl_->kind == Kind::kP256 ? raw_signature(signature) : signature;
}

std::string PrivateKey::public_point() const {
  ASSERT(impl_->kind == Kind::kP256);
  Number x;
  Number y;
  for (const auto& [name, number] :
       {std::pair{OSSL_PKEY_PARAM_EC_PUB_X, &x}, std::pair{OSSL_PKEY_PARAM_EC_PUB_Y, &y}}) {
    BIGNUM* value = nullptr;
    ASSERT(EVP_PKEY_get_bn_param(impl_->key.get(), name, &value) == 1);
    number->reset(value);
  }
  std::string point(kPoint, '\0');
  point[0] = 4;  // SEC 1, 2.3.3: uncompressed
  ASSERT(BN_bn2binpad(x.get(), bytes(point) + 1, kScalar) == kScalar);
  ASSERT(BN_bn2binpad(y.get(), bytes(point) + 1 + kScalar, kScalar) == kScalar);
  return point;
}

Result<std::string> PrivateKey::agree(std::string_view peer) const {
  ASSERT(impl_->kind == Kind::kP256);
  if (!is_p256_point(peer)) return fail(Code::kBadInput, "this is no public key on the curve P-256");
  const Key other = p256_key(peer, nullptr);
  ASSERT(other != nullptr);
  const KeyContext context(EVP_PKEY_CTX_new(impl_->key.get(), nullptr));
  std::string secret(kScalar, '\0');
  std::size_t size = secret.size();
  ASSERT(EVP_PKEY_derive_init(context.get()) == 1 && EVP_PKEY_derive_set_peer(context.get(), other.get()) == 1);
  ASSERT(EVP_PKEY_derive(context.get(), bytes(secret), &size) == 1 && size == kScalar);
  return secret;
}

// --- public keys

struct PublicKey::Impl {
  Key key;
};

Result<PublicKey> PublicKey::from_text(std::string_view text) {
  constexpr const char* kHint = "it is PEM that begins with -----BEGIN PUBLIC KEY-----, or its base64 in one line";
  std::string der;
  Key key;
  if (text.find("-----BEGIN") != std::string_view::npos) {
    const Memory memory(BIO_new_mem_buf(text.data(), static_cast<int>(std::min<std::size_t>(text.size(), 1U << 20U))));
    key.reset(PEM_read_bio_PUBKEY(memory.get(), nullptr, &no_passphrase, nullptr));
  } else if (from_base64(text, der)) {
    const unsigned char* at = bytes(std::string_view(der));
    key.reset(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
    if (at != bytes(std::string_view(der)) + der.size()) key.reset();
  }
  ERR_clear_error();
  if (key == nullptr) return fail(Code::kConfig, "this is no public key", kHint);
  if (!on_p256(key.get())) return fail(Code::kConfig, "the public key is not on the curve P-256");
  return PublicKey(std::make_shared<const Impl>(Impl{std::move(key)}));
}

Result<PublicKey> PublicKey::from_certificate(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<std::size_t>(pem.size(), 1U << 20U))));
  const Certificate certificate(PEM_read_bio_X509(memory.get(), nullptr, &no_passphrase, nullptr));
  Key key(certificate != nullptr ? X509_get_pubkey(certificate.get()) : nullptr);
  ERR_clear_error();
  if (key == nullptr)
    return fail(Code::kConfig, "this is no certificate in PEM", "it begins with -----BEGIN CERTIFICATE-----");
  const bool rsa = EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA && EVP_PKEY_get_bits(key.get()) >= kShortestRsa;
  if (!rsa && !on_p256(key.get()))
    return fail(Code::kConfig, "the certificate's key is neither RSA with 2048 bits or more nor on the curve P-256");
  return PublicKey(std::make_shared<const Impl>(Impl{std::move(key)}));
}

bool PublicKey::verify(std::string_view message, std::string_view signature, Digest digest) const {
  const DigestContext context(EVP_MD_CTX_new());
  const EVP_MD* const hash = digest == Digest::kSha1 ? EVP_sha1() : EVP_sha256();
  ASSERT(EVP_DigestVerifyInit(context.get(), nullptr, hash, nullptr, impl_->key.get()) == 1);
  const int verified =
      EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(message), message.size());
  ERR_clear_error();
  return verified == 1;
}

bool is_p256_point(std::string_view point) {
  if (point.size() != kPoint || point[0] != 4) return false;
  const Group group = p256();
  const Point decoded(EC_POINT_new(group.get()));
  const bool valid = EC_POINT_oct2point(group.get(), decoded.get(), bytes(point), point.size(), nullptr) == 1;
  ERR_clear_error();
  return valid;
}

std::string aes128_gcm_seal(std::string_view key, std::string_view nonce, std::string_view plaintext) {
  ASSERT(key.size() == 16 && nonce.size() == 12);
  const CipherContext context(EVP_CIPHER_CTX_new());
  std::string sealed(plaintext.size() + kTag, '\0');
  int written = 0;
  int last = 0;
  ASSERT(EVP_EncryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, bytes(key), bytes(nonce)) == 1);
  ASSERT(EVP_EncryptUpdate(context.get(), bytes(sealed), &written, bytes(plaintext),
                           static_cast<int>(plaintext.size())) == 1);
  ASSERT(EVP_EncryptFinal_ex(context.get(), bytes(sealed) + written, &last) == 1);
  ASSERT(static_cast<std::size_t>(written + last) == plaintext.size());
  ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTag, bytes(sealed) + plaintext.size()) == 1);
  return sealed;
}

std::string random_bytes(std::size_t count) {
  std::string random(count, '\0');
  ASSERT(RAND_bytes(bytes(random), static_cast<int>(count)) == 1);
  return random;
}

std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.resize(text.find_last_not_of('=') + 1);
  return text;
}

bool from_base64url(std::string_view text, std::string& bytes) {
  if (text.find_first_of("+/") != std::string_view::npos) return false;
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  if (standard.empty() || standard.back() != '=') standard.append((4 - standard.size() % 4) % 4, '=');
  return from_base64(standard, bytes);
}

}  // namespace notify

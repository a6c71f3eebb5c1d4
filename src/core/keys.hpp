#pragma once

// Keys that sign and agree, and what is made with them. Declared here, implemented in sys/keys.cpp with OpenSSL.
// Thread-safe; no I/O.

#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

// A private key on P-256, an RSA key or an Ed25519 key. Copies share it. Nothing of it can be printed.
class PrivateKey {
 public:
  enum class Kind { kP256, kRsa, kEd25519 };

  // PKCS#8 ("PRIVATE KEY", as Apple and Google hand them out) or the older forms, without a passphrase. Errors (kConfig)
  // say what is wrong and hold nothing of the text. RSA keys have 2048 bits or more.
  static Result<PrivateKey> from_pem(std::string_view pem);
  // The 32 bytes of a private key on P-256, as web push tools write them.
  static Result<PrivateKey> from_p256(std::string_view scalar);
  static PrivateKey generate_p256();
  // The 32 bytes of a private Ed25519 key (RFC 8032 5.1.5), with or without the 32 of its public key behind.
  static Result<PrivateKey> from_ed25519(std::string_view text);

  Kind kind() const noexcept;

  // ES256 (RFC 7518 3.4: R and S, 64 bytes) or RS256 (RFC 7518 3.3: PKCS#1 v1.5), with SHA-256, or Ed25519 (RFC 8032, 64
  // bytes), by the key's kind.
  std::string sign(std::string_view message) const;

  // Only for P-256: the public key, 65 bytes, uncompressed.
  std::string public_point() const;
  // Only for P-256: the x coordinate both sides agree on, 32 bytes. Error (kBadInput): `peer` is no point of the curve.
  Result<std::string> agree(std::string_view peer) const;

 private:
  struct Impl;
  explicit PrivateKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// A public key on P-256, or an RSA key, by which others' signatures are verified. Copies share it.
class PublicKey {
 public:
  enum class Digest { kSha256, kSha1 };

  // One on P-256: SubjectPublicKeyInfo (RFC 5280 4.1) in PEM ("PUBLIC KEY"), or its base64 alone, as vendors show it. Errors
  // (kConfig) say what is wrong.
  static Result<PublicKey> from_text(std::string_view text);
  // That of a certificate in PEM, which the caller has from whom they trust: neither its issuer nor its dates are looked at.
  // Errors (kConfig).
  static Result<PublicKey> from_certificate(std::string_view pem);

  // ECDSA (the signature is ASN.1, RFC 3279 2.2.3) or RSA (PKCS#1 v1.5), by the key's kind. What is no signature at all is
  // none of this key's.
  bool verify(std::string_view message, std::string_view signature, Digest digest = Digest::kSha256) const;

 private:
  struct Impl;
  explicit PublicKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Whether these 65 bytes are an uncompressed point of P-256.
bool is_p256_point(std::string_view point);

// AES-128-GCM (RFC 5116): the ciphertext with its 16-byte tag behind. key: 16 bytes; nonce: 12 bytes, once per key.
std::string aes128_gcm_seal(std::string_view key, std::string_view nonce, std::string_view plaintext);

// From the operating system, fit for keys and salts.
std::string random_bytes(std::size_t count);

// RFC 4648 5, without padding.
std::string to_base64url(std::string_view bytes);
// Padding is allowed at its place. False: not base64url.
bool from_base64url(std::string_view text, std::string& bytes);

}  // namespace notify

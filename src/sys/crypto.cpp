// The low-level SHA256_* functions and not EVP: the first EVP call of a process fetches its algorithm through OpenSSL's
// provider machinery, which costs a short command more than all its hashing (measured: see README.md of this directory).
#define OPENSSL_SUPPRESS_DEPRECATED

#include "core/crypto.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace notify {
namespace {

constexpr std::size_t kShaBlock = 64;  // of SHA-256, in bytes
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

std::string_view as_text(const Sha256& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

SHA256_CTX* context(std::array<std::byte, 128>& state) noexcept {
  return std::launder(reinterpret_cast<SHA256_CTX*>(state.data()));
}

}  // namespace

Sha256Hasher::Sha256Hasher() {
  static_assert(sizeof(SHA256_CTX) <= sizeof state_ && alignof(SHA256_CTX) <= 8);
  SHA256_Init(new (state_.data()) SHA256_CTX);
}

void Sha256Hasher::update(std::string_view bytes) { SHA256_Update(context(state_), bytes.data(), bytes.size()); }

Sha256 Sha256Hasher::finish() {
  Sha256 digest{};
  SHA256_Final(digest.data(), context(state_));
  return digest;
}

// RFC 2104.
Sha256 hmac_sha256(std::string_view key, std::string_view message) {
  std::array<char, kShaBlock> block{};
  if (key.size() > kShaBlock) {
    Sha256Hasher shorten;
    shorten.update(key);
    const Sha256 digest = shorten.finish();
    std::memcpy(block.data(), digest.data(), digest.size());
  } else if (!key.empty()) {
    std::memcpy(block.data(), key.data(), key.size());
  }
  for (char& c : block) c = static_cast<char>(c ^ 0x36);
  Sha256Hasher inner;
  inner.update({block.data(), block.size()});
  inner.update(message);
  const Sha256 inside = inner.finish();
  for (char& c : block) c = static_cast<char>(c ^ 0x36 ^ 0x5c);
  Sha256Hasher outer;
  outer.update({block.data(), block.size()});
  outer.update(as_text(inside));
  return outer.finish();
}

std::string hmac_sha1(std::string_view key, std::string_view message) {
  std::array<char, kShaBlock> block{};
  const auto sha1 = [](std::string_view first, std::string_view second) {
    SHA_CTX context{};
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    SHA1_Init(&context);
    SHA1_Update(&context, first.data(), first.size());
    SHA1_Update(&context, second.data(), second.size());
    SHA1_Final(digest.data(), &context);
    return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
  };
  const std::string shorter = key.size() > kShaBlock ? sha1(key, {}) : std::string(key);
  std::copy(shorter.begin(), shorter.end(), block.begin());
  for (char& c : block) c = static_cast<char>(c ^ 0x36);
  const std::string inside = sha1({block.data(), block.size()}, message);
  for (char& c : block) c = static_cast<char>(c ^ 0x36 ^ 0x5c);
  return sha1({block.data(), block.size()}, inside);
}

bool same_secret(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8U | (j < have ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    text += kBase64[group >> 18U & 63U];
    text += kBase64[group >> 12U & 63U];
    text += have > 1 ? kBase64[group >> 6U & 63U] : '=';
    text += have > 2 ? kBase64[group & 63U] : '=';
  }
  return text;
}

bool from_base64(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.size() % 4 != 0) return false;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const int value = pad ? 0 : base64_value(text[i]);
    if (value < 0) return false;
    group = group << 6U | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const unsigned shift : {16U, 8U, 0U}) bytes += static_cast<char>(group >> shift & 0xffU);
    group = 0;
  }
  // Bits under the padding must be zero, or two texts would mean the same bytes.
  for (std::size_t i = 0; i < padding; ++i) {
    if (bytes.back() != '\0') return false;
    bytes.pop_back();
  }
  return true;
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace notify

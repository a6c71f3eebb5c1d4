#include "core/fingerprint.hpp"

#include <endian.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/crypto.hpp"
#include "core/payload.hpp"

namespace notify {
namespace {

// Part of the hash: a change of what goes in, or how, must change this, and needs a migration of stored rows.
constexpr std::string_view kVersion = "notifyctl fingerprint 1";

// Short pieces are gathered, because hashing them one by one costs more than the hash.
class FieldHasher {
 public:
  void number(std::uint64_t value) {
    const std::uint64_t little_endian = htole64(value);
    add({reinterpret_cast<const char*>(&little_endian), sizeof little_endian});
  }

  void field(std::string_view bytes) {
    number(bytes.size());
    add(bytes);
  }

  std::string finish() {
    flush();
    const Sha256 digest = hasher_.finish();
    return {digest.begin(), digest.end()};
  }

 private:
  void add(std::string_view bytes) {
    if (bytes.size() > gathered_.size() - size_) flush();
    if (bytes.size() > gathered_.size()) return hasher_.update(bytes);
    std::copy(bytes.begin(), bytes.end(), gathered_.data() + size_);
    size_ += bytes.size();
  }

  void flush() {
    hasher_.update({gathered_.data(), size_});
    size_ = 0;
  }

  Sha256Hasher hasher_{};
  std::array<char, 1024> gathered_;
  std::size_t size_ = 0;
};

}  // namespace

std::string fingerprint(std::string_view channel, std::string_view recipient, std::string_view kind,
                        std::string_view category, const Payload& payload) {
  FieldHasher hash;
  hash.field(kVersion);
  for (const std::string_view field : {channel, recipient, kind, category}) hash.field(field);
  for (const std::string* part :
       {&payload.subject, &payload.body, &payload.html, &payload.alt, &payload.data, &payload.template_name})
    hash.field(*part);
  hash.number(payload.vars.size());
  for (const auto& [name, value] : payload.vars) {
    hash.field(name);
    hash.field(value);
  }
  return hash.finish();
}

Result<std::string> fingerprint(std::string_view channel, std::string_view recipient, std::string_view kind,
                                std::string_view category, std::string_view payload_json) {
  TRY_ASSIGN(const Payload payload, parse_payload(payload_json));
  return fingerprint(channel, recipient, kind, category, payload);
}

}  // namespace notify

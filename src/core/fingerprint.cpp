#include "core/fingerprint.hpp"

#include <array>
#include <cstdint>

#include "core/crypto.hpp"
#include "core/payload.hpp"

namespace notify {
namespace {

// Part of the hash: a change of what goes in, or how, must change this, and needs a migration of stored rows.
constexpr std::string_view kVersion = "notifyctl fingerprint 1";

class FieldHasher {
 public:
  void number(std::uint64_t value) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    hasher_.update({bytes.data(), bytes.size()});
  }

  void field(std::string_view bytes) {
    number(bytes.size());
    hasher_.update(bytes);
  }

  std::string finish() {
    const Sha256 digest = hasher_.finish();
    return {digest.begin(), digest.end()};
  }

 private:
  Sha256Hasher hasher_{};
};

}  // namespace

std::string fingerprint(std::string_view channel, std::string_view recipient, std::string_view kind,
                        std::string_view category, const Payload& payload) {
  FieldHasher hash;
  hash.field(kVersion);
  for (const std::string_view field : {channel, recipient, kind, category}) hash.field(field);
  for (const std::string* part : {&payload.subject, &payload.body, &payload.html, &payload.alt, &payload.data,
                                  &payload.template_name})
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

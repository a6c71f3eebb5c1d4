#include "core/uuid.hpp"

#include <cstdint>

#include "core/crypto.hpp"

namespace notify {

std::string uuid_of(std::string_view name) {
  Sha256Hasher hasher;
  hasher.update(name);
  Sha256 digest = hasher.finish();
  digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0FU) | 0x80U);
  digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3FU) | 0x80U);
  std::string uuid = to_hex({reinterpret_cast<const char*>(digest.data()), 16});
  for (const std::size_t at : {8U, 13U, 18U, 23U}) uuid.insert(at, 1, '-');
  return uuid;
}

}  // namespace notify

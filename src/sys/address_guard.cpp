#include "sys/address_guard.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace notify {
namespace {

struct Block4 {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t ip4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  return a << 24U | b << 16U | c << 8U | d;
}

// IANA's registry of special-purpose addresses (RFC 6890), and multicast.
constexpr std::array kBlocks4{
    Block4{ip4(0, 0, 0, 0), 8},        // this network
    Block4{ip4(10, 0, 0, 0), 8},       // private
    Block4{ip4(100, 64, 0, 0), 10},    // carriers' NAT
    Block4{ip4(127, 0, 0, 0), 8},      // loopback
    Block4{ip4(169, 254, 0, 0), 16},   // link-local, cloud metadata
    Block4{ip4(172, 16, 0, 0), 12},    // private
    Block4{ip4(192, 0, 0, 0), 24},     // protocol assignments
    Block4{ip4(192, 0, 2, 0), 24},     // documentation
    Block4{ip4(192, 88, 99, 0), 24},   // 6to4 relays
    Block4{ip4(192, 168, 0, 0), 16},   // private
    Block4{ip4(198, 18, 0, 0), 15},    // benchmarks
    Block4{ip4(198, 51, 100, 0), 24},  // documentation
    Block4{ip4(203, 0, 113, 0), 24},   // documentation
    Block4{ip4(224, 0, 0, 0), 4},      // multicast
    Block4{ip4(240, 0, 0, 0), 4},      // reserved, broadcast
};

bool private4(std::uint32_t address) noexcept {
  for (const Block4& block : kBlocks4)
    if ((address ^ block.address) >> (32 - block.bits) == 0) return true;
  return false;
}

using Bytes16 = std::array<std::uint8_t, 16>;

struct Block6 {
  Bytes16 address;
  int bits;
};

constexpr std::array kBlocks6{
    Block6{{0x01, 0x00}, 64},                          // discard only: 100::/64
    Block6{{0x20, 0x01, 0x00}, 23},                    // protocol assignments, Teredo among them: 2001::/23
    Block6{{0x20, 0x01, 0x0d, 0xb8}, 32},              // documentation
    Block6{{0x3f, 0xff}, 20},                          // documentation: 3fff::/20
    Block6{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48},  // local NAT64: 64:ff9b:1::/48
    Block6{{0xfc}, 7},                                 // unique local
    Block6{{0xfe, 0x80}, 10},                          // link-local
    Block6{{0xfe, 0xc0}, 10},                          // site-local, deprecated
    Block6{{0xff}, 8},                                 // multicast
};

bool same_prefix(const Bytes16& a, const Bytes16& b, int bits) noexcept {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

std::uint32_t inner4(const Bytes16& bytes, std::size_t at) noexcept {
  return ip4(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}

bool private6(const Bytes16& bytes) noexcept {
  constexpr Bytes16 kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // ::ffff:0:0/96
  constexpr Bytes16 kNat64{0x00, 0x64, 0xff, 0x9b};                     // 64:ff9b::/96
  constexpr Bytes16 kSixToFour{0x20, 0x02};                             // 2002::/16
  // The lowest /96 holds ::, ::1 and the IPv4-compatible form, all of them never public.
  if (same_prefix(bytes, Bytes16{}, 96)) return true;
  if (same_prefix(bytes, kMapped, 96) || same_prefix(bytes, kNat64, 96)) return private4(inner4(bytes, 12));
  if (same_prefix(bytes, kSixToFour, 16)) return private4(inner4(bytes, 2));
  for (const Block6& block : kBlocks6)
    if (same_prefix(bytes, block.address, block.bits)) return true;
  return false;
}

}  // namespace

bool is_private_address(const sockaddr* address) noexcept {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    return private4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    Bytes16 bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return private6(bytes);
  }
  return true;
}

bool is_private_address(const std::string& text) noexcept {
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return private4(ntohl(v4.s_addr));
  Bytes16 bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return private6(bytes);
  return true;
}

}  // namespace notify

#include "sys/address_guard.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

namespace notify {
namespace {

// Through both entries: as text and as a socket address.
bool is_private(const std::string& text) {
  sockaddr_storage storage{};
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr = v4;
    std::memcpy(&storage, &address, sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &address.sin6_addr), 1) << text;
    std::memcpy(&storage, &address, sizeof address);
  }
  const bool by_address = is_private_address(reinterpret_cast<const sockaddr*>(&storage));
  EXPECT_EQ(is_private_address(text), by_address) << text;
  return by_address;
}

TEST(AddressGuard, F33_PrivateOnes) {
  for (const char* text : {"0.0.0.0",
                           "0.255.255.255",
                           "10.0.0.0",
                           "10.255.255.255",
                           "100.64.0.0",
                           "100.127.255.255",
                           "127.0.0.1",
                           "127.255.255.255",
                           "169.254.0.0",
                           "169.254.169.254",
                           "172.16.0.0",
                           "172.31.255.255",
                           "192.0.0.1",
                           "192.0.2.1",
                           "192.88.99.1",
                           "192.168.0.0",
                           "192.168.255.255",
                           "198.18.0.0",
                           "198.19.255.255",
                           "198.51.100.1",
                           "203.0.113.1",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "::127.0.0.1",
                           "::8.8.8.8",
                           "::ffff:127.0.0.1",
                           "::ffff:10.1.2.3",
                           "64:ff9b::a9fe:a9fe",
                           "64:ff9b::127.0.0.1",
                           "64:ff9b:1::1",
                           "100::1",
                           "2001::1",
                           "2001:db8::1",
                           "2001:db8:ffff::",
                           "2002:7f00:1::1",
                           "2002:a00:1::",
                           "2002:a9fe:a9fe::",
                           "3fff::1",
                           "fc00::1",
                           "fdff::1",
                           "fe80::1",
                           "febf::1",
                           "fec0::1",
                           "ff02::1",
                           "ffff::"})
    EXPECT_TRUE(is_private(text)) << text;
}

TEST(AddressGuard, PublicOnesAndTheEdgesOfTheBlocks) {
  for (const char* text : {"1.0.0.0",
                           "8.8.8.8",
                           "9.255.255.255",
                           "11.0.0.0",
                           "100.63.255.255",
                           "100.128.0.0",
                           "126.255.255.255",
                           "128.0.0.0",
                           "169.253.255.255",
                           "169.255.0.0",
                           "172.15.255.255",
                           "172.32.0.0",
                           "192.0.1.0",
                           "192.0.3.0",
                           "192.88.98.255",
                           "192.88.100.0",
                           "192.167.255.255",
                           "192.169.0.0",
                           "198.17.255.255",
                           "198.20.0.0",
                           "198.51.99.255",
                           "198.51.101.0",
                           "203.0.112.255",
                           "203.0.114.0",
                           "223.255.255.255",
                           "::ffff:8.8.8.8",
                           "64:ff9b::8.8.8.8",
                           "2001:200::1",
                           "2001:4860:4860::8888",
                           "2001:db7:ffff::",
                           "2001:db9::",
                           "2002:808:808::1",
                           "2003::1",
                           "2606:4700::1111",
                           "3ffe:ffff::"})
    EXPECT_FALSE(is_private(text)) << text;
}

TEST(AddressGuard, WhatIsNoAddressIsPrivate) {
  for (const char* text : {"", "localhost", "127.1", "0x7f.1", "1.2.3", "1.2.3.4.5", "fe80::1%lo", "example.com"})
    EXPECT_TRUE(is_private_address(std::string(text))) << text;
  sockaddr unix_socket{};
  unix_socket.sa_family = AF_UNIX;
  EXPECT_TRUE(is_private_address(&unix_socket));
}

}  // namespace
}  // namespace notify

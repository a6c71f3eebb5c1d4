#pragma once

#include <sys/socket.h>

#include <string>

namespace notify {

// True when the address is not one of the public internet: loopback, private, link-local (cloud metadata), multicast,
// documentation, reserved; IPv6 forms that carry an IPv4 address inside (mapped, NAT64, 6to4) are judged by the inner
// one. Families other than IPv4 and IPv6 are private.
bool is_private_address(const sockaddr* address) noexcept;
// The same for an address as text ("192.0.2.1", "2001:db8::1"); what is no address is private.
bool is_private_address(const std::string& text) noexcept;

}  // namespace notify

// Listening sockets and process limits.
#pragma once

#include <string>

namespace stub {

// "127.0.0.1:8080", "[::1]:0". Throws when it cannot be had.
int listen_on(const std::string& address);
int port_of(int socket);

// As many descriptors as the hard limit allows.
void raise_descriptor_limit();

// A signalfd for SIGTERM and SIGINT, which are blocked from now on.
int open_signals();

// The process gets SIGTERM when the one that started it is gone.
void die_with_parent();

}  // namespace stub

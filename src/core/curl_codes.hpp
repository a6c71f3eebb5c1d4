#pragma once

// CURLcodes by their numbers (they never change), so that core needs no libcurl. Pure, thread-safe.

#include <algorithm>
#include <array>

namespace notify::curl {

inline constexpr int kUnsupportedProtocol = 1;
inline constexpr int kNoProxyHost = 5;
inline constexpr int kNoHost = 6;
inline constexpr int kNoConnect = 7;
inline constexpr int kTimeout = 28;
inline constexpr int kTlsConnect = 35;
inline constexpr int kGotNothing = 52;
inline constexpr int kSendFailed = 55;
inline constexpr int kReceiveFailed = 56;
inline constexpr int kTlsNotOffered = 64;
inline constexpr int kLoginDenied = 67;
inline constexpr int kCaBundle = 77;
inline constexpr int kProxy = 97;

// TLS cannot be had with this peer or with these files until somebody mends something: verification, certificates,
// keys, ciphers, CA bundle.
constexpr bool tls_is_broken(int code) noexcept {
  constexpr std::array kCodes{51, 53, 54, 58, 59, 60, kTlsNotOffered, 66, kCaBundle, 80, 82, 83, 90, 91, 98};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

}  // namespace notify::curl

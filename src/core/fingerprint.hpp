#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/message.hpp"

namespace notify {

inline constexpr std::size_t kFingerprintBytes = 32;

// The content fingerprint of a dedup key: SHA-256 over what the request says, so that the same key with other
// content is noticed. Times, priority and correlation are left out: a rerun with --not-before +2h is the same
// request. 32 raw bytes. Every field goes in with its length, so that no two requests share an input.
std::string fingerprint(std::string_view channel, std::string_view recipient, std::string_view kind,
                        std::string_view category, const Payload& payload);

// The same for a stored row. Equal content gives an equal fingerprint however its JSON was written; fails
// when the payload is not one (parse_payload).
Result<std::string> fingerprint(std::string_view channel, std::string_view recipient, std::string_view kind,
                                std::string_view category, std::string_view payload_json);

}  // namespace notify

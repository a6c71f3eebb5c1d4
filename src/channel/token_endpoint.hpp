#pragma once

// OAuth 2.0 token endpoints (RFC 6749 5): the request of a signed assertion (RFC 7523 2.1), and what an answer means.

#include <span>
#include <string>
#include <string_view>

#include "channel/credential.hpp"
#include "core/ports/http.hpp"

namespace notify {

// grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer with the assertion, as a form. It may leave twice: one token more
// does no harm.
HttpRequest assertion_request(std::string url, std::string_view assertion);

// Why a token endpoint gave none, as the outcome of the message that waits for it; nothing of that message has left. `said`:
// the vendor's words (libcurl's are taken when there was no answer), in which no secret stays.
//
// The endpoint refuses, cannot be reached, or answers something else: the lane halts. It asks us to wait (429, 503): the
// lane waits.
Outcome no_token(const HttpEvidence& evidence, std::string_view said, std::span<const std::string> secrets,
                 Instant now);

// The access token in an answer, or why there is none. `asked`: when the request was made, from which the token's life is
// counted (an hour when the answer names none). `secret` (the assertion, a client secret) is in no text.
CredentialSource::Fetched read_token_answer(const HttpEvidence& evidence, Instant asked, Instant now,
                                            std::string_view secret);

}  // namespace notify

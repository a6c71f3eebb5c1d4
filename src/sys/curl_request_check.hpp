#pragma once

#include <string>

#include "core/ports/http.hpp"

namespace notify {

// Why a request cannot be sent as it is; empty when it can. The text names no part of the URL and no value.

// Refused are: schemes other than http and https, what libcurl cannot parse, user names that hold an '@' (parsers
// disagree about the host), host names that are not ASCII.
std::string why_url_refused(const std::string& text);
// Refused are: methods and header names that are no tokens, control characters in header values, and the headers that
// libcurl computes itself.
std::string why_head_refused(const HttpRequest& request);

// `text` without the parts of the URL that may be secret: user and password, path, query, fragment.
std::string without_url_parts(std::string text, const std::string& url);

}  // namespace notify

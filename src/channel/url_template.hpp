#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/channel.hpp"

namespace notify {

// A text with placeholders that one message fills: {id} (message id), {to} (address), {kind}, {category}, and
// {data.NAME} for a string or number among the members of its data. Braces stand for nothing else.
//
// Whether the placeholders are all known. Errors are kConfig.
Result<void> check_url_template(std::string_view text);

// Filled in, every value percent-encoded down to RFC 3986's unreserved characters, so that no value can change the URL
// around it. Error (kBadInput, field "data"): the message's data has no such member.
Result<std::string> fill_url_template(std::string_view text, const Dispatch& dispatch);

}  // namespace notify

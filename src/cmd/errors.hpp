#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace notify {

class Output;

// An error as people read it, with its hint, or as the one JSON object that --json promises. With line ends.
std::string error_text(const Error& error);
std::string error_json(const Error& error);

// What was wrong with an option's value, as the usage error that it is. `option`: as typed, "--rate".
tl::unexpected<Error> refuse_option(std::string_view option, Error error);

// "field: message" where the field is known.
std::string described(const Error& error);

// Writes it, with the usual hint where it has none, and returns the exit status. An error without a message was already
// reported: only its status counts.
int report(Output& err, Error error, bool json);

}  // namespace notify

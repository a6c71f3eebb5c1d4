#pragma once

#include <string>
#include <string_view>

namespace notify {

// Everything but RFC 3986's unreserved characters and those in `also` as %XX.
std::string percent_encoded(std::string_view text, std::string_view also = {});

}  // namespace notify

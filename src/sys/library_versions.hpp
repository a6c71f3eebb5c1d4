#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace notify {

// Name and version of the libraries that this layer is linked with: libcurl, OpenSSL, nghttp2, c-ares, zlib.
// What libcurl was built without is left out. Initialises nothing.
std::vector<std::pair<std::string, std::string>> linked_libraries();

}  // namespace notify

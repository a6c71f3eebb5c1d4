#include "sys/curl_library.hpp"

#include <algorithm>
#include <string>

namespace notify {

Result<void> initialise_libcurl() {
  static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (result != CURLE_OK)
    return fail(Code::kInternal, std::string("cannot initialise libcurl: ") + curl_easy_strerror(result));
  return {};
}

long whole_ms(Duration duration) noexcept { return std::clamp(duration, Duration(1), Duration(1 << 30)).count(); }

}  // namespace notify

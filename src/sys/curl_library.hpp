#pragma once

#include <curl/curl.h>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// Makes libcurl ready for use, once a process; thread-safe. Never undone: connections and OpenSSL live as long as the
// process.
Result<void> initialise_libcurl();

struct FreeEasy {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

inline constexpr std::size_t kMaxErrorText = 256;  // kept of what libcurl says about a failure
inline constexpr long kCaCacheSeconds = 300;       // parsing the CA bundle takes tens of milliseconds

// Sets an option that can only fail for want of memory.
template <class Value>
void set_option(CURL* easy, CURLoption option, Value value) {
  const CURLcode result = curl_easy_setopt(easy, option, value);
  ASSERT(result == CURLE_OK || result == CURLE_OUT_OF_MEMORY);
}

// For libcurl 0 would mean no limit at all.
long whole_ms(Duration duration) noexcept;

}  // namespace notify

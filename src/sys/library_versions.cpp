#include "sys/library_versions.hpp"

#include <curl/curl.h>
#include <openssl/crypto.h>

namespace notify {

std::vector<std::pair<std::string, std::string>> linked_libraries() {
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&list](const char* name, const char* version) {
    if (version != nullptr) list.emplace_back(name, version);
  };
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  add("libcurl", info->version);
  add("OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING));
  add("nghttp2", info->nghttp2_version);
  add("c-ares", info->ares);
  add("zlib", info->libz_version);
  return list;
}

}  // namespace notify

#include "sys/reachability.hpp"

#include <curl/curl.h>

#include <memory>

namespace notify {
namespace {

// For a command that asks once and ends: the global state is made and given back here.
struct Library {
  bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (ready) curl_global_cleanup();
  }
};

// Connects with `url` and speaks as much of its protocol as comes before a request.
Result<void> connect_only(const std::string& url, const char* protocols, curl_usessl starttls,
                          const std::string& ca_bundle, Duration timeout) {
  const Library library;
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(library.ready ? curl_easy_init() : nullptr, curl_easy_cleanup);
  if (!easy) return fail(Code::kInternal, "the network library cannot be started");
  CURL* handle = easy.get();
  const long timeout_ms = timeout.count();
  bool set = curl_easy_setopt(handle, CURLOPT_URL, url.c_str()) == CURLE_OK;
  set = set && curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK;
  set = set && curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
  set = set && curl_easy_setopt(handle, CURLOPT_PROXY, "") == CURLE_OK;
  set = set && curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, protocols) == CURLE_OK;
  set = set && curl_easy_setopt(handle, CURLOPT_USE_SSL, static_cast<long>(starttls)) == CURLE_OK;
  set = set && curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK;
  if (!ca_bundle.empty()) set = set && curl_easy_setopt(handle, CURLOPT_CAINFO, ca_bundle.c_str()) == CURLE_OK;
  if (!set) return fail(Code::kInternal, "the network library refuses its settings");
  const CURLcode code = curl_easy_perform(handle);
  if (code == CURLE_OK) return {};
  return fail(Code::kUnavailable, curl_easy_strerror(code));
}

}  // namespace

Result<void> check_reachable(const std::string& url, const std::string& ca_bundle, Duration timeout) {
  return connect_only(url, "http,https", CURLUSESSL_NONE, ca_bundle, timeout);
}

Result<void> check_mail_server(const SmtpDriverConfig& server, const std::string& ca_bundle, Duration timeout) {
  const std::string host = server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
  const char* scheme = server.tls == MailTls::kImplicit ? "smtps://" : "smtp://";
  return connect_only(scheme + host + ":" + std::to_string(server.port) + "/" + server.helo, "smtp,smtps",
                      server.tls == MailTls::kStartTls ? CURLUSESSL_ALL : CURLUSESSL_NONE, ca_bundle, timeout);
}

}  // namespace notify

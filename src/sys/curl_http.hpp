#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/ports/http.hpp"

namespace notify {

class EpollLoop;
class CurlMulti;
class Http2Pool;
class Transfer;

struct HttpSettings {
  std::string ca_file{};     // CA certificates (ca_bundle.hpp); empty: every https request ends as a TLS failure
  std::string proxy{};       // URL of a proxy; empty: none, whatever the environment says. With a proxy the address
                             // of the vendor cannot be checked here, so requests without allow_private are refused
  int max_connections = 64;  // kept open; should be the number of requests in flight at the most
  std::string user_agent = "notifyctl";
};

// HttpClient on libcurl's multi interface, driven by the loop. Easy handles and connections are reused. The first
// object initialises libcurl (some 1.5 ms), so make one only when something will be sent.
//
// A request with `once` can leave this process one time only. libcurl repeats a request by itself when a reused
// connection dies before an answer (and in some cases of HTTP/2); a second attempt is stopped before its first byte, at
// the opening of a connection and again right before the request would be written. A request without a body has a
// connection of its own as well. Redirects are never followed.
//
// HTTP/2 requests share connections by server and pool (curl_http2.hpp).
//
// Destroying the object drops the requests in flight without calling their `done`.
class CurlHttp final : public HttpClient {
 public:
  static Result<std::unique_ptr<CurlHttp>> create(EpollLoop& loop, const HttpSettings& settings);
  ~CurlHttp() override;

  void start(HttpRequest request, std::function<void(HttpEvidence)> done) override;
  void leave(const HttpEvidence& evidence) override;

 private:
  CurlHttp(EpollLoop& loop, HttpSettings settings);
  std::string why_refused(const HttpRequest& request);
  void refuse(std::string why, bool address, std::function<void(HttpEvidence)> done);
  Http2Pool& pool_of(const HttpRequest& request);
  void drop_unused_pool();

  EpollLoop& loop_;
  HttpSettings settings_;
  std::string good_url_{};                                      // the last one that was found to be fit
  std::vector<std::unique_ptr<Transfer>> idle_{};               // handles that no request uses
  std::unique_ptr<CurlMulti> http1_;                            // all of HTTP/1.1
  std::map<std::string, std::unique_ptr<Http2Pool>> pools_;     // of HTTP/2, by pool and server
  std::uint64_t connections_ = 0;                               // of HTTP/2, so far
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for callbacks that may come after us
};

}  // namespace notify

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/ports/http.hpp"

namespace notify {

class EpollLoop;
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
// libcurl 7.88 resets every HTTP/2 stream that has ended, for which servers with a limit on resets close the connection
// (nghttp2: 1,000 at once, and not always with a true last stream). So HTTP/2 connections belong to a generation: well before
// that limit a new one begins, and the requests in flight end on the old one.
//
// Destroying the object drops the requests in flight without calling their `done`.
class CurlHttp final : public HttpClient {
 public:
  static Result<std::unique_ptr<CurlHttp>> create(EpollLoop& loop, const HttpSettings& settings);
  ~CurlHttp() override;

  void start(HttpRequest request, std::function<void(HttpEvidence)> done) override;

 private:
  struct Generation;
  using Transfers = std::vector<std::unique_ptr<Transfer>>;
  CurlHttp(EpollLoop& loop, HttpSettings settings);
  Generation& http2();

  EpollLoop& loop_;
  HttpSettings settings_;
  Transfers idle_{};
  std::unique_ptr<Generation> one_;                     // HTTP/1.1
  std::unique_ptr<Generation> two_{};                   // HTTP/2: of now
  std::vector<std::unique_ptr<Generation>> earlier_{};  // some of their requests may still be in flight
};

}  // namespace notify

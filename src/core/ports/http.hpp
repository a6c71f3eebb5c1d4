#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/instant.hpp"

namespace notify {

struct HttpRequest {
  std::string method = "POST";
  std::string url{};  // http or https; may hold secrets, never logged
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  Duration connect_timeout{5000};
  Duration timeout{10000};  // whole call, name resolution included
  // True: this request must never leave twice, whatever becomes of the connection.
  bool once = true;
  // False: addresses that are loopback, private or link-local are refused at connect time (RFC 6890).
  bool allow_private = false;
  enum class Version { k1_1, k2 } version = Version::k1_1;  // k2: over TLS by ALPN
  std::string pool{};                    // HTTP/2: requests of different pools never share a connection
  std::size_t max_response = 64 * 1024;  // bytes of the body that are kept
};

// Everything libcurl let us observe about one request. Pure data; classify_http() judges it.
struct HttpEvidence {
  int curl_code = 0;                                           // CURLcode
  std::string curl_error{};                                    // text for people, without secrets
  int status = 0;                                              // final HTTP status; 0 when none came
  std::vector<std::pair<std::string, std::string>> headers{};  // of the final response, names in lower case
  std::string body{};                                          // cut to max_response
  bool body_truncated = false;                                 // cut by us or by the peer

  bool handed_over = false;              // CURLINFO_PRETRANSFER_TIME_T > 0: the request head was written
  int requests_begun = 0;                // request heads seen leaving, over silent repeats, CONNECT not counted
  std::int64_t body_bytes_out = 0;       // cumulative
  std::int64_t body_length = 0;          // what Content-Length promised
  bool silent_retry = false;             // libcurl repeated the request by itself
  bool refused_stream = false;           // HTTP/2 REFUSED_STREAM as the last word
  std::int64_t stream_id = -1;           // HTTP/2 stream of the request; -1 unknown
  std::int64_t goaway_last_stream = -1;  // last-stream-id of the last GOAWAY; -1 none
  std::int64_t goaway_error = -1;        // its HTTP/2 error code; -1 none
  std::uint64_t connections = 0;         // HTTP/2: among which it had its connection, for HttpClient::leave(); else 0
  bool address_blocked = false;          // our own guard refused the address
  bool refused_locally = false;          // the request itself is impossible (URL, header); nothing was tried
  bool shortage = false;  // this process had no descriptors or memory left for it (curl_error says which)
  std::string phase{};    // how far it got: resolve, connect, tls, request, response, done
  Duration elapsed{0};
};

// Asynchronous HTTP over one event loop; the loop's thread only.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // `done` is called exactly once, from the loop, never from inside start().
  virtual void start(HttpRequest request, std::function<void(HttpEvidence)> done) = 0;
  // The vendor wants a new connection: no request that starts from now on goes over one that this answer may have come
  // on. Those in flight end there. HTTP/2 only; answers on connections that are left already change nothing.
  virtual void leave(const HttpEvidence& evidence) = 0;
};

}  // namespace notify

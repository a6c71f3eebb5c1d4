#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "sys/curl_multi.hpp"

namespace notify {

// HTTP/2 requests to one server, and the connections that they share. Each connection has a multi handle of its own, so that
// what goes over it is decided here:
//
// - A new connection takes one request; the others wait for the first answer, or a second. libcurl would send a hundred
//   before the server has said how many it takes, and those above (Apple's servers begin with one) come back refused, which
//   libcurl 7.88 does not tell apart from a lost connection.
// - After a GOAWAY, a request that was not answered in time, or a word of the vendor's, nothing new goes over it. Nor after
//   900 requests: libcurl 7.88 resets every stream that has ended, for which servers with a limit on resets close the
//   connection (nghttp2: 1,000 at once, and not always with a true last stream). The next one is ready by then.
// - One that was closed while it was idle is not used. libcurl would notice a reset, but not the end of TLS.
//
// A request that has no connection in its time ends like one that could not connect.
class Http2Pool {
 public:
  using Done = CurlMulti::Done;

  // `serial`: counts connections over all pools.
  Http2Pool(EpollLoop& loop, CurlMulti::Transfers& idle, const HttpSettings& settings, std::uint64_t& serial);
  ~Http2Pool();
  Http2Pool(const Http2Pool&) = delete;
  Http2Pool& operator=(const Http2Pool&) = delete;

  void start(HttpRequest request, Done done);
  // Nothing new goes over the connection of this number (HttpEvidence::connections), if it is one of these.
  void leave(std::uint64_t connection);
  bool unused() const noexcept;  // nothing in flight, nothing waits
  std::chrono::steady_clock::time_point last_used() const noexcept { return last_used_; }

 private:
  class Connection;
  struct Waiting {
    HttpRequest request;
    Done done;
    std::chrono::steady_clock::time_point since;
    Loop::Timer patience = 0;
  };

  void pump();
  void pump_soon();
  Connection* with_room();
  std::size_t most() const noexcept;
  void retire();
  void out_of_patience(std::list<Waiting>::iterator waiting);

  EpollLoop& loop_;
  CurlMulti::Transfers& idle_;
  const HttpSettings& settings_;
  std::uint64_t& serial_;
  std::list<Waiting> waiting_{};
  std::vector<std::unique_ptr<Connection>> connections_;  // that take requests
  std::vector<std::unique_ptr<Connection>> left_;         // on which requests end
  bool one_at_a_time_ = false;                            // the server has turned out to speak HTTP/1.1
  bool pumping_soon_ = false;
  std::chrono::steady_clock::time_point last_used_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for callbacks that may come after us
};

}  // namespace notify

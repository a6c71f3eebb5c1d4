#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ports/http.hpp"
#include "core/ports/loop.hpp"
#include "sys/curl_http.hpp"
#include "sys/curl_library.hpp"
#include "sys/curl_transfer.hpp"

namespace notify {

class EpollLoop;

// One multi handle of libcurl, driven by the loop: requests in flight, and connections of their own. Destroying it drops
// the requests without calling their `done`.
class CurlMulti : public TransferOwner {
 public:
  using Transfers = std::vector<std::unique_ptr<Transfer>>;
  using Done = std::function<void(HttpEvidence)>;

  // `idle`: handles that no request uses, of all multi handles.
  CurlMulti(EpollLoop& loop, Transfers& idle, int max_connections, const HttpSettings& settings);
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;
  ~CurlMulti() override;

  // As HttpClient::start(), for a request that has been looked at. `done` may destroy this object.
  void start(HttpRequest request, Done done);
  std::size_t in_flight() const noexcept { return busy_.size(); }

  // TransferOwner
  void socket_opened(int fd) override;
  void socket_closing(int fd) override;
  void goaway(std::uint64_t connection, const Goaway& frame) override;
  void connection_stands() override {}
  void connection_full(std::int64_t) override {}

 protected:
  CURLM* multi() const noexcept { return multi_.get(); }
  // A request has ended; its `done` comes next. `version`: CURL_HTTP_VERSION_… of the answer.
  virtual void ended(HttpEvidence& /*evidence*/, CURLcode /*result*/, long /*version*/) {}

 private:
  // libcurl asks for events on sockets and for a timer
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);
  void set_timer(long timeout_ms);
  void run_timer();
  void kick();
  void drive(curl_socket_t fd, int flags);

  void collect_finished();
  void finish(Transfer& transfer, CURLcode result);
  std::unique_ptr<Transfer> idle_transfer();
  bool our_socket(int fd) const noexcept;

  EpollLoop& loop_;
  const HttpSettings& settings_;
  Transfers& idle_;
  Transfers busy_{};
  std::vector<bool> opened_{};  // by descriptor: opened by us, so that its closing is told
  std::unique_ptr<CURLM, FreeMulti> multi_;
  Loop::Timer timer_ = 0;
  std::optional<std::chrono::steady_clock::time_point> due_{};  // when libcurl wants to be called
  std::chrono::steady_clock::time_point armed_{};               // when the loop's timer goes off
  bool kicked_ = false;                                         // kick() is coming at the end of this turn
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for callbacks that may come after us
};

}  // namespace notify

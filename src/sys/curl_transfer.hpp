#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ports/http.hpp"
#include "sys/curl_http.hpp"
#include "sys/curl_library.hpp"

namespace notify {

// A GOAWAY frame, as told to the transfer that happened to read it.
struct Goaway {
  std::int64_t error = -1;
  std::int64_t last_stream = -1;
};

// What a transfer needs from its client.
class TransferOwner {
 public:
  virtual ~TransferOwner() = default;
  virtual void socket_opened(int fd) = 0;
  virtual void socket_closing(int fd) = 0;
  // One transfer has read this; it holds for all on the same connection.
  virtual void goaway(std::uint64_t connection, const Goaway& frame) = 0;
  // HTTP/2: a request is about to be sent, so the connection stands.
  virtual void connection_stands() = 0;
  // The server takes no more than these streams at a time.
  virtual void connection_full(std::int64_t streams) = 0;
};

// One easy handle with everything that one request at a time needs, used for many requests one after the other.
// Collects the evidence through libcurl's callbacks.
class Transfer {
 public:
  using Done = std::function<void(HttpEvidence)>;

  explicit Transfer(const HttpSettings& settings);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const noexcept { return easy_.get(); }
  // A handle keeps the name servers it read when it was made; old ones are replaced so that changes are noticed.
  bool outdated() const noexcept;

  // Sets the handle up for the request. The owner outlives it, and the connections that are opened for it.
  void prepare(TransferOwner& owner, HttpRequest request, Done done);
  // The evidence after the transfer has ended. The transfer is free for the next request.
  HttpEvidence take_evidence(CURLcode result);
  Done take_done() { return std::move(done_); }

  std::uint64_t connection() const noexcept { return connection_; }
  void note_goaway(const Goaway& frame) noexcept;

 private:
  void set_constant_options(const HttpSettings& settings);
  void set_body_options();
  void set_headers();

  static std::size_t on_write(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static int on_debug(CURL* easy, curl_infotype type, char* data, std::size_t size, void* self);
  static int on_prereq(void* self, char* peer_ip, char* own_ip, int peer_port, int own_port);
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_close_socket(void* owner, curl_socket_t fd);

  void on_text(std::string_view text);
  void on_head_out(std::string_view text);
  bool stops_repeat();
  void on_header_line(std::string_view line);
  void note_shortage(HttpEvidence& evidence) const;
  const char* phase_of(const HttpEvidence& evidence, CURLcode result) const;
  std::int64_t time_of(CURLINFO info) const;

  std::unique_ptr<CURL, FreeEasy> easy_;
  std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  bool proxied_ = false;

  TransferOwner* owner_ = nullptr;  // of the request
  HttpRequest request_{};
  Done done_{};
  std::string header_text_{};  // the lines below, one after the other
  std::vector<curl_slist> header_list_{};
  std::size_t body_read_ = 0;       // how much of the body libcurl has taken
  std::size_t response_bytes_ = 0;  // of the body, kept or not
  std::size_t header_bytes_ = 0;
  int refused_streams_ = 0;
  bool handshake_begun_ = false;  // of TLS
  int socket_error_ = 0;          // errno of our own socket(), when that failed
  std::uint64_t connection_ = 0;  // names the connection (a hash of both ends); 0 none yet
  HttpEvidence evidence_{};
  char error_text_[CURL_ERROR_SIZE] = {};
};

}  // namespace notify

// Bytes to and from one socket, in the clear or through TLS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace stub {

enum class Io { done, again, closed };

class Transport {
 public:
  explicit Transport(int fd) : fd_(fd) {}
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }

  void start_tls(ssl_ctx_st* context);
  bool handshaking() const { return handshaking_; }
  bool encrypted() const { return tls_ != nullptr; }
  Io shake_hands();

  // The protocol agreed by ALPN; empty without.
  std::string_view agreed_protocol() const;

  // Appends what is there, up to about a megabyte.
  Io read(std::string& into);

  // Sends from `position` on and moves it.
  Io write(const std::string& from, std::size_t& position);

  // TLS may need the socket to be writable in order to go on reading.
  bool wants_write() const { return wants_write_; }

  void finish_sending();  // close_notify and FIN; reading goes on
  void close();
  void reset();  // RST

 private:
  Io tls_result(int result);

  int fd_;
  ssl_st* tls_ = nullptr;
  bool handshaking_ = false;
  bool wants_write_ = false;
};

}  // namespace stub

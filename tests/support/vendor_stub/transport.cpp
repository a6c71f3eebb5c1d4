#include "transport.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace stub {

namespace {

constexpr std::size_t read_at_most = 1 << 20;

// One for the whole process: it has one thread, and the bytes leave at once.
std::array<char, 256 * 1024> scratch;

}  // namespace

Transport::~Transport() { close(); }

void Transport::start_tls(ssl_ctx_st* context) {
  tls_ = SSL_new(context);
  if (tls_ == nullptr || SSL_set_fd(tls_, fd_) != 1) throw std::runtime_error("cannot start TLS");
  SSL_set_accept_state(tls_);
  handshaking_ = true;
}

Io Transport::tls_result(int result) {
  const int error = SSL_get_error(tls_, result);
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Io::again;
  ERR_clear_error();
  return Io::closed;
}

Io Transport::shake_hands() {
  const int result = SSL_do_handshake(tls_);
  if (result != 1) return tls_result(result);
  handshaking_ = wants_write_ = false;
  return Io::done;
}

std::string_view Transport::agreed_protocol() const {
  const unsigned char* name = nullptr;
  unsigned length = 0;
  if (tls_ != nullptr) SSL_get0_alpn_selected(tls_, &name, &length);
  return {reinterpret_cast<const char*>(name), length};
}

Io Transport::read(std::string& into) {
  for (std::size_t total = 0; total < read_at_most || (tls_ != nullptr && SSL_pending(tls_) > 0);) {
    ssize_t n = 0;
    if (tls_ != nullptr) {
      n = SSL_read(tls_, scratch.data(), static_cast<int>(scratch.size()));
      if (n <= 0) return tls_result(static_cast<int>(n));
    } else {
      n = ::recv(fd_, scratch.data(), scratch.size(), 0);
      if (n < 0) return errno == EAGAIN || errno == EINTR ? Io::again : Io::closed;
      if (n == 0) return Io::closed;
    }
    into.append(scratch.data(), static_cast<std::size_t>(n));
    total += static_cast<std::size_t>(n);
    // A short read means the socket is empty; epoll will tell when there is more.
    if (tls_ == nullptr && static_cast<std::size_t>(n) < scratch.size()) return Io::done;
  }
  return Io::done;
}

Io Transport::write(const std::string& from, std::size_t& position) {
  while (position < from.size()) {
    const std::size_t left = from.size() - position;
    ssize_t n = 0;
    if (tls_ != nullptr) {
      n = SSL_write(tls_, from.data() + position, static_cast<int>(std::min<std::size_t>(left, 1 << 20)));
      if (n <= 0) return tls_result(static_cast<int>(n));
    } else {
      n = ::send(fd_, from.data() + position, left, MSG_NOSIGNAL);
      if (n < 0) return errno == EAGAIN || errno == EINTR ? Io::again : Io::closed;
    }
    position += static_cast<std::size_t>(n);
  }
  return Io::done;
}

void Transport::finish_sending() {
  if (tls_ != nullptr && !handshaking_) SSL_shutdown(tls_);
  ERR_clear_error();
  ::shutdown(fd_, SHUT_WR);
}

void Transport::close() {
  if (fd_ < 0) return;
  if (tls_ != nullptr) {
    if (!handshaking_) SSL_shutdown(tls_);
    ERR_clear_error();
    SSL_free(tls_);
    tls_ = nullptr;
  }
  ::close(fd_);
  fd_ = -1;
}

void Transport::reset() {
  if (fd_ < 0) return;
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  SSL_free(tls_);  // no close_notify before an RST
  tls_ = nullptr;
  ::close(fd_);
  fd_ = -1;
}

}  // namespace stub

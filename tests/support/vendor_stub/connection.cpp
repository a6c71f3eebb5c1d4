#include "connection.hpp"

#include <sys/epoll.h>

#include "server.hpp"

namespace stub {

Connection::Connection(Server& server, int fd, std::uint64_t number, bool control)
    : server_(server), transport_(fd), number_(number), control_(control) {}

void Connection::start(const Behaviour* act) {
  if (act != nullptr) {
    switch (act->kind) {
      case Kind::accept_close: return end_now(Ending::close);
      case Kind::accept_rst: return end_now(Ending::reset);
      case Kind::accept_hang: reading_ = false; break;
      default: first_bytes_ = act->kind;
    }
  } else if (server_.tls_at_once() && !control_) {
    transport_.start_tls(server_.tls_context());
  } else if (server_.speaks_first() && !control_) {
    begin_session();
  }
  update_interest();
}

void Connection::begin_session() {
  const bool http2 = transport_.agreed_protocol() == "h2" || in_.starts_with("PRI * HTTP/2");
  session_ = server_.make_session(*this, http2);
}

void Connection::start_tls() {
  in_.clear();  // what came in the clear after STARTTLS must not count
  transport_.start_tls(server_.tls_context());
}

std::string& Connection::out() {
  if (!dirty_) {
    dirty_ = true;
    server_.to_be_flushed(*this);
  }
  return out_;
}

void Connection::write(std::string_view bytes) { out().append(bytes); }

void Connection::settle() {
  --owed_;
  server_.settle(1);
}

void Connection::end_after_sending(Ending ending) {
  ending_ = ending;
  out();
}

void Connection::end_now(Ending ending) {
  if (!open()) return;
  const int fd = transport_.fd();
  if (ending == Ending::reset)
    transport_.reset();
  else
    transport_.close();
  server_.settle(owed_);
  owed_ = 0;
  server_.forget(*this, fd);
}

void Connection::stop_reading() {
  reading_ = false;
  update_interest();
}

std::uint32_t Connection::wanted_events() const {
  // Without EPOLLIN the half-close of a peer that gave up would go unseen.
  std::uint32_t events = reading_ && !peer_closed_ ? EPOLLIN : 0U;
  if (!reading_ && !peer_closed_) events |= EPOLLRDHUP;
  if (blocked_ || transport_.wants_write()) events |= EPOLLOUT;
  return events;
}

void Connection::update_interest() {
  const std::uint32_t wanted = wanted_events();
  if (!open() || wanted == registered_) return;
  server_.watch(*this, wanted, registered_ == UINT32_MAX);
  registered_ = wanted;
}

void Connection::on_event(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0 && !transport_.handshaking()) {
    blocked_ = false;
    out();
  }
  if (!reading_ && (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) return on_peer_closed();
  if (peer_closed_ && (events & (EPOLLHUP | EPOLLERR)) != 0) return end_now(Ending::close);
  if (reading_ && !peer_closed_) on_readable();
  update_interest();
}

void Connection::on_readable() {
  if (first_bytes_ != Kind::reply) {
    // Closing with unread bytes makes the kernel send an RST; reading them first makes it a FIN.
    if (first_bytes_ == Kind::first_close) transport_.read(in_);
    return end_now(first_bytes_ == Kind::first_rst ? Ending::reset : Ending::close);
  }
  if (transport_.handshaking()) {
    const Io io = transport_.shake_hands();
    if (io == Io::closed) return end_now(Ending::close);
    if (io == Io::again) return;
    if (!session_ && server_.speaks_first()) begin_session();
    out();  // STARTTLS may have left an answer waiting
  }
  const std::size_t before = in_.size();
  const Io io = transport_.read(in_);
  if (lingering_) {
    in_.clear();
  } else if (in_.size() > before) {
    if (!session_) begin_session();
    session_->on_input();
  }
  if (io == Io::closed && open()) on_peer_closed();
}

void Connection::on_peer_closed() {
  if (lingering_ || !session_ || !session_->wants_to_finish()) return end_now(Ending::close);
  peer_closed_ = true;
  update_interest();
}

void Connection::flush() {
  dirty_ = false;
  if (!open() || transport_.handshaking()) return;
  const Io io = transport_.write(out_, sent_);
  if (io == Io::closed) return end_now(Ending::close);
  blocked_ = io == Io::again;
  if (!blocked_) {
    out_.clear();
    sent_ = 0;
    if (ending_ != Ending::none) return apply_ending();
    if (session_) session_->drained();
  } else if (sent_ > (1 << 20)) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
  update_interest();
}

void Connection::apply_ending() {
  if (ending_ != Ending::linger) return end_now(ending_);
  // Closing with unread bytes would send an RST that may overtake the answer.
  ending_ = Ending::none;
  lingering_ = true;
  transport_.finish_sending();
  server_.close_later(*this, std::chrono::seconds(5));
  update_interest();
}

}  // namespace stub

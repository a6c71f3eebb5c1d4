// One accepted socket: buffers, transport, and the session that speaks the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "session.hpp"
#include "transport.hpp"

namespace stub {

class Server;

enum class Ending : std::uint8_t { none, close, reset, linger };

class Connection {
 public:
  Connection(Server& server, int fd, std::uint64_t number, bool control);

  Server& server() { return server_; }
  std::uint64_t number() const { return number_; }
  bool is_control() const { return control_; }
  bool open() const { return transport_.open(); }
  bool encrypted() const { return transport_.encrypted(); }
  int fd() const { return transport_.fd(); }

  // Says what to do with the fresh socket; nullptr is the ordinary way.
  void start(const Behaviour* act);

  std::string& in() { return in_; }
  void write(std::string_view bytes);
  std::string& out();  // to append to; marks the connection for sending
  std::size_t unsent() const { return out_.size() - sent_; }

  void end_after_sending(Ending ending);
  void end_now(Ending ending);
  void stop_reading();
  void start_tls();  // STARTTLS

  void on_event(std::uint32_t events);
  void flush();
  void mark_clean() { dirty_ = false; }

  Session* session() { return session_.get(); }

  // Requests logged and not yet answered.
  void owe() { ++owed_; }
  void settle();

 private:
  void on_readable();
  void begin_session();
  void on_peer_closed();
  void apply_ending();
  void update_interest();
  std::uint32_t wanted_events() const;

  Server& server_;
  Transport transport_;
  std::unique_ptr<Session> session_;
  std::string in_;
  std::string out_;
  std::size_t sent_ = 0;
  std::uint64_t number_;
  std::uint64_t owed_ = 0;
  std::uint32_t registered_ = UINT32_MAX;  // nothing registered yet
  Kind first_bytes_ = Kind::reply;         // of the first_… kinds: what the first bytes bring about
  Ending ending_ = Ending::none;
  bool control_;
  bool reading_ = true;
  bool lingering_ = false;
  bool peer_closed_ = false;
  bool blocked_ = false;
  bool dirty_ = false;
};

}  // namespace stub

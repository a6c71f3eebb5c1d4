// The event loop. Each round reads everything that is there, writes the log, and only then answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "connection.hpp"
#include "log.hpp"
#include "policy.hpp"
#include "response.hpp"
#include "settings.hpp"
#include "timers.hpp"
#include "tls.hpp"
#include "vendor.hpp"

namespace stub {

class Server {
 public:
  static constexpr std::string_view control_prefix = "/__stub/";

  explicit Server(const ServerSettings& settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  int control_port() const { return control_port_; }

  // Returns after SIGTERM or SIGINT.
  void run();

  // One JSON object with all counters, no newline.
  std::string statistics() const;

  // --- for sessions
  Policy& policy() { return policy_; }
  void submit(Connection& connection, std::uint32_t stream, Request& request);
  void submit(Connection& connection, std::uint32_t stream, Request& request, Plan plan);
  void tick_later(Connection& connection, std::uint32_t stream, const Behaviour& act, Nanos delay);
  static bool is_control(const Connection& connection, std::string_view path) {
    return connection.is_control() || path.starts_with(control_prefix);
  }
  Response control(const Request& request);
  bool keeps_all_headers() const { return settings_.all_headers; }
  std::uint32_t http2_streams() const { return settings_.http2_streams; }
  bool sends_continue() const { return settings_.sends_continue; }
  bool offers_starttls() const { return settings_.starttls; }
  [[noreturn]] void die();

  // --- for connections
  std::unique_ptr<Session> make_session(Connection& connection, bool http2);
  bool speaks_first() const { return settings_.smtp; }
  bool tls_at_once() const { return settings_.tls; }
  ssl_ctx_st* tls_context() { return tls_.get(); }
  void watch(Connection& connection, std::uint32_t events, bool first);
  void forget(Connection& connection, int fd);
  void to_be_flushed(Connection& connection) { dirty_.push_back(&connection); }
  void close_later(Connection& connection, Nanos delay);
  void settle(std::uint64_t requests) { log_.settle(requests); }

 private:
  struct Owed {
    Connection* connection;
    std::uint32_t stream;
    Plan plan;
  };

  void add_source(int fd, std::uint64_t tag);
  int wait_for_events();
  void handle_event(std::uint64_t tag, std::uint32_t events);
  void accept_all(int listener, bool control);
  void adopt(int fd, bool control);
  void refuse_one(int listener);
  void run_timers();
  void run_timer(const Timer& timer);
  void answer_owed();
  void flush_dirty();
  void bury_closed();
  void change(std::string_view what, std::string_view text);

  ServerSettings settings_;
  Policy policy_;
  std::unique_ptr<Vendor> vendor_;
  RequestLog log_;
  TlsContext tls_;
  int epoll_ = -1;
  int listener_ = -1;
  int control_listener_ = -1;
  int signals_ = -1;
  int spare_ = -1;  // given up for a moment when descriptors run out
  int port_ = 0;
  int control_port_ = 0;
  bool stopping_ = false;
  std::uint64_t accepted_ = 0;
  std::uint64_t control_number_ = UINT64_MAX;
  std::uint64_t open_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;  // by descriptor
  std::vector<std::unique_ptr<Connection>> graveyard_;    // closed in this round, may still be referred to
  std::vector<Connection*> dirty_;
  std::vector<Owed> owed_;
  Timers timers_;
  std::unordered_map<const Behaviour*, std::uint64_t> used_;
};

}  // namespace stub

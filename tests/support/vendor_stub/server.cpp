#include "server.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "http1_session.hpp"
#include "http2_session.hpp"
#include "smtp_session.hpp"
#include "sockets.hpp"

namespace stub {

namespace {

constexpr std::uint64_t listener_tag = 1;
constexpr std::uint64_t control_tag = 2;
constexpr std::uint64_t signal_tag = 3;

std::array<epoll_event, 1024> events;

std::int64_t monotonic_now() {
  return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

timespec to_timespec(std::int64_t nanos) { return {nanos / 1'000'000'000, nanos % 1'000'000'000}; }

}  // namespace

Server::Server(const ServerSettings& settings)
    : settings_(settings), policy_(settings.policy), log_(settings.log, settings.with_body) {
  raise_descriptor_limit();
  if (!settings_.vendor.empty()) vendor_ = make_vendor(settings_.vendor);
  if (settings_.tls || settings_.starttls) tls_ = make_tls_context(settings_.certificate);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  signals_ = open_signals();
  add_source(signals_, signal_tag);
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  listener_ = listen_on(settings_.listen);
  add_source(listener_, listener_tag);
  port_ = port_of(listener_);
  if (settings_.control.empty()) return;
  control_listener_ = listen_on(settings_.control);
  add_source(control_listener_, control_tag);
  control_port_ = port_of(control_listener_);
}

Server::~Server() {
  for (const int fd : {epoll_, listener_, control_listener_, signals_, spare_}) {
    if (fd >= 0) ::close(fd);
  }
}

void Server::add_source(int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void Server::watch(Connection& connection, std::uint32_t wanted, bool first) {
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &connection;
  ::epoll_ctl(epoll_, first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connection.fd(), &event);
}

void Server::run() {
  while (!stopping_) {
    const int ready = wait_for_events();
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      handle_event(event.data.u64, event.events);
    }
    run_timers();
    answer_owed();
    flush_dirty();
    bury_closed();
  }
}

void Server::bury_closed() {
  if (graveyard_.empty()) return;
  std::erase_if(dirty_, [](const Connection* connection) { return !connection->open(); });
  graveyard_.clear();
}

int Server::wait_for_events() {
  timespec timeout{};
  const timespec* limit = nullptr;
  if (!dirty_.empty() || !owed_.empty()) {
    limit = &timeout;
  } else if (!timers_.empty()) {
    timeout = to_timespec(std::max<std::int64_t>(0, timers_.next() - monotonic_now()));
    limit = &timeout;
  }
  return ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), limit, nullptr);
}

void Server::handle_event(std::uint64_t tag, std::uint32_t what) {
  switch (tag) {
    case listener_tag: return accept_all(listener_, false);
    case control_tag: return accept_all(control_listener_, true);
    case signal_tag: stopping_ = true; return;
    default: break;
  }
  auto* connection = reinterpret_cast<Connection*>(tag);
  if (connection->open()) connection->on_event(what);
}

void Server::accept_all(int listener, bool control) {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      adopt(fd, control);
    } else if (errno == EMFILE || errno == ENFILE) {
      refuse_one(listener);
      return;
    } else if (errno != ECONNABORTED && errno != EINTR) {
      return;
    }
  }
}

// Out of descriptors: without this the waiting connection would wake us for ever.
void Server::refuse_one(int listener) {
  ::close(spare_);
  const int fd = ::accept(listener, nullptr, nullptr);
  if (fd >= 0) ::close(fd);
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void Server::adopt(int fd, bool control) {
  const auto slot = static_cast<std::size_t>(fd);
  if (slot >= connections_.size()) connections_.resize(slot + 64);
  ++open_;
  // Control connections are numbered apart, so that those of the vendor count from 1 without gaps.
  const std::uint64_t number = control ? --control_number_ : ++accepted_;
  connections_[slot] = std::make_unique<Connection>(*this, fd, number, control);
  connections_[slot]->start(control ? nullptr : policy_.at_connect(accepted_));
}

void Server::forget(Connection&, int fd) {
  --open_;
  graveyard_.push_back(std::move(connections_[static_cast<std::size_t>(fd)]));
}

std::unique_ptr<Session> Server::make_session(Connection& connection, bool http2) {
  if (settings_.smtp && !connection.is_control()) return std::make_unique<SmtpSession>(connection);
  if (http2) return std::make_unique<Http2Session>(connection);
  return std::make_unique<Http1Session>(connection);
}

void Server::submit(Connection& connection, std::uint32_t stream, Request& request) {
  request.identify();
  if (vendor_) vendor_->identify(request);
  submit(connection, stream, request, policy_.at_end(request, vendor_.get()));
}

void Server::submit(Connection& connection, std::uint32_t stream, Request& request, Plan plan) {
  connection.session()->decided(stream, *plan.act);
  log_.add(request, *plan.act);
  ++used_[plan.act];
  connection.owe();
  owed_.push_back({&connection, stream, plan});
}

// Performing an answer may bring up the next request of a pipeline, so this goes on until none is left; each
// turn starts by writing the log.
void Server::answer_owed() {
  std::vector<Owed> batch;
  while (!owed_.empty()) {
    log_.flush();
    batch.clear();
    batch.swap(owed_);
    const std::int64_t now = monotonic_now();
    for (const Owed& owed : batch) {
      if (!owed.connection->open()) continue;
      if (owed.plan.delay.count() <= 0) {
        owed.connection->session()->perform(owed.stream, *owed.plan.act);
      } else {
        timers_.add({now + owed.plan.delay.count(), owed.connection->number(), owed.plan.act, owed.connection->fd(),
                     owed.stream, TimerKind::perform});
      }
    }
  }
}

void Server::tick_later(Connection& connection, std::uint32_t stream, const Behaviour& act, Nanos delay) {
  timers_.add({monotonic_now() + delay.count(), connection.number(), &act, connection.fd(), stream, TimerKind::tick});
}

void Server::close_later(Connection& connection, Nanos delay) {
  timers_.add({monotonic_now() + delay.count(), connection.number(), nullptr, connection.fd(), 0, TimerKind::close});
}

void Server::run_timers() {
  if (timers_.empty()) return;
  const std::int64_t now = monotonic_now();
  while (!timers_.empty() && timers_.next() <= now) run_timer(timers_.take());
}

void Server::run_timer(const Timer& timer) {
  Connection* connection = connections_[static_cast<std::size_t>(timer.fd)].get();
  if (connection == nullptr || connection->number() != timer.connection || !connection->open()) return;
  switch (timer.kind) {
    case TimerKind::perform: return connection->session()->perform(timer.stream, *timer.act);
    case TimerKind::tick: return connection->session()->tick(timer.stream, *timer.act);
    case TimerKind::close: return connection->end_now(Ending::close);
  }
}

void Server::flush_dirty() {
  std::vector<Connection*> batch;
  batch.swap(dirty_);
  for (Connection* connection : batch) connection->flush();
  // Keep the larger of the two buffers, so that a steady state allocates nothing.
  if (dirty_.empty()) {
    batch.clear();
    dirty_.swap(batch);
  }
}

void Server::die() {
  log_.flush();
  // First the listeners: a client that reconnects at once must be refused, not accepted and reset.
  ::close(listener_);
  if (control_listener_ >= 0) ::close(control_listener_);
  ::_exit(0);
}

}  // namespace stub

#include "sys/curl_http2.hpp"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/curl_codes.hpp"
#include "sys/epoll_loop.hpp"

namespace notify {
namespace {

using Time = std::chrono::steady_clock;

constexpr std::size_t kMaxStreams = 900;            // of one connection in its life: below nghttp2's limit on resets
constexpr std::size_t kSuccessorAt = 700;           // then the next one is made, so that it is ready in time
constexpr std::size_t kStreamsOfAConnection = 100;  // at a time; what RFC 9113 (6.5.2) wants a server to allow at least
constexpr Duration kSettlingTime = 1s;              // by when a server has said how many streams it takes
constexpr std::chrono::seconds kMaxIdleHttp1{3};    // as for all of HTTP/1.1 (curl_transfer.cpp)

bool closed_by_peer(int fd) noexcept {
  pollfd one{fd, POLLRDHUP, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace

class Http2Pool::Connection final : public CurlMulti {
 public:
  Connection(Http2Pool& pool, std::uint64_t number)
      : CurlMulti(pool.loop_, pool.idle_, 1, pool.settings_), pool_(pool), number_(number) {
    curl_multi_setopt(multi(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi(), CURLMOPT_MAX_CONCURRENT_STREAMS, static_cast<long>(kStreamsOfAConnection));
    curl_multi_setopt(multi(), CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
  }
  ~Connection() override { pool_.loop_.cancel(settling_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(HttpRequest request, Done done) {
    ++streams_;
    start(std::move(request), std::move(done));
  }

  std::uint64_t number() const noexcept { return number_; }
  void leave() noexcept { left_ = true; }
  bool settled() const noexcept { return settled_; }
  bool wants_successor() const noexcept { return settled_ && streams_ >= kSuccessorAt; }
  bool has_room() const noexcept { return in_flight() < (settled_ ? allowed_ : 1); }
  bool outworn() const noexcept {
    if (left_ || streams_ >= kMaxStreams) return true;
    if (in_flight() > 0) return false;
    if (http1_ && Time::now() - last_end_ > kMaxIdleHttp1) return true;
    return std::any_of(sockets_.begin(), sockets_.end(), closed_by_peer);
  }

  void socket_opened(int fd) override {
    pool_.loop_.cancel(std::exchange(settling_, 0));
    settled_ = false;
    sockets_.push_back(fd);
    CurlMulti::socket_opened(fd);
  }
  void socket_closing(int fd) override {
    std::erase(sockets_, fd);
    CurlMulti::socket_closing(fd);
  }
  void goaway(std::uint64_t connection, const Goaway& frame) override {
    left_ = true;
    CurlMulti::goaway(connection, frame);
  }
  void connection_stands() override {
    if (settled_ || settling_ != 0) return;
    settling_ = pool_.loop_.after(kSettlingTime, [this] {
      settling_ = 0;
      settled_ = true;
      pool_.pump();
    });
  }
  void connection_full(std::int64_t streams) override {
    if (streams > 0) allowed_ = std::min(allowed_, static_cast<std::size_t>(streams));
  }

 private:
  void ended(HttpEvidence& evidence, CURLcode result, long version) override {
    evidence.connections = number_;
    last_end_ = Time::now();
    if (evidence.status != 0) {
      pool_.loop_.cancel(std::exchange(settling_, 0));
      settled_ = true;
      http1_ = version != CURL_HTTP_VERSION_2_0;
      pool_.one_at_a_time_ = http1_;
      if (http1_) allowed_ = 1;
    } else if (result == CURLE_OPERATION_TIMEDOUT && evidence.handed_over) {
      left_ = true;  // the path may be dead, and libcurl would go on using it
    }
    pool_.pump_soon();
  }

  Http2Pool& pool_;
  const std::uint64_t number_;
  std::size_t streams_ = 0;                      // requests so far
  std::size_t allowed_ = kStreamsOfAConnection;  // at a time
  bool settled_ = false;                         // the server's settings have come
  Loop::Timer settling_ = 0;
  bool left_ = false;  // takes no new request
  bool http1_ = false;
  Time::time_point last_end_{};
  std::vector<int> sockets_{};
};

Http2Pool::Http2Pool(EpollLoop& loop, CurlMulti::Transfers& idle, const HttpSettings& settings, std::uint64_t& serial)
    : loop_(loop), idle_(idle), settings_(settings), serial_(serial) {}

Http2Pool::~Http2Pool() {
  *alive_ = false;
  for (const Waiting& waiting : waiting_) loop_.cancel(waiting.patience);
}

void Http2Pool::start(HttpRequest request, Done done) {
  last_used_ = Time::now();
  waiting_.push_back({std::move(request), std::move(done), last_used_});
  pump();
  if (waiting_.empty()) return;  // else it is the last one still
  const auto at = std::prev(waiting_.end());
  at->patience = loop_.after(at->request.timeout, [this, at] { out_of_patience(at); });
}

void Http2Pool::out_of_patience(std::list<Waiting>::iterator waiting) {
  HttpEvidence evidence;
  evidence.curl_code = curl::kTimeout;
  evidence.curl_error = "no connection had room for it in time";
  evidence.phase = "connect";
  evidence.body_length = static_cast<std::int64_t>(waiting->request.body.size());
  evidence.elapsed = waiting->request.timeout;
  const Done done = std::move(waiting->done);
  waiting_.erase(waiting);
  done(std::move(evidence));
}

void Http2Pool::leave(std::uint64_t connection) {
  for (const auto& one : connections_)
    if (one->number() == connection) one->leave();
}

bool Http2Pool::unused() const noexcept {
  const auto busy = [](const auto& connection) { return connection->in_flight() > 0; };
  return waiting_.empty() && std::none_of(connections_.begin(), connections_.end(), busy) &&
         std::none_of(left_.begin(), left_.end(), busy);
}

void Http2Pool::pump() {
  retire();
  while (!waiting_.empty()) {
    Connection* connection = with_room();
    if (connection == nullptr) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    loop_.cancel(next.patience);
    const auto waited = std::chrono::duration_cast<Duration>(Time::now() - next.since);
    next.request.timeout = std::max(next.request.timeout - waited, Duration{1});
    next.request.connect_timeout = std::min(next.request.connect_timeout, next.request.timeout);
    connection->send(std::move(next.request), std::move(next.done));
  }
}

// Not from inside libcurl, and once for many requests that end together.
void Http2Pool::pump_soon() {
  if (std::exchange(pumping_soon_, true)) return;
  loop_.at_end_of_turn([this, alive = alive_] {
    if (!*alive) return;
    pumping_soon_ = false;
    pump();
  });
}

void Http2Pool::retire() {
  for (auto& connection : connections_)
    if (connection->outworn()) left_.push_back(std::move(connection));
  std::erase(connections_, nullptr);
  std::erase_if(left_, [](const auto& connection) { return connection->in_flight() == 0; });
}

Http2Pool::Connection* Http2Pool::with_room() {
  const auto fit = std::find_if(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->has_room() && !connection->outworn();
  });
  const bool found = fit != connections_.end();
  if (found && !connections_.back()->wants_successor()) return fit->get();
  // What a new one allows is not known before its first answer; until then no other is made.
  const auto settled = [](const auto& connection) { return connection->settled(); };
  const bool all_known = std::all_of(connections_.begin(), connections_.end(), settled);
  if (!all_known || connections_.size() >= most()) return found ? fit->get() : nullptr;
  connections_.push_back(std::make_unique<Connection>(*this, ++serial_));
  return connections_.back().get();
}

std::size_t Http2Pool::most() const noexcept {
  const auto in_flight = static_cast<std::size_t>(std::max(1, settings_.max_connections));
  return one_at_a_time_ ? in_flight : in_flight / kStreamsOfAConnection + 2;
}

}  // namespace notify

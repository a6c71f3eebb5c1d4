#include "sys/curl_http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sys/curl_library.hpp"
#include "sys/curl_request_check.hpp"
#include "sys/curl_transfer.hpp"
#include "sys/epoll_loop.hpp"

namespace notify {
namespace {

std::uint32_t events_of(int what) noexcept {
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  return events;
}

int flags_of(std::uint32_t events) noexcept {
  int flags = 0;
  if ((events & EPOLLIN) != 0) flags |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) flags |= CURL_CSELECT_OUT;
  // Let it read and write into the error: that tells more than CURL_CSELECT_ERR would, and an answer that came before
  // a reset is still read.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) flags |= CURL_CSELECT_IN | CURL_CSELECT_OUT;
  return flags;
}

// Streams of one generation, and so of one connection: below nghttp2's limit on resets.
constexpr int kMaxStreams = 900;

// What RFC 9113 (6.5.2) wants a server to allow at least.
constexpr int kStreamsOfAConnection = 100;

}  // namespace

// One multi handle with its connections.
struct CurlHttp::Generation final : TransferOwner {
  // `shared`: handles that no request uses, of all generations.
  Generation(EpollLoop& event_loop, const HttpSettings& given, Transfers& shared, HttpRequest::Version version);
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
  ~Generation() override;

  void start(HttpRequest request, std::function<void(HttpEvidence)> done);
  bool outworn() const noexcept { return streams >= kMaxStreams; }

  // TransferOwner
  void socket_opened(int fd) override;
  void socket_closing(int fd) override;
  void goaway(std::uint64_t connection, const Goaway& frame) override;

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
  std::string why_refused(const HttpRequest& request);
  void refuse(std::string why, bool address, std::function<void(HttpEvidence)> done);
  bool our_socket(int fd) const noexcept;

  EpollLoop& loop;
  const HttpSettings& settings;
  int streams = 0;  // requests so far
  Transfers& idle;
  Transfers busy{};
  std::vector<bool> opened{};  // by descriptor: opened by us, so that its closing is told
  std::unique_ptr<CURLM, FreeMulti> multi{};
  std::string good_url{};  // the last one that was found to be fit
  Loop::Timer timer = 0;
  std::optional<std::chrono::steady_clock::time_point> due{};  // when libcurl wants to be called
  std::chrono::steady_clock::time_point armed{};               // when the loop's timer goes off
  bool kicked = false;                                         // kick() is coming at the end of this turn
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for callbacks that may come after us
};

CurlHttp::Generation::~Generation() {
  *alive = false;
  loop.cancel(timer);
  for (const auto& transfer : busy) curl_multi_remove_handle(multi.get(), transfer->easy());
  busy.clear();
  multi.reset();  // closes the connections, which tells the loop
}

CurlHttp::Generation::Generation(EpollLoop& event_loop, const HttpSettings& given, Transfers& shared,
                                 HttpRequest::Version version)
    : loop(event_loop), settings(given), idle(shared), multi(curl_multi_init()) {
  if (multi == nullptr) out_of_memory();
  const long in_flight = std::max(1, settings.max_connections);
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETFUNCTION, &Generation::on_socket);
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, &Generation::on_timer);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, in_flight);
  if (version != HttpRequest::Version::k2) return;
  // While all connections are full, libcurl 7.88 opens one more for each request that comes (url.c, ConnectionExists:
  // it waits for a connection that is being made only where it does not know the server yet). So their number is
  // limited; requests wait for a stream. One more than needed, for when a connection is being left.
  curl_multi_setopt(multi.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, std::max<long>(in_flight, kStreamsOfAConnection));
  curl_multi_setopt(multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS, in_flight / kStreamsOfAConnection + 2);
}

void CurlHttp::Generation::start(HttpRequest request, std::function<void(HttpEvidence)> done) {
  if (std::string why = why_refused(request); !why.empty()) return refuse(std::move(why), false, std::move(done));
  if (!settings.proxy.empty() && !request.allow_private)
    return refuse("behind a proxy the address cannot be checked", true, std::move(done));
  ++streams;
  std::unique_ptr<Transfer> transfer = idle_transfer();
  transfer->prepare(*this, std::move(request), std::move(done));
  const CURLMcode added = curl_multi_add_handle(multi.get(), transfer->easy());
  if (added == CURLM_OUT_OF_MEMORY) out_of_memory();
  ASSERT(added == CURLM_OK);
  busy.push_back(std::move(transfer));
}

std::string CurlHttp::Generation::why_refused(const HttpRequest& request) {
  // Most channels have one URL, and parsing it costs more than all the rest here.
  if (request.url.empty() || request.url != good_url) {
    if (std::string why = why_url_refused(request.url); !why.empty()) return why;
    good_url = request.url;
  }
  return why_head_refused(request);
}

void CurlHttp::Generation::refuse(std::string why, bool address, std::function<void(HttpEvidence)> done) {
  HttpEvidence evidence;
  evidence.refused_locally = !address;
  evidence.address_blocked = address;
  evidence.curl_error = std::move(why);
  evidence.phase = "resolve";
  loop.post([alive = alive, evidence = std::move(evidence), done = std::move(done)]() mutable {
    if (*alive) done(std::move(evidence));
  });
}

std::unique_ptr<Transfer> CurlHttp::Generation::idle_transfer() {
  while (!idle.empty()) {
    std::unique_ptr<Transfer> transfer = std::move(idle.back());
    idle.pop_back();
    if (!transfer->outdated()) return transfer;
  }
  return std::make_unique<Transfer>(settings);
}

// A handle that has no connection yet reads the last words of one that it was about to take; those are about nobody else's
// request.
void CurlHttp::Generation::goaway(std::uint64_t connection, const Goaway& frame) {
  if (connection == 0) return;
  for (const auto& transfer : busy)
    if (transfer->connection() == connection) transfer->note_goaway(frame);
}

void CurlHttp::Generation::socket_opened(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= opened.size()) opened.resize(index + 1);
  opened[index] = true;
}

void CurlHttp::Generation::socket_closing(int fd) {
  opened[static_cast<std::size_t>(fd)] = false;
  loop.forget(fd);
}

bool CurlHttp::Generation::our_socket(int fd) const noexcept {
  const auto index = static_cast<std::size_t>(fd);
  return index < opened.size() && opened[index];
}

int CurlHttp::Generation::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& impl = *static_cast<Generation*>(self);
  // The resolver closes its sockets without a word, so those are taken out at once; a late change of one of ours is
  // cheaper, and safe because its closing is told.
  if (what == CURL_POLL_REMOVE && !impl.our_socket(fd))
    impl.loop.forget(fd);
  else if (impl.loop.watched(fd))
    impl.loop.change_events(fd, events_of(what));
  else if (what != CURL_POLL_REMOVE)
    impl.loop.watch_events(fd, events_of(what),
                           [&impl, fd](std::uint32_t events) { impl.drive(fd, flags_of(events)); });
  return 0;
}

int CurlHttp::Generation::on_timer(CURLM*, long timeout_ms, void* self) {
  static_cast<Generation*>(self)->set_timer(timeout_ms);
  return 0;
}

void CurlHttp::Generation::set_timer(long timeout_ms) {
  if (timeout_ms < 0) {
    due.reset();
    loop.cancel(std::exchange(timer, 0));
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  due = now + std::chrono::milliseconds(timeout_ms);
  if (timeout_ms == 0) {
    if (std::exchange(kicked, true)) return;
    loop.at_end_of_turn([this, alive = alive] {
      if (*alive) kick();
    });
    return;
  }
  // A timer that goes off earlier is left alone: it finds that nothing is due and is set again. Most are put off.
  if (timer != 0 && armed <= *due) return;
  loop.cancel(timer);
  armed = *due;
  timer = loop.after_ns(*due - now, [this] { run_timer(); });
}

void CurlHttp::Generation::run_timer() {
  timer = 0;
  if (!due) return;
  const auto now = std::chrono::steady_clock::now();
  if (*due <= now) return drive(CURL_SOCKET_TIMEOUT, 0);
  armed = *due;
  timer = loop.after_ns(*due - now, [this] { run_timer(); });
}

void CurlHttp::Generation::kick() {
  kicked = false;
  if (due && *due <= std::chrono::steady_clock::now()) drive(CURL_SOCKET_TIMEOUT, 0);
}

void CurlHttp::Generation::drive(curl_socket_t fd, int flags) {
  int running = 0;
  curl_multi_socket_action(multi.get(), fd, flags, &running);
  collect_finished();
}

void CurlHttp::Generation::collect_finished() {
  const std::shared_ptr<bool> still = alive;  // a callback may destroy us
  int left = 0;
  while (*still) {
    const CURLMsg* message = curl_multi_info_read(multi.get(), &left);
    if (message == nullptr) return;
    if (message->msg != CURLMSG_DONE) continue;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    finish(*transfer, message->data.result);
  }
}

void CurlHttp::Generation::finish(Transfer& transfer, CURLcode result) {
  curl_multi_remove_handle(multi.get(), transfer.easy());
  HttpEvidence evidence = transfer.take_evidence(result);
  const Transfer::Done done = transfer.take_done();
  const auto found = std::find_if(busy.begin(), busy.end(), [&](const auto& one) { return one.get() == &transfer; });
  ASSERT(found != busy.end());
  idle.push_back(std::move(*found));
  *found = std::move(busy.back());
  busy.pop_back();
  done(std::move(evidence));
}

Result<std::unique_ptr<CurlHttp>> CurlHttp::create(EpollLoop& loop, const HttpSettings& settings) {
  TRY(initialise_libcurl());
  return std::unique_ptr<CurlHttp>(new CurlHttp(loop, settings));
}

CurlHttp::CurlHttp(EpollLoop& loop, HttpSettings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      one_(std::make_unique<Generation>(loop_, settings_, idle_, HttpRequest::Version::k1_1)) {}
CurlHttp::~CurlHttp() = default;

void CurlHttp::start(HttpRequest request, std::function<void(HttpEvidence)> done) {
  Generation& connections = request.version == HttpRequest::Version::k2 ? http2() : *one_;
  connections.start(std::move(request), std::move(done));
}

CurlHttp::Generation& CurlHttp::http2() {
  if (two_ == nullptr || two_->outworn()) {
    if (two_ != nullptr) earlier_.push_back(std::move(two_));
    two_ = std::make_unique<Generation>(loop_, settings_, idle_, HttpRequest::Version::k2);
    std::erase_if(earlier_, [](const auto& generation) { return generation->busy.empty(); });
  }
  return *two_;
}

}  // namespace notify

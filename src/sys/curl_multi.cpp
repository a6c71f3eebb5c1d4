#include "sys/curl_multi.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace

CurlMulti::~CurlMulti() {
  *alive_ = false;
  loop_.cancel(timer_);
  for (const auto& transfer : busy_) curl_multi_remove_handle(multi(), transfer->easy());
  busy_.clear();
  multi_.reset();  // closes the connections, which tells the loop
}

CurlMulti::CurlMulti(EpollLoop& loop, Transfers& idle, int max_connections, const HttpSettings& settings)
    : loop_(loop), settings_(settings), idle_(idle), multi_(curl_multi_init()) {
  if (multi_ == nullptr) out_of_memory();
  curl_multi_setopt(multi(), CURLMOPT_SOCKETFUNCTION, &CurlMulti::on_socket);
  curl_multi_setopt(multi(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi(), CURLMOPT_TIMERFUNCTION, &CurlMulti::on_timer);
  curl_multi_setopt(multi(), CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi(), CURLMOPT_MAXCONNECTS, static_cast<long>(std::max(1, max_connections)));
}

void CurlMulti::start(HttpRequest request, Done done) {
  std::unique_ptr<Transfer> transfer = idle_transfer();
  transfer->prepare(*this, std::move(request), std::move(done));
  const CURLMcode added = curl_multi_add_handle(multi(), transfer->easy());
  if (added == CURLM_OUT_OF_MEMORY) out_of_memory();
  ASSERT(added == CURLM_OK);
  busy_.push_back(std::move(transfer));
}

std::unique_ptr<Transfer> CurlMulti::idle_transfer() {
  while (!idle_.empty()) {
    std::unique_ptr<Transfer> transfer = std::move(idle_.back());
    idle_.pop_back();
    if (!transfer->outdated()) return transfer;
  }
  return std::make_unique<Transfer>(settings_);
}

// A handle that has no connection yet reads the last words of one that it was about to take; those are about nobody else's
// request.
void CurlMulti::goaway(std::uint64_t connection, const Goaway& frame) {
  if (connection == 0) return;
  for (const auto& transfer : busy_)
    if (transfer->connection() == connection) transfer->note_goaway(frame);
}

void CurlMulti::socket_opened(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= opened_.size()) opened_.resize(index + 1);
  opened_[index] = true;
}

void CurlMulti::socket_closing(int fd) {
  opened_[static_cast<std::size_t>(fd)] = false;
  loop_.forget(fd);
}

bool CurlMulti::our_socket(int fd) const noexcept {
  const auto index = static_cast<std::size_t>(fd);
  return index < opened_.size() && opened_[index];
}

int CurlMulti::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& impl = *static_cast<CurlMulti*>(self);
  // The resolver closes its sockets without a word, so those are taken out at once; a late change of one of ours is
  // cheaper, and safe because its closing is told.
  if (what == CURL_POLL_REMOVE && !impl.our_socket(fd))
    impl.loop_.forget(fd);
  else if (impl.loop_.watched(fd))
    impl.loop_.change_events(fd, events_of(what));
  else if (what != CURL_POLL_REMOVE)
    impl.loop_.watch_events(fd, events_of(what),
                            [&impl, fd](std::uint32_t events) { impl.drive(fd, flags_of(events)); });
  return 0;
}

int CurlMulti::on_timer(CURLM*, long timeout_ms, void* self) {
  static_cast<CurlMulti*>(self)->set_timer(timeout_ms);
  return 0;
}

void CurlMulti::set_timer(long timeout_ms) {
  if (timeout_ms < 0) {
    due_.reset();
    loop_.cancel(std::exchange(timer_, 0));
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  due_ = now + std::chrono::milliseconds(timeout_ms);
  if (timeout_ms == 0) {
    if (std::exchange(kicked_, true)) return;
    loop_.at_end_of_turn([this, alive = alive_] {
      if (*alive) kick();
    });
    return;
  }
  // A timer that goes off earlier is left alone: it finds that nothing is due and is set again. Most are put off.
  if (timer_ != 0 && armed_ <= *due_) return;
  loop_.cancel(timer_);
  armed_ = *due_;
  timer_ = loop_.after_ns(*due_ - now, [this] { run_timer(); });
}

void CurlMulti::run_timer() {
  timer_ = 0;
  if (!due_) return;
  const auto now = std::chrono::steady_clock::now();
  if (*due_ <= now) return drive(CURL_SOCKET_TIMEOUT, 0);
  armed_ = *due_;
  timer_ = loop_.after_ns(*due_ - now, [this] { run_timer(); });
}

void CurlMulti::kick() {
  kicked_ = false;
  if (due_ && *due_ <= std::chrono::steady_clock::now()) drive(CURL_SOCKET_TIMEOUT, 0);
}

void CurlMulti::drive(curl_socket_t fd, int flags) {
  int running = 0;
  curl_multi_socket_action(multi(), fd, flags, &running);
  collect_finished();
}

void CurlMulti::collect_finished() {
  const std::shared_ptr<bool> still = alive_;  // a callback may destroy us
  int left = 0;
  while (*still) {
    const CURLMsg* message = curl_multi_info_read(multi(), &left);
    if (message == nullptr) return;
    if (message->msg != CURLMSG_DONE) continue;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    finish(*transfer, message->data.result);
  }
}

void CurlMulti::finish(Transfer& transfer, CURLcode result) {
  curl_multi_remove_handle(multi(), transfer.easy());
  HttpEvidence evidence = transfer.take_evidence(result);
  long version = 0;
  curl_easy_getinfo(transfer.easy(), CURLINFO_HTTP_VERSION, &version);
  ended(evidence, result, version);
  const Transfer::Done done = transfer.take_done();
  const auto found = std::find_if(busy_.begin(), busy_.end(), [&](const auto& one) { return one.get() == &transfer; });
  ASSERT(found != busy_.end());
  idle_.push_back(std::move(*found));
  *found = std::move(busy_.back());
  busy_.pop_back();
  done(std::move(evidence));
}

}  // namespace notify

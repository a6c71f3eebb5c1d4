#include "sys/epoll_loop.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "core/error.hpp"

namespace notify {
namespace {

constexpr std::size_t kEventsPerTurn = 256;
constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};

std::chrono::nanoseconds now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

std::uint64_t tag_of(int fd, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32U | static_cast<std::uint32_t>(fd);
}

// A delay of centuries must not wrap round to now.
constexpr Duration kLongestDelay = std::chrono::hours(24 * 365 * 10);

}  // namespace

EpollLoop::EpollLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  events_.resize(kEventsPerTurn);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeTag;
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) missing_ = errno;
}

Result<void> EpollLoop::ready() const {
  if (missing_ != 0) return fail(file_error("cannot make an event loop", missing_));
  return {};
}

EpollLoop::~EpollLoop() = default;

void EpollLoop::run() {
  ASSERT(missing_ == 0);
  for (;;) {
    run_posted();
    run_timers();
    run_end_of_turn();
    if (stopping_.exchange(false)) return;
    wait_and_dispatch();
  }
}

void EpollLoop::stop() {
  stopping_ = true;
  const std::lock_guard lock(mutex_);
  if (sleeping_) wake_up();
}

void EpollLoop::wake_up() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void EpollLoop::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(task));
  if (sleeping_ && posted_.size() == 1) wake_up();  // with more than one it has been woken already
}

Loop::Timer EpollLoop::after(Duration delay, std::function<void()> task) {
  // Clamped before it becomes nanoseconds, of which a long one has too many to count.
  return after_ns(std::clamp(delay, Duration(0), kLongestDelay), std::move(task));
}

Loop::Timer EpollLoop::after_ns(std::chrono::nanoseconds delay, std::function<void()> task) {
  const Timer timer = ++last_timer_;
  const Instants deadline = now_ns() + std::clamp(delay, Instants(0), Instants(kLongestDelay));
  timers_.emplace(Deadline{deadline, timer}, std::move(task));
  deadlines_.emplace(timer, deadline);
  return timer;
}

void EpollLoop::cancel(Timer timer) {
  const auto found = deadlines_.find(timer);
  if (found == deadlines_.end()) return;
  timers_.erase({found->second, timer});
  deadlines_.erase(found);
}

void EpollLoop::watch(int fd, std::function<void()> ready) {
  watch_events(fd, EPOLLIN, [ready = std::move(ready)](std::uint32_t) { ready(); });
}

void EpollLoop::unwatch(int fd) { forget(fd); }

EpollLoop::Watch& EpollLoop::slot(int fd) {
  ASSERT(fd >= 0);
  const auto index = static_cast<std::size_t>(fd);
  if (index >= watches_.size()) watches_.resize(index + 1);
  return watches_[index];
}

EpollLoop::Watch* EpollLoop::find(int fd) noexcept {
  const auto index = static_cast<std::size_t>(fd);
  return fd >= 0 && index < watches_.size() ? &watches_[index] : nullptr;
}

void EpollLoop::mark_dirty(int fd, Watch& watch) {
  if (watch.dirty) return;
  watch.dirty = true;
  dirty_.push_back(fd);
}

void EpollLoop::watch_events(int fd, std::uint32_t events, Ready ready) {
  Watch& watch = slot(fd);
  watch.ready = std::make_shared<Ready>(std::move(ready));
  watch.wanted = events;
  mark_dirty(fd, watch);
}

void EpollLoop::change_events(int fd, std::uint32_t events) {
  Watch* watch = find(fd);
  if (watch == nullptr || !watch->ready || watch->wanted == events) return;
  watch->wanted = events;
  mark_dirty(fd, *watch);
}

void EpollLoop::forget(int fd) {
  Watch* watch = find(fd);
  if (watch == nullptr) return;
  if (watch->known) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  watch->known = false;
  watch->ready.reset();
  watch->wanted = 0;
  watch->registered = 0;
  ++watch->generation;
}

bool EpollLoop::watched(int fd) const noexcept {
  const auto index = static_cast<std::size_t>(fd);
  return fd >= 0 && index < watches_.size() && watches_[index].ready != nullptr;
}

void EpollLoop::flush_changes() {
  for (const int fd : dirty_) {
    Watch& watch = slot(fd);
    watch.dirty = false;
    apply(fd, watch);
  }
  dirty_.clear();
}

void EpollLoop::apply(int fd, Watch& watch) {
  if (watch.wanted == 0) {
    // Taken out altogether: EPOLLHUP and EPOLLERR would be reported even for an empty set.
    if (watch.known) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    watch.known = false;
    watch.registered = 0;
    return;
  }
  if (watch.known && watch.registered == watch.wanted) return;
  epoll_event event{};
  event.events = watch.wanted;
  event.data.u64 = tag_of(fd, watch.generation);
  const int operation = watch.known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
    // The owner has closed the descriptor behind our back, or somebody else's number came back.
    const int other = errno == ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    ASSERT((errno == ENOENT || errno == EEXIST) && ::epoll_ctl(epoll_.get(), other, fd, &event) == 0);
  }
  watch.known = true;
  watch.registered = watch.wanted;
}

void EpollLoop::at_end_of_turn(std::function<void()> task) { end_of_turn_.push_back(std::move(task)); }

void EpollLoop::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    if (posted_.empty()) return;
    tasks.swap(posted_);
  }
  std::size_t done = 0;
  while (done < tasks.size() && !stopping_) tasks[done++]();
  if (done == tasks.size()) return;
  // Stopped in between: the rest waits for the next run(), before what was posted since.
  const std::lock_guard lock(mutex_);
  const auto rest = tasks.begin() + static_cast<std::ptrdiff_t>(done);
  posted_.insert(posted_.begin(), std::make_move_iterator(rest), std::make_move_iterator(tasks.end()));
}

void EpollLoop::run_timers() {
  if (timers_.empty() || stopping_) return;
  // Timers set by these callbacks are for a later turn, even with no delay.
  const Deadline last{now_ns(), last_timer_};
  while (!stopping_ && !timers_.empty() && timers_.begin()->first <= last) {
    auto node = timers_.extract(timers_.begin());
    deadlines_.erase(node.key().second);
    node.mapped()();
  }
}

void EpollLoop::run_end_of_turn() {
  if (end_of_turn_.empty() || stopping_) return;
  std::vector<std::function<void()>> tasks;
  tasks.swap(end_of_turn_);
  for (auto& task : tasks) task();
}

void EpollLoop::wait_and_dispatch() {
  flush_changes();
  const int count = wait();
  for (int i = 0; i < count && !stopping_; ++i) dispatch(events_[static_cast<std::size_t>(i)]);
}

void EpollLoop::dispatch(const epoll_event& event) {
  if (event.data.u64 == kWakeTag) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &count, sizeof count);
    return;
  }
  const int fd = static_cast<int>(event.data.u64 & 0xffffffffU);
  const Watch* watch = find(fd);
  if (watch == nullptr || !watch->ready || tag_of(fd, watch->generation) != event.data.u64) return;
  // An earlier callback of this turn may have lost interest.
  const std::uint32_t ready = event.events & (watch->wanted | EPOLLERR | EPOLLHUP);
  if (ready == 0 || watch->wanted == 0) return;
  const std::shared_ptr<Ready> callback = watch->ready;
  (*callback)(ready);
}

int EpollLoop::wait() {
  Instants timeout{0};
  bool for_ever = false;
  {
    const std::lock_guard lock(mutex_);
    if (posted_.empty() && end_of_turn_.empty() && !stopping_) {
      sleeping_ = true;
      for_ever = timers_.empty();
      if (!for_ever) timeout = std::max(Instants(0), timers_.begin()->first.first - now_ns());
    }
  }
  const int count = wait_in_kernel(timeout, for_ever);
  const std::lock_guard lock(mutex_);
  sleeping_ = false;
  return count;
}

int EpollLoop::wait_in_kernel(Instants timeout, bool for_ever) {
  const auto room = static_cast<int>(events_.size());
  if (fine_timeouts_) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
    timespec span{};
    span.tv_sec = seconds.count();
    span.tv_nsec = (timeout - seconds).count();
    const int count = ::epoll_pwait2(epoll_.get(), events_.data(), room, for_ever ? nullptr : &span, nullptr);
    if (count >= 0 || errno != ENOSYS) return count;
    fine_timeouts_ = false;
  }
  // Rounded up: a timer is never early, and a wait of 0 ms would spin until it is due.
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  return ::epoll_wait(epoll_.get(), events_.data(), room,
                      for_ever ? -1 : static_cast<int>(std::min<std::int64_t>(ms, 1 << 30)));
}

}  // namespace notify

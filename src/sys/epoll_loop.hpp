#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/ports/loop.hpp"
#include "sys/files.hpp"

namespace notify {

// Loop over epoll: no wake-ups while nothing happens and no timer runs out.
class EpollLoop final : public Loop {
 public:
  // Makes what it needs of the kernel, or ready() says why not; a loop that is not ready is good for nothing else.
  EpollLoop();
  ~EpollLoop() override;
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;

  // kIo: no descriptors or memory left.
  Result<void> ready() const;

  // Runs callbacks until stop(). What stop() leaves undone (posted tasks, timers) waits for the next run() or is
  // dropped with the loop.
  void run();
  // run() returns after the current callback. Thread-safe; before run(), the next run() returns at once.
  void stop();

  void post(std::function<void()> task) override;
  Timer after(Duration delay, std::function<void()> task) override;
  void cancel(Timer timer) override;
  void watch(int fd, std::function<void()> ready) override;
  void unwatch(int fd) override;

  // --- for the other adapters of this directory

  // Like after() with the clock's full resolution.
  Timer after_ns(std::chrono::nanoseconds delay, std::function<void()> task);

  // Calls `ready(events)` while any of `events` (EPOLLIN, EPOLLOUT; EPOLLERR and EPOLLHUP always) holds. A second
  // call for the same descriptor changes events and callback. The change reaches the kernel before the loop waits
  // next, so that removing and adding again in one turn costs no system call. Who uses this must call forget() right
  // before the descriptor is closed.
  using Ready = std::function<void(std::uint32_t events)>;
  void watch_events(int fd, std::uint32_t events, Ready ready);
  // Changes the events of a watched descriptor; 0 keeps the callback and asks for nothing.
  void change_events(int fd, std::uint32_t events);
  void forget(int fd);
  bool watched(int fd) const noexcept;

  // Calls `task` once when the current turn's callbacks have run, before the loop waits. Loop thread only.
  void at_end_of_turn(std::function<void()> task);

 private:
  struct Watch {
    std::shared_ptr<Ready> ready{};  // shared, so that a callback may replace or remove itself
    std::uint32_t wanted = 0;        // what the owner asks for
    std::uint32_t registered = 0;    // what the kernel knows
    bool known = false;              // in the kernel's set
    bool dirty = false;              // listed in dirty_
    std::uint32_t generation = 0;    // tells late events of an earlier owner of the number
  };
  using Instants = std::chrono::nanoseconds;  // CLOCK_MONOTONIC
  using Deadline = std::pair<Instants, Timer>;

  Watch& slot(int fd);
  Watch* find(int fd) noexcept;
  void mark_dirty(int fd, Watch& watch);
  void flush_changes();
  void apply(int fd, Watch& watch);
  void run_posted();
  void run_timers();
  void run_end_of_turn();
  void wait_and_dispatch();
  void dispatch(const epoll_event& event);
  int wait();
  void wake_up();
  int wait_in_kernel(Instants timeout, bool for_ever);

  Fd epoll_{};
  int missing_ = 0;              // errno of what could not be made
  Fd wake_{};                    // eventfd: another thread has posted
  std::deque<Watch> watches_{};  // by descriptor; a deque, because callbacks add while one of its elements runs
  std::vector<int> dirty_{};
  std::vector<epoll_event> events_{};
  std::map<Deadline, std::function<void()>> timers_{};  // ordered, and unlike a heap any one can be taken out
  std::unordered_map<Timer, Instants> deadlines_{};
  Timer last_timer_ = 0;
  std::vector<std::function<void()>> end_of_turn_{};
  bool fine_timeouts_ = true;  // the kernel has epoll_pwait2 (Linux 5.11)

  std::atomic<bool> stopping_{false};
  std::mutex mutex_{};  // guards what follows
  std::vector<std::function<void()>> posted_{};
  bool sleeping_ = false;  // the loop thread is in the kernel, or about to be
};

}  // namespace notify

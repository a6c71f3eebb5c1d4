#include "sys/signals.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>
#include <utility>

#include "sys/files.hpp"

namespace notify {
namespace {

constexpr std::array kStopSignals{SIGTERM, SIGINT, SIGHUP};
constexpr std::int64_t kSecondAfterNs = 100'000'000;

// Shared with the handler, so plain lock-free values.
std::atomic<int> pipe_fd{-1};
std::atomic<int> first_signal{0};
std::atomic<std::int64_t> first_at{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

std::array<struct sigaction, kStopSignals.size()> previous;

std::int64_t monotonic_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Async-signal-safe: atomics, clock_gettime, write and _exit only.
void on_signal(int signal) {
  const int saved = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal)) {
    first_at = monotonic_ns();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(pipe_fd, &one, sizeof one);
  } else if (monotonic_ns() - first_at >= kSecondAfterNs) {
    _exit(128 + signal);
  }
  errno = saved;
}

bool was_ignored(int signal, const struct sigaction& action) noexcept {
  return signal != SIGTERM && action.sa_handler == SIG_IGN;
}

}  // namespace

void prepare_process() {
  // open() takes the lowest free number, so going upwards fills the gaps.
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // Nothing can be read from a standard input that is closed, where an empty one would pass for an answer, and nothing
    // written to a standard output, where what was asked for would be lost without a word.
    int got = ::open("/dev/null", fd == 0 ? O_WRONLY : fd == 1 ? O_RDONLY : O_RDWR);
    if (got < 0) got = ::open("/", O_PATH);  // an empty chroot: reads and writes fail, and the number is taken
    if (got >= 0 && got != fd) ::close(got);
  }
  ::prctl(PR_SET_DUMPABLE, 0);  // credentials are in its memory: no core file
  std::set_new_handler(out_of_memory);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Result<StopSignals> StopSignals::install(Loop& loop, std::function<void(int signal)> stop) {
  ASSERT(pipe_fd == -1);
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return fail(file_error("cannot prepare for signals", errno));
  const int number = fd.release();
  pipe_fd = number;
  first_signal = 0;
  loop.watch(number, [number, stop = std::move(stop)] {
    std::uint64_t count = 0;
    if (::read(number, &count, sizeof count) > 0) stop(first_signal);
  });
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    sigaction(kStopSignals[i], nullptr, &previous[i]);
    if (!was_ignored(kStopSignals[i], previous[i])) sigaction(kStopSignals[i], &action, nullptr);
  }
  return StopSignals(loop);
}

StopSignals::StopSignals(StopSignals&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}

StopSignals::~StopSignals() {
  if (loop_ == nullptr) return;
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) sigaction(kStopSignals[i], &previous[i], nullptr);
  const Fd fd(pipe_fd.exchange(-1));
  loop_->unwatch(fd.get());
}

}  // namespace notify

#include "sys/process_runner.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/outcome.hpp"
#include "sys/epoll_loop.hpp"

extern char** environ;

namespace notify {
namespace {

constexpr Duration kTermToKill{2000};
constexpr Duration kPollWithoutPidfd{10};  // Linux before 5.3
constexpr std::size_t kReadAtOnce = 16 * 1024;

struct Pipe {
  Fd read{};
  Fd write{};
};

// Close-on-exec; our end does not block. False: no descriptors left (errno).
bool open_pipe(Pipe& pipe, bool we_read) noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe.read = Fd(ends[0]);
  pipe.write = Fd(ends[1]);
  const int ours = we_read ? ends[0] : ends[1];
  return ::fcntl(ours, F_SETFL, O_NONBLOCK) == 0;
}

// What posix_spawn is to do in the child, freed at the end.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    // Those we catch are reset by exec; ignored ones (SIGPIPE) are not.
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void give(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void give_nothing_else() { posix_spawn_file_actions_addclosefrom_np(&actions_, 3); }

  // 0, or why it did not start (glibc reports a failed exec here, too).
  int spawn(pid_t& pid, const std::vector<char*>& argv, const std::vector<char*>& variables) const {
    return posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv.data(), variables.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Our environment with the request's variables over it, as NAME=value.
std::vector<std::string> child_environment(const ProcessRequest& request) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(request.environment.begin(), request.environment.end(),
                                      [&](const auto& variable) { return variable.first == name; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : request.environment) all.push_back(std::string(name).append(1, '=').append(value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

// One running program.
struct Child {
  ProcessRequest request{};
  std::function<void(ProcessResult)> done{};
  ProcessResult result{};
  pid_t pid = -1;
  Fd pidfd{};
  Fd input{};
  Fd output{};
  std::size_t written = 0;
  Loop::Timer timer = 0;  // time-out, then kill
  Loop::Timer poll = 0;   // instead of a pidfd
};

struct SystemProcessRunner::Impl {
  explicit Impl(EpollLoop& event_loop) : loop(event_loop) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start(ProcessRequest request, std::function<void(ProcessResult)> done);
  int spawn(Child& child);
  void fail_later(int error_number, Child& child);
  void watch(Child& child);
  void watch_exit(Child& child);
  void write_input(Child& child);
  void read_output(Child& child);
  void close_input(Child& child);
  void close_output(Child& child);
  void time_out(Child& child);
  void ended(Child& child);
  bool reap(Child& child) const;

  EpollLoop& loop;
  std::vector<std::unique_ptr<Child>> children{};
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

SystemProcessRunner::Impl::~Impl() {
  *alive = false;
  for (const auto& child : children) {
    loop.cancel(child->timer);
    loop.cancel(child->poll);
    close_input(*child);
    close_output(*child);
    if (child->pidfd) loop.forget(child->pidfd.get());
    ::kill(-child->pid, SIGKILL);
    while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void SystemProcessRunner::Impl::start(ProcessRequest request, std::function<void(ProcessResult)> done) {
  auto child = std::make_unique<Child>();
  child->request = std::move(request);
  child->done = std::move(done);
  if (const int error = spawn(*child); error != 0) return fail_later(error, *child);
  child->result.started = true;
  watch(*child);
  children.push_back(std::move(child));
}

int SystemProcessRunner::Impl::spawn(Child& child) {
  if (child.request.argv.empty() || child.request.argv[0].empty()) return ENOENT;
  Pipe input;
  Pipe output;
  if (!open_pipe(input, false) || !open_pipe(output, true)) return errno;
  SpawnPlan plan;
  plan.give(input.read.get(), STDIN_FILENO);
  plan.give(output.write.get(), STDOUT_FILENO);
  const bool together = child.request.errors == ProcessRequest::Errors::kTogether;
  plan.give(together ? output.write.get() : STDERR_FILENO, STDERR_FILENO);
  plan.give_nothing_else();
  std::vector<std::string> variables = child_environment(child.request);
  const int error = plan.spawn(child.pid, pointers(child.request.argv), pointers(variables));
  if (error != 0) return error;
  child.input = std::move(input.write);
  child.output = std::move(output.read);
  return 0;
}

void SystemProcessRunner::Impl::fail_later(int error_number, Child& child) {
  ProcessResult result;
  const std::string program = child.request.argv.empty() ? "" : child.request.argv[0];
  result.error = "cannot run '" + program + "': " + system_reason(error_number);
  result.shortage = is_shortage(error_number) || error_number == EAGAIN;  // EAGAIN: no process may be made
  loop.post([alive = alive, result = std::move(result), done = std::move(child.done)]() mutable {
    if (*alive) done(std::move(result));
  });
}

void SystemProcessRunner::Impl::watch(Child& child) {
  if (child.request.input.empty())
    child.input.reset();
  else
    loop.watch_events(child.input.get(), EPOLLOUT, [this, &child](std::uint32_t) { write_input(child); });
  loop.watch_events(child.output.get(), EPOLLIN, [this, &child](std::uint32_t) { read_output(child); });
  child.timer = loop.after(child.request.timeout, [this, &child] { time_out(child); });
  child.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  watch_exit(child);
}

void SystemProcessRunner::Impl::watch_exit(Child& child) {
  if (child.pidfd) {
    ::fcntl(child.pidfd.get(), F_SETFD, FD_CLOEXEC);
    loop.watch_events(child.pidfd.get(), EPOLLIN, [this, &child](std::uint32_t) { ended(child); });
    return;
  }
  child.poll = loop.after(kPollWithoutPidfd, [this, &child] {
    siginfo_t info{};
    const bool over = ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                      info.si_pid == child.pid;
    if (over)
      ended(child);
    else
      watch_exit(child);
  });
}

void SystemProcessRunner::Impl::write_input(Child& child) {
  const std::string& input = child.request.input;
  while (child.written < input.size()) {
    const ssize_t n = ::write(child.input.get(), input.data() + child.written, input.size() - child.written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) break;  // the program does not want to read it all, which is its right
    child.written += static_cast<std::size_t>(n);
  }
  close_input(child);
}

void SystemProcessRunner::Impl::read_output(Child& child) {
  char buffer[kReadAtOnce];
  std::string& kept = child.result.output;
  for (;;) {
    const ssize_t n = ::read(child.output.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) break;
    const std::size_t room = child.request.max_output - std::min(kept.size(), child.request.max_output);
    kept.append(buffer, std::min(static_cast<std::size_t>(n), room));
    if (static_cast<std::size_t>(n) < sizeof buffer) return;  // the loop calls again if there is more
  }
  close_output(child);
}

void SystemProcessRunner::Impl::close_input(Child& child) {
  if (!child.input) return;
  loop.forget(child.input.get());
  child.input.reset();
}

void SystemProcessRunner::Impl::close_output(Child& child) {
  if (!child.output) return;
  loop.forget(child.output.get());
  child.output.reset();
}

void SystemProcessRunner::Impl::time_out(Child& child) {
  child.result.timed_out = true;
  ::kill(-child.pid, SIGTERM);
  child.timer = loop.after(kTermToKill, [&child] { ::kill(-child.pid, SIGKILL); });
}

// Takes the exit status. The process group is killed before that if the time is over, while its number cannot have
// been given to anybody else yet.
bool SystemProcessRunner::Impl::reap(Child& child) const {
  if (child.result.timed_out) ::kill(-child.pid, SIGKILL);
  int status = 0;
  pid_t pid = -1;
  do pid = ::waitpid(child.pid, &status, WNOHANG);
  while (pid < 0 && errno == EINTR);
  if (pid == 0) return false;
  if (pid == child.pid && WIFEXITED(status)) child.result.exit_code = WEXITSTATUS(status);
  if (pid == child.pid && WIFSIGNALED(status)) child.result.signal = WTERMSIG(status);
  return true;
}

void SystemProcessRunner::Impl::ended(Child& child) {
  if (!reap(child)) return;
  if (child.output) read_output(child);  // what is still in the pipe
  loop.cancel(child.timer);
  loop.cancel(child.poll);
  close_input(child);
  close_output(child);
  if (child.pidfd) loop.forget(child.pidfd.get());
  const auto found =
      std::find_if(children.begin(), children.end(), [&](const auto& one) { return one.get() == &child; });
  const std::unique_ptr<Child> owned = std::move(*found);
  children.erase(found);
  owned->done(std::move(owned->result));
}

SystemProcessRunner::SystemProcessRunner(EpollLoop& loop) : impl_(std::make_unique<Impl>(loop)) {}
SystemProcessRunner::~SystemProcessRunner() = default;

void SystemProcessRunner::run(ProcessRequest request, std::function<void(ProcessResult)> done) {
  impl_->start(std::move(request), std::move(done));
}

}  // namespace notify

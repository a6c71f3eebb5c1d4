#include "sys/curl_mail.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/ascii.hpp"
#include "sys/curl_mail_session.hpp"
#include "sys/epoll_loop.hpp"

namespace notify {
namespace {

constexpr Duration kGrace = 2s;  // after a request's time-out, for libcurl to notice by itself
constexpr std::chrono::seconds kIdleBeforeQuit{10};

using Done = std::function<void(MailEvidence)>;

// What would change the envelope or the URL around it. Addresses and names were checked by those who made the request;
// this is the last look before they become commands.
bool is_one_word(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f || c == '<' || c == '>';
  });
}

bool looks_like_host(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == ':' || c == '_';
  });
}

std::string why_refused(const MailRequest& request) {
  if (!looks_like_host(request.host)) return "the server's name is no host name";
  if (request.port < 1 || request.port > 65535) return "the port is out of range";
  if (!request.helo.empty() && !looks_like_host(request.helo)) return "the name for EHLO is no host name";
  if (!is_one_word(request.sender) || request.recipient.empty() || !is_one_word(request.recipient))
    return "an envelope address holds a space, an angle bracket or a control character";
  if (!request.message.ends_with("\r\n")) return "the message does not end with a line end";
  return {};
}

}  // namespace

// A thread with a session of its own, for one transaction after the other.
class MailThread {
 public:
  using Report = std::function<void(MailEvidence)>;  // called on the thread

  explicit MailThread(const std::string& ca_file) : session_(ca_file), thread_([this] { run(); }) {}
  // Waits for the transaction under way; cut() ends that at once.
  ~MailThread() {
    leave();
    thread_.join();
  }
  MailThread(const MailThread&) = delete;
  MailThread& operator=(const MailThread&) = delete;

  void give(MailRequest request, Report report) {
    session_.renew();
    {
      const std::lock_guard lock(mutex_);
      task_ = Task{std::move(request), std::move(report)};
    }
    wake_.notify_one();
  }
  void cut() { session_.cut(); }
  // Says goodbye to the servers and ends, when there is nothing to do any more.
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    wake_.notify_one();
  }

 private:
  struct Task {
    MailRequest request{};
    Report report{};
  };

  void run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (const std::optional<Task> task = next()) task->report(session_.perform(task->request));
    session_.close();
  }

  std::optional<Task> next() {
    std::unique_lock lock(mutex_);
    const auto called = [this] { return leaving_ || task_.has_value(); };
    if (!wake_.wait_for(lock, kIdleBeforeQuit, called)) {
      lock.unlock();
      session_.close();
      lock.lock();
      wake_.wait(lock, called);
    }
    return std::exchange(task_, std::nullopt);
  }

  MailSession session_;
  std::mutex mutex_{};  // guards what follows
  std::condition_variable wake_{};
  std::optional<Task> task_{};
  bool leaving_ = false;
  std::thread thread_;  // last: it uses all the others
};

struct CurlMail::Impl {
  struct Call {
    std::uint64_t number = 0;
    MailRequest request{};
    Done done{};
    Loop::Timer deadline = 0;
    std::unique_ptr<MailThread> thread{};
  };

  Impl(EpollLoop& event_loop, MailSettings given) : loop(event_loop), settings(std::move(given)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  void start(MailRequest request, Done done);
  void begin(Call call);
  void time_over(std::uint64_t number);
  void finish(std::uint64_t number, MailEvidence evidence);
  void answer_later(MailEvidence evidence, Done done);

  EpollLoop& loop;
  MailSettings settings;
  std::uint64_t last_number = 0;
  std::vector<Call> running{};
  std::deque<Call> waiting{};
  std::vector<std::unique_ptr<MailThread>>
      idle{};  // the one that worked last at the end: its connection is the freshest
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for callbacks that may come after us
};

CurlMail::Impl::~Impl() {
  *alive = false;
  for (Call& call : running) {
    loop.cancel(call.deadline);
    call.thread->cut();
  }
  for (Call& call : waiting) loop.cancel(call.deadline);
  for (const auto& thread : idle) thread->leave();
}

void CurlMail::Impl::answer_later(MailEvidence evidence, Done done) {
  loop.post([alive = alive, evidence = std::move(evidence), done = std::move(done)]() mutable {
    if (*alive) done(std::move(evidence));
  });
}

void CurlMail::Impl::start(MailRequest request, Done done) {
  if (std::string why = why_refused(request); !why.empty()) {
    MailEvidence evidence;
    evidence.refused_locally = true;
    evidence.curl_error = std::move(why);
    return answer_later(std::move(evidence), std::move(done));
  }
  Call call{++last_number, std::move(request), std::move(done), 0, nullptr};
  call.deadline = loop.after(call.request.timeout + kGrace, [this, number = call.number] { time_over(number); });
  if (running.size() >= static_cast<std::size_t>(std::max(1, settings.max_connections)))
    waiting.push_back(std::move(call));
  else
    begin(std::move(call));
}

void CurlMail::Impl::begin(Call call) {
  if (idle.empty()) {
    try {
      call.thread = std::make_unique<MailThread>(settings.ca_file);
    } catch (const std::system_error& error) {  // no memory for its stack, or too many of them
      loop.cancel(call.deadline);
      MailEvidence evidence;
      evidence.shortage = true;
      evidence.curl_error = std::string("no thread for a connection: ") + system_reason(error.code().value());
      return answer_later(std::move(evidence), std::move(call.done));
    }
  } else {
    call.thread = std::move(idle.back());
    idle.pop_back();
  }
  call.thread->give(std::move(call.request),
                    [this, &post_to = loop, alive = alive, number = call.number](MailEvidence evidence) {
                      post_to.post([this, alive, number, evidence = std::move(evidence)]() mutable {
                        if (*alive) finish(number, std::move(evidence));
                      });
                    });
  running.push_back(std::move(call));
}

// libcurl waits for some replies without looking at the time-out. Shutting the connection down ends that.
void CurlMail::Impl::time_over(std::uint64_t number) {
  for (Call& call : running) {
    if (call.number != number) continue;
    call.deadline = 0;
    return call.thread->cut();
  }
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Call& c) { return c.number == number; });
  if (found == waiting.end()) return;
  MailEvidence evidence;
  evidence.timed_out = true;
  evidence.curl_error = "no connection was free in time";
  Done done = std::move(found->done);
  waiting.erase(found);
  done(std::move(evidence));
}

void CurlMail::Impl::finish(std::uint64_t number, MailEvidence evidence) {
  const auto found = std::find_if(running.begin(), running.end(), [&](const Call& c) { return c.number == number; });
  ASSERT(found != running.end());
  Call call = std::move(*found);
  *found = std::move(running.back());
  running.pop_back();
  loop.cancel(call.deadline);
  idle.push_back(std::move(call.thread));
  if (!waiting.empty()) {
    Call next = std::move(waiting.front());
    waiting.pop_front();
    begin(std::move(next));
  }
  call.done(std::move(evidence));  // may destroy us
}

Result<std::unique_ptr<CurlMail>> CurlMail::create(EpollLoop& loop, const MailSettings& settings) {
  TRY(initialise_libcurl());
  return std::unique_ptr<CurlMail>(new CurlMail(std::make_unique<Impl>(loop, settings)));
}

CurlMail::CurlMail(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CurlMail::~CurlMail() = default;

void CurlMail::start(MailRequest request, std::function<void(MailEvidence)> done) {
  impl_->start(std::move(request), std::move(done));
}

}  // namespace notify

#pragma once

// Fakes of the small ports: everything happens when the test says so, and what was asked can be looked at.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/credential_cache.hpp"
#include "core/ports/http.hpp"
#include "core/ports/loop.hpp"
#include "core/ports/mail.hpp"
#include "core/ports/process.hpp"
#include "core/ports/random.hpp"

namespace notify::test {

// 2026-11-29T13:26:09Z.
inline constexpr Instant kSomeTime{1'795'958'769'000};

class NeverCrashes final : public CrashPoints {
 public:
  void reach(CrashPoint) override {}
};

class FakeClock final : public Clock {
 public:
  Instant now() override { return wall; }
  Duration monotonic() override { return mono; }
  Duration boottime() override { return boot; }

  void advance(Duration d) {
    wall = wall + d;
    mono += d;
    boot += d;
  }

  Instant wall = kSomeTime;
  Duration mono{1000};
  Duration boot{5000};
};

// A fixed sequence for each seed (splitmix64); or exactly the numbers in `next`, as long as there are some.
class FakeRandom final : public Random {
 public:
  explicit FakeRandom(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t next64() override;

  std::deque<std::uint64_t> next{};

 private:
  std::uint64_t state_;
};

// Runs nothing by itself. Timers count on the clock, which advance() moves.
class FakeLoop final : public Loop {
 public:
  explicit FakeLoop(FakeClock& clock) : clock_(clock) {}

  void post(std::function<void()> task) override { posted_.push_back(std::move(task)); }
  Timer after(Duration delay, std::function<void()> task) override;
  void cancel(Timer timer) override;
  void watch(int fd, std::function<void()> ready) override { watched_[fd] = std::move(ready); }
  void unwatch(int fd) override { watched_.erase(fd); }

  // One round: what has been posted until now, not what that posts. Returns how many tasks ran.
  std::size_t run_round();
  // Rounds until nothing is posted.
  void run();
  // Moves the clock, from timer to timer, running each and what it posts.
  void advance(Duration d);
  void make_ready(int fd) { watched_.at(fd)(); }

  std::size_t posted() const { return posted_.size(); }
  std::size_t timers() const { return timers_.size(); }
  bool watches(int fd) const { return watched_.contains(fd); }

 private:
  FakeClock& clock_;
  std::vector<std::function<void()>> posted_{};
  std::map<std::pair<Duration, Timer>, std::function<void()>> timers_{};
  std::map<int, std::function<void()>> watched_{};
  Timer last_timer_ = 0;
};

// What libcurl observes when a vendor answers `status`, when nobody listens, and when no answer comes.
HttpEvidence answered(int status, std::string body = {}, std::vector<std::pair<std::string, std::string>> headers = {});
HttpEvidence connection_refused();
HttpEvidence no_answer();  // the request left completely, then the time was over

// Answers from the loop with the next scripted evidence, or 200 when there is none.
class FakeHttp final : public HttpClient {
 public:
  explicit FakeHttp(Loop& loop) : loop_(loop) {}
  void start(HttpRequest request, std::function<void(HttpEvidence)> done) override;
  void leave(const HttpEvidence& evidence) override { left.push_back(evidence.connections); }

  std::vector<HttpRequest> requests{};
  std::vector<std::uint64_t> left{};
  std::deque<HttpEvidence> script{};

 private:
  Loop& loop_;
};

// The value of a request's header, in any case; "(none)" and "(several)" are no values of ours.
std::string header(const HttpRequest& request, std::string_view name);

// The cache of one process, or of several that share the object's `rows`.
class FakeCredentials final : public CredentialCache {
 public:
  struct Row {
    std::optional<Credential> kept{};
    int holder = 0;  // 0: nobody fetches
    Instant until{};
  };
  using Rows = std::map<std::string, Row, std::less<>>;

  explicit FakeCredentials(int holder = 1, std::shared_ptr<Rows> shared = std::make_shared<Rows>())
      : rows(std::move(shared)), holder_(holder) {}

  Result<std::optional<Credential>> find(std::string_view name) override;
  Result<bool> begin_fetch(std::string_view name, Instant until, Instant now) override;
  Result<bool> keep(std::string_view name, const Credential& credential) override;
  Result<void> end_fetch(std::string_view name) override;
  Result<bool> forget(std::string_view name, const Secret& refused) override;

  std::shared_ptr<Rows> rows;
  bool broken = false;  // every call fails

 private:
  Row* row(std::string_view name);
  int holder_;
};

// What is observed when the server takes a mail, refuses it at a stage, and when no answer comes to the final dot.
MailEvidence mail_taken(std::string reply_text = "Ok: queued as Q1");
MailEvidence mail_refused(MailStage stage, int reply, std::string enhanced = {}, std::string reply_text = {});
MailEvidence mail_unanswered();

// Answers from the loop with the next scripted evidence; the mail was taken when there is none.
class FakeMail final : public MailClient {
 public:
  explicit FakeMail(Loop& loop) : loop_(loop) {}
  void start(MailRequest request, std::function<void(MailEvidence)> done) override;

  std::vector<MailRequest> requests{};
  std::deque<MailEvidence> script{};

 private:
  Loop& loop_;
};

class FakeProcess final : public ProcessRunner {
 public:
  explicit FakeProcess(Loop& loop) : loop_(loop) {}
  void run(ProcessRequest request, std::function<void(ProcessResult)> done) override;

  std::vector<ProcessRequest> requests{};
  std::deque<ProcessResult> script{};  // exit 0 without output when there is none

 private:
  Loop& loop_;
};

ProcessResult exited(int code, std::string output = {});

}  // namespace notify::test

#include "support/fakes.hpp"

#include <algorithm>

namespace notify::test {
namespace {

template <class T>
T take_or(std::deque<T>& script, T otherwise) {
  if (script.empty()) return otherwise;
  T next = std::move(script.front());
  script.pop_front();
  return next;
}

}  // namespace

std::uint64_t FakeRandom::next64() {
  if (!next.empty()) return take_or<std::uint64_t>(next, 0);
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

Loop::Timer FakeLoop::after(Duration delay, std::function<void()> task) {
  timers_.emplace(std::pair{clock_.monotonic() + delay, ++last_timer_}, std::move(task));
  return last_timer_;
}

void FakeLoop::cancel(Timer timer) {
  std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
}

std::size_t FakeLoop::run_round() {
  const std::vector<std::function<void()>> round = std::exchange(posted_, {});
  for (const auto& task : round) task();
  return round.size();
}

void FakeLoop::run() {
  while (run_round() > 0) {
  }
}

void FakeLoop::advance(Duration d) {
  const Duration end = clock_.monotonic() + d;
  run();
  while (!timers_.empty() && timers_.begin()->first.first <= end) {
    auto node = timers_.extract(timers_.begin());
    clock_.advance(std::max(node.key().first - clock_.monotonic(), Duration{0}));
    node.mapped()();
    run();
  }
  clock_.advance(end - clock_.monotonic());
}

HttpEvidence answered(int status, std::string body, std::vector<std::pair<std::string, std::string>> headers) {
  HttpEvidence evidence;
  evidence.status = status;
  evidence.body = std::move(body);
  evidence.headers = std::move(headers);
  evidence.handed_over = true;
  evidence.requests_begun = 1;
  return evidence;
}

HttpEvidence connection_refused() {
  HttpEvidence evidence;
  evidence.curl_code = 7;  // CURLE_COULDNT_CONNECT
  evidence.curl_error = "connection refused";
  return evidence;
}

HttpEvidence no_answer() {
  HttpEvidence evidence;
  evidence.curl_code = 28;  // CURLE_OPERATION_TIMEDOUT
  evidence.curl_error = "time is over";
  evidence.handed_over = true;
  evidence.requests_begun = 1;
  return evidence;
}

void FakeHttp::start(HttpRequest request, std::function<void(HttpEvidence)> done) {
  HttpEvidence evidence = take_or(script, answered(200));
  evidence.body_length = static_cast<std::int64_t>(request.body.size());
  if (evidence.handed_over) evidence.body_bytes_out = evidence.body_length;
  requests.push_back(std::move(request));
  loop_.post([done = std::move(done), evidence = std::move(evidence)] { done(evidence); });
}

std::string header(const HttpRequest& request, std::string_view name) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
  };
  std::string found = "(none)";
  for (const auto& [key, value] : request.headers) {
    if (lower(key) != lower(std::string(name))) continue;
    if (found != "(none)") return "(several)";
    found = value;
  }
  return found;
}

FakeCredentials::Row* FakeCredentials::row(std::string_view name) {
  return broken ? nullptr : &(*rows)[std::string(name)];
}

Result<std::optional<Credential>> FakeCredentials::find(std::string_view name) {
  const Row* found = row(name);
  if (found == nullptr) return fail(Code::kIo, "the fake cache is broken");
  return found->kept;
}

Result<bool> FakeCredentials::begin_fetch(std::string_view name, Instant until, Instant now) {
  Row* found = row(name);
  if (found == nullptr) return fail(Code::kIo, "the fake cache is broken");
  if (found->holder != 0 && now < found->until) return false;
  found->holder = holder_;
  found->until = until;
  return true;
}

Result<bool> FakeCredentials::keep(std::string_view name, const Credential& credential) {
  Row* found = row(name);
  if (found == nullptr) return fail(Code::kIo, "the fake cache is broken");
  if (found->holder != holder_) return false;
  *found = Row{credential, 0, {}};
  return true;
}

Result<void> FakeCredentials::end_fetch(std::string_view name) {
  Row* found = row(name);
  if (found == nullptr) return fail(Code::kIo, "the fake cache is broken");
  if (found->holder == holder_) found->holder = 0;
  return {};
}

Result<bool> FakeCredentials::forget(std::string_view name, const Secret& refused) {
  Row* found = row(name);
  if (found == nullptr) return fail(Code::kIo, "the fake cache is broken");
  if (!found->kept || !(found->kept->value == refused)) return false;
  found->kept.reset();
  return true;
}

MailEvidence mail_taken(std::string reply_text) {
  MailEvidence evidence;
  evidence.resolved = true;
  evidence.stage = MailStage::kBody;
  evidence.reply = 250;
  evidence.reply_text = std::move(reply_text);
  evidence.body_complete = true;
  return evidence;
}

MailEvidence mail_refused(MailStage stage, int reply, std::string enhanced, std::string reply_text) {
  MailEvidence evidence;
  evidence.resolved = true;
  evidence.stage = stage;
  evidence.reply = reply;
  evidence.enhanced = std::move(enhanced);
  evidence.reply_text = std::move(reply_text);
  evidence.body_complete = stage == MailStage::kBody;
  return evidence;
}

MailEvidence mail_unanswered() {
  MailEvidence evidence = mail_taken({});
  evidence.reply = 0;
  evidence.timed_out = true;
  return evidence;
}

void FakeMail::start(MailRequest request, std::function<void(MailEvidence)> done) {
  MailEvidence evidence = take_or(script, mail_taken());
  if (evidence.stage == MailStage::kBody) evidence.bytes_out = static_cast<std::int64_t>(request.message.size());
  requests.push_back(std::move(request));
  loop_.post([done = std::move(done), evidence = std::move(evidence)] { done(evidence); });
}

void FakeProcess::run(ProcessRequest request, std::function<void(ProcessResult)> done) {
  requests.push_back(std::move(request));
  ProcessResult result = take_or(script, exited(0));
  loop_.post([done = std::move(done), result = std::move(result)] { done(result); });
}

ProcessResult exited(int code, std::string output) {
  ProcessResult result;
  result.started = true;
  result.exit_code = code;
  result.output = std::move(output);
  return result;
}

}  // namespace notify::test

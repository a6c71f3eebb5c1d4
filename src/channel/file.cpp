#include "channel/file.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "channel/append_file.hpp"
#include "channel/dispatch_check.hpp"
#include "channel/message_json.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxBatchBytes = 8 * 1024 * 1024;
constexpr Duration kBusyPause = 5ms;  // another process holds the lock for about one fdatasync

Outcome outcome_of(const AppendResult& result, const std::string& path) {
  if (result.shortage) return shortage_outcome(safe_text(path + ": " + result.error, limits::kDetail));
  Outcome outcome;
  outcome.phase = "done";
  if (result.state == AppendState::kDurable) {
    outcome.cls = OutcomeClass::kSent;
    outcome.reason = "written";
    return outcome;
  }
  // Whatever is wrong with the file is so for every message of this lane.
  outcome.halt_channel = true;
  outcome.cls = result.state == AppendState::kUncertain ? OutcomeClass::kUnknown : OutcomeClass::kNotSent;
  outcome.reason = result.state == AppendState::kUncertain ? "file-uncertain"
                   : result.state == AppendState::kBusy    ? "file-busy"
                                                           : "file-failed";
  outcome.detail = safe_text(path + ": " + result.error, limits::kDetail);
  return outcome;
}

// Collects what is handed over until the loop's next round. Shared with the tasks on the loop, which find
// it gone when the channel is.
class Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(std::string path, Duration timeout, Loop& loop, Clock& clock)
      : path_(std::move(path)), timeout_(timeout), loop_(loop), clock_(clock), file_(path_) {}

  void add(std::string line, Channel::Done done) {
    if (batches_.empty() || batches_.back().lines.size() + line.size() > kMaxBatchBytes) batches_.emplace_back();
    Batch& batch = batches_.back();
    batch.waiting.push_back({std::move(done), static_cast<std::int64_t>(line.size()), clock_.monotonic()});
    batch.lines += line;
    if (!std::exchange(flush_is_due_, true)) loop_.post(flush_task());
  }

 private:
  struct Waiting {
    Channel::Done done;
    std::int64_t bytes;
    Duration begun;
  };
  struct Batch {
    std::string lines{};
    std::vector<Waiting> waiting{};
  };

  std::function<void()> flush_task() {
    return [self = weak_from_this()] {
      if (const auto writer = self.lock()) writer->flush();
    };
  }

  void flush() {
    const Batch& first = batches_.front();
    const AppendResult result = file_.append(first.lines);
    if (result.state == AppendState::kBusy && clock_.monotonic() - first.waiting.front().begun < timeout_) {
      loop_.after(kBusyPause, flush_task());
      return;
    }
    const Batch batch = std::move(batches_.front());
    batches_.pop_front();
    flush_is_due_ = !batches_.empty();
    if (flush_is_due_) loop_.post(flush_task());
    report(batch, outcome_of(result, path_));
  }

  void report(const Batch& batch, Outcome outcome) {
    const Duration now = clock_.monotonic();
    for (const Waiting& message : batch.waiting) {
      outcome.elapsed = now - message.begun;
      outcome.bytes_sent = outcome.cls == OutcomeClass::kNotSent ? 0 : message.bytes;
      message.done(outcome);
    }
  }

  std::string path_;
  Duration timeout_;
  Loop& loop_;
  Clock& clock_;
  AppendFile file_;
  std::deque<Batch> batches_{};  // the first is written next
  bool flush_is_due_ = false;    // a task on the loop will call flush()
};

class FileChannel final : public Channel {
 public:
  explicit FileChannel(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> check(const Dispatch& dispatch) const override { return check_dispatch(dispatch); }

  std::string preview(const Dispatch& dispatch) const override { return message_json(dispatch) + '\n'; }

  void send(Dispatch dispatch, Done done) override { writer_->add(message_json(dispatch) + '\n', std::move(done)); }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

Result<std::unique_ptr<Channel>> make_file_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const auto* driver = std::get_if<FileDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  if (!driver->path.starts_with('/'))
    return fail(Code::kConfig, "path: not absolute", "path = \"/var/log/notifyctl/messages.jsonl\"");
  return std::make_unique<FileChannel>(std::make_shared<Writer>(driver->path, config.timeout, ports.loop, ports.clock));
}

}  // namespace notify

#include "channel/exec.hpp"

#include <sysexits.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "channel/dispatch_check.hpp"
#include "channel/message_json.hpp"
#include "channel/personal_parts.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

std::string_view first_line(std::string_view output) {
  const std::size_t start = std::min(output.find_first_not_of(" \t\r\n"), output.size());
  return output.substr(start, output.find('\n', start) - start);
}

class ExecChannel final : public Channel {
 public:
  ExecChannel(const ChannelConfig& config, std::vector<std::string> command, const ChannelPorts& ports)
      : command_(std::move(command)), timeout_(config.timeout), processes_(ports.processes), clock_(ports.clock) {}

  Result<void> check(const Dispatch& dispatch) const override { return check_dispatch(dispatch); }

  // Without the arguments: one of them may be a secret.
  std::string preview(const Dispatch& dispatch) const override {
    return command_.front() + (command_.size() > 1 ? " …" : "") + "\n\n" + message_json(dispatch) + '\n';
  }

  void send(Dispatch dispatch, Done done) override {
    ProcessRequest request;
    request.argv = command_;
    request.input = message_json(dispatch);
    request.environment = {{"NOTIFYCTL_MESSAGE_ID", dispatch.envelope.message_id}};
    request.timeout = timeout_;
    const auto bytes = static_cast<std::int64_t>(request.input.size());
    // Captures no `this`: the channel may be gone before the program is.
    processes_.run(std::move(request), [done = std::move(done), personal = personal_parts(dispatch), bytes,
                                        &clock = clock_, begun = clock_.monotonic()](const ProcessResult& result) {
      Outcome outcome = classify_exit(result, personal);
      outcome.bytes_sent = result.started ? bytes : 0;
      outcome.elapsed = clock.monotonic() - begun;
      done(std::move(outcome));
    });
  }

 private:
  std::vector<std::string> command_;
  Duration timeout_;
  ProcessRunner& processes_;
  Clock& clock_;
};

}  // namespace

Outcome classify_exit(const ProcessResult& result, std::span<const std::string> personal) {
  if (result.shortage) return shortage_outcome(safe_text(result.error, limits::kDetail));
  Outcome outcome;
  outcome.phase = result.started ? "done" : "start";
  outcome.detail =
      safe_text_without(result.started ? first_line(result.output) : result.error, personal, limits::kDetail);
  if (!result.started) {
    outcome.cls = OutcomeClass::kNotSent;
    outcome.halt_channel = true;
    outcome.reason = "not-started";
    return outcome;
  }
  if (result.timed_out || result.signal != 0 || result.exit_code < 0) {
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = result.timed_out ? "timeout" : "signal-" + std::to_string(result.signal);
    return outcome;
  }
  const int code = result.exit_code;
  outcome.status = code;
  outcome.reason = "exit-" + std::to_string(code);
  if (code == EX_OK) {
    outcome.cls = OutcomeClass::kSent;
  } else if (code == EX_TEMPFAIL) {
    outcome.cls = OutcomeClass::kNotSent;
  } else if (code == EX_NOPERM || code == EX_CONFIG) {
    outcome.cls = OutcomeClass::kNotSent;
    outcome.halt_channel = true;
  } else if (code >= EX__BASE && code <= EX_PROTOCOL) {  // 64…76; 75 is done with above
    outcome.cls = OutcomeClass::kPermanent;
  } else {
    outcome.cls = OutcomeClass::kUnknown;
  }
  return outcome;
}

Result<std::unique_ptr<Channel>> make_exec_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  const auto* driver = std::get_if<ExecDriverConfig>(&config.driver);
  ASSERT(driver != nullptr);
  if (driver->command.empty() || driver->command.front().empty())
    return fail(Code::kConfig, "command: empty", "command = [\"/path/of/program\", \"argument\"]");
  return std::make_unique<ExecChannel>(config, driver->command, ports);
}

}  // namespace notify

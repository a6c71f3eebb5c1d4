#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "channel/exec.hpp"
#include "channel/message_json.hpp"
#include "core/safe_text.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using test::Bench;
using test::exited;
using test::make_config;
using test::make_dispatch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

ChannelConfig exec_config() {
  ChannelConfig config = make_config(ExecDriverConfig{{"/usr/local/bin/send-sms", "--fast"}});
  config.timeout = 7s;
  return config;
}

class ChannelExec : public testing::Test {
 protected:
  std::optional<Outcome> send(ProcessResult result, Dispatch dispatch = make_dispatch()) {
    bench.processes.script = {std::move(result)};
    return bench.send(*channel, std::move(dispatch));
  }

  Bench bench{};
  std::unique_ptr<Channel> channel = make_channel(exec_config(), bench.ports).value();
};

TEST_F(ChannelExec, GivesTheProgramTheMessageOnStandardInput) {
  const Dispatch dispatch = make_dispatch();
  ASSERT_TRUE(send(exited(0), dispatch).has_value());
  ASSERT_EQ(bench.processes.requests.size(), 1U);
  const ProcessRequest& request = bench.processes.requests.front();
  EXPECT_EQ(request.input, message_json(dispatch));
  EXPECT_THAT(request.environment, ElementsAre(Pair("NOTIFYCTL_MESSAGE_ID", "shop-0123abcd-7")));
  EXPECT_EQ(request.timeout, 7s);
}

TEST_F(ChannelExec, F57_NothingOfTheMessageIsInTheArguments) {
  ASSERT_TRUE(send(exited(0)).has_value());
  EXPECT_THAT(bench.processes.requests.front().argv, ElementsAre("/usr/local/bin/send-sms", "--fast"));
}

TEST_F(ChannelExec, EveryExitStatusHasItsMeaning) {
  for (int code = 0; code <= 255; ++code) {
    const Outcome outcome = send(exited(code)).value();
    OutcomeClass expected = OutcomeClass::kUnknown;
    if (code == 0) expected = OutcomeClass::kSent;
    if (code >= 64 && code <= 76) expected = OutcomeClass::kPermanent;
    if (code == 75 || code == 77 || code == 78) expected = OutcomeClass::kNotSent;
    EXPECT_EQ(outcome.cls, expected) << code;
    EXPECT_EQ(outcome.halt_channel, code == 77 || code == 78) << code;
    EXPECT_EQ(outcome.reason, "exit-" + std::to_string(code));
    EXPECT_EQ(outcome.status, code);
  }
}

TEST_F(ChannelExec, FailureToStartIsCertainlyNotSentAndHaltsTheLane) {
  ProcessResult result;
  result.error = "cannot run /usr/local/bin/send-sms: No such file or directory";
  const Outcome outcome = send(result).value();
  EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent);
  EXPECT_TRUE(outcome.halt_channel);
  EXPECT_EQ(outcome.reason, "not-started");
  EXPECT_THAT(outcome.detail, HasSubstr("No such file"));
  EXPECT_EQ(outcome.bytes_sent, 0);
}

TEST_F(ChannelExec, SignalAndTimeLimitAreUnknown) {
  ProcessResult killed = exited(-1, "half way\n");
  killed.signal = 9;
  Outcome outcome = send(killed).value();
  EXPECT_EQ(outcome.cls, OutcomeClass::kUnknown);
  EXPECT_EQ(outcome.reason, "signal-9");

  ProcessResult late = exited(75);  // it tidied up after SIGTERM, but what it had done before nobody knows
  late.timed_out = true;
  outcome = send(late).value();
  EXPECT_EQ(outcome.cls, OutcomeClass::kUnknown);
  EXPECT_EQ(outcome.reason, "timeout");
  EXPECT_FALSE(outcome.halt_channel);
}

TEST_F(ChannelExec, TheFirstLineOfTheOutputIsTheDetail) {
  EXPECT_EQ(send(exited(69, "\n  refused: no credit\nstack trace\n"))->detail, "refused: no credit");
  EXPECT_EQ(send(exited(69, ""))->detail, "");
  EXPECT_EQ(send(exited(69, "\n\n"))->detail, "");
  EXPECT_EQ(send(exited(69, "no line end"))->detail, "no line end");
}

TEST_F(ChannelExec, F59_ForeignOutputIsMadeSafeAndBounded) {
  const Outcome outcome = send(exited(1, "\xb0\xa1 \x1b[31m " + std::string(5000, 'x'))).value();
  EXPECT_TRUE(valid_utf8(outcome.detail));
  EXPECT_LE(outcome.detail.size(), limits::kDetail);
  EXPECT_EQ(outcome.detail.find('\x1b'), std::string::npos);
}

TEST_F(ChannelExec, F57_WhatTheProgramEchoesIsTakenOut) {
  Dispatch dispatch = make_dispatch();
  dispatch.content.body = "Your code is 482913\nBye";
  const std::string echo = "cannot send " + message_json(dispatch) + " to +821000000042";
  const Outcome outcome = send(exited(70, echo), dispatch).value();
  EXPECT_THAT(outcome.detail, Not(HasSubstr("482913")));
  EXPECT_THAT(outcome.detail, Not(HasSubstr("821000000042")));
  EXPECT_THAT(outcome.detail, HasSubstr("cannot send"));
}

TEST_F(ChannelExec, ResultMayComeAfterTheChannelIsGone) {
  channel->send(make_dispatch(), bench.keep());
  channel.reset();
  bench.loop.run();
  EXPECT_EQ(bench.outcomes.size(), 1U);
}

TEST(ChannelExecConfig, NeedsACommand) {
  Bench bench;
  for (const std::vector<std::string>& command : {std::vector<std::string>{}, std::vector<std::string>{""}}) {
    const auto channel = make_channel(make_config(ExecDriverConfig{command}), bench.ports);
    ASSERT_FALSE(channel.has_value());
    EXPECT_EQ(channel.error().code, Code::kConfig);
    EXPECT_EQ(channel.error().message, "channel lane: command: empty");
  }
}

}  // namespace
}  // namespace notify

#include "channel/credential.hpp"

#include <gtest/gtest.h>

#include "support/fakes.hpp"

namespace notify {
namespace {

using test::FakeClock;
using test::FakeCredentials;
using test::FakeLoop;

// A source, whose fetches the test answers.
struct Process {
  Process(FakeLoop& loop, FakeClock& clock, int holder, std::shared_ptr<FakeCredentials::Rows> rows,
          CredentialSource::Policy policy = {})
      : cache(holder, std::move(rows)),
        source(CredentialSource::make(
            "lane:1", policy,
            [this](std::function<void(CredentialSource::Fetched)> done) { fetches.push_back(std::move(done)); }, cache,
            loop, clock)) {}

  void get() {
    source->get([this](CredentialSource::Fetched result) {
      if (result)
        values.push_back(result->value.reveal());
      else
        failures.push_back(result.error());
    });
  }

  FakeCredentials cache;
  std::vector<std::function<void(CredentialSource::Fetched)>> fetches{};
  std::shared_ptr<CredentialSource> source;
  std::vector<std::string> values{};
  std::vector<Outcome> failures{};
};

class ChannelCredential : public testing::Test {
 protected:
  Credential credential(std::string value, Duration life = 1h) const {
    return {Secret(std::move(value)), clock.wall, clock.wall + life};
  }
  using Values = std::vector<std::string>;

  FakeClock clock{};
  FakeLoop loop{clock};
  std::shared_ptr<FakeCredentials::Rows> rows = std::make_shared<FakeCredentials::Rows>();
  Process one{loop, clock, 1, rows};
  Process two{loop, clock, 2, rows};
};

TEST_F(ChannelCredential, TwentyCallsCauseOneFetch) {
  for (int i = 0; i < 20; ++i) one.get();
  EXPECT_TRUE(one.fetches.empty()) << "nothing happens inside get()";
  loop.run();
  ASSERT_EQ(one.fetches.size(), 1U);
  EXPECT_TRUE(one.values.empty());
  one.fetches[0](credential("a"));
  EXPECT_EQ(one.values, Values(20, "a"));
  one.get();
  EXPECT_EQ(one.values.size(), 21U) << "at hand: at once";
  EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(ChannelCredential, TwoProcessesCauseOneFetch) {
  one.get();
  two.get();
  loop.run();
  ASSERT_EQ(one.fetches.size(), 1U);
  EXPECT_TRUE(two.fetches.empty());
  one.fetches[0](credential("a"));
  loop.advance(1s);
  EXPECT_EQ(two.values, Values{"a"});
  EXPECT_TRUE(two.fetches.empty());
}

TEST_F(ChannelCredential, AProcessThatDiesWhileFetchingHoldsUpTheOthersUntilItsLeaseEnds) {
  one.get();
  loop.run();
  two.get();
  loop.advance(5s);
  ASSERT_EQ(two.failures.size(), 1U);
  EXPECT_EQ(two.failures[0].reason, "credential-late");
  EXPECT_EQ(two.failures[0].cls, OutcomeClass::kNotSent);
  EXPECT_TRUE(two.failures[0].not_begun) << "it costs the message nothing, and the lane neither";
  EXPECT_FALSE(two.failures[0].halt_channel);
  loop.advance(4s);
  two.get();
  loop.advance(2s);
  ASSERT_EQ(two.fetches.size(), 1U);
  two.fetches[0](credential("b"));
  EXPECT_EQ(two.values, Values{"b"});
  one.fetches[0](credential("late"));
  EXPECT_EQ(rows->at("lane:1").kept->value.reveal(), "b") << "what comes after the lease changes nothing";
}

TEST_F(ChannelCredential, IsRenewedEarlyWhileCallsGoOn) {
  one.get();
  loop.run();
  one.fetches[0](credential("a"));
  loop.advance(54min);
  one.get();
  loop.run();
  EXPECT_EQ(one.fetches.size(), 1U);
  loop.advance(2min);
  one.get();
  loop.run();
  EXPECT_EQ(one.values, (Values{"a", "a", "a"}));
  ASSERT_EQ(one.fetches.size(), 2U);
  one.fetches[1](credential("b"));
  one.get();
  EXPECT_EQ(one.values.back(), "b");
}

TEST_F(ChannelCredential, ARenewalThatFailsHurtsNobodyWhileTheOldOneHolds) {
  one.get();
  loop.run();
  one.fetches[0](credential("a"));
  loop.advance(56min);
  one.get();
  loop.run();
  one.fetches.at(1)(tl::unexpected(credential_failed("token-http-500", "")));
  one.get();
  loop.run();
  EXPECT_EQ(one.fetches.size(), 2U) << "not again at once";
  EXPECT_EQ(one.values, (Values{"a", "a", "a"}));
  loop.advance(31s);
  one.get();
  loop.run();
  EXPECT_EQ(one.fetches.size(), 3U);
  loop.advance(4min);
  one.get();
  EXPECT_EQ(one.values.size(), 4U) << "it is over now";
}

TEST_F(ChannelCredential, AShortLivedOneIsUsedForMostOfItsLife) {
  one.get();
  loop.run();
  one.fetches[0](credential("a", 60s));
  loop.advance(29s);
  one.get();
  loop.run();
  EXPECT_EQ(one.fetches.size(), 1U);
  loop.advance(24s);
  one.get();
  EXPECT_EQ(one.values, (Values{"a", "a", "a"}));
  loop.advance(2s);
  one.get();
  EXPECT_EQ(one.values.size(), 3U);
}

TEST_F(ChannelCredential, FailureIsToldToAllWhoWait) {
  one.get();
  one.get();
  loop.run();
  one.fetches[0](tl::unexpected(credential_failed("token-http-401", "no")));
  ASSERT_EQ(one.failures.size(), 2U);
  EXPECT_TRUE(one.failures[0].halt_channel);
  EXPECT_EQ(one.failures[0].cls, OutcomeClass::kNotSent);
  two.get();
  loop.run();
  EXPECT_EQ(two.fetches.size(), 1U) << "nobody has to wait for the lease of a fetch that has failed";
}

TEST_F(ChannelCredential, AFetchThatNeverEndsEnds) {
  one.get();
  loop.run();
  loop.advance(8s);
  one.get();
  loop.advance(3s);
  ASSERT_EQ(one.failures.size(), 2U);
  EXPECT_EQ(one.failures[1].reason, "credential-timeout");
  EXPECT_TRUE(one.failures[1].halt_channel);
}

TEST_F(ChannelCredential, OneRefusalBringsANewOneASecondHalts) {
  one.get();
  loop.run();
  one.fetches[0](credential("a"));
  const Credential a = credential("a");
  EXPECT_TRUE(one.source->refused(a));
  EXPECT_TRUE(one.source->refused(a)) << "another call that carried the same one";
  EXPECT_FALSE(rows->at("lane:1").kept.has_value());
  one.get();
  loop.run();
  one.fetches.at(1)(credential("b"));
  EXPECT_TRUE(one.source->refused(a)) << "a late answer says nothing of the new one";
  const Credential b = credential("b");
  EXPECT_FALSE(one.source->refused(b));
  one.get();
  loop.run();
  EXPECT_EQ(one.fetches.size(), 3U) << "whoever probes the lane does it with another one";
  one.fetches[2](credential("c"));
  one.source->accepted();
  EXPECT_TRUE(one.source->refused(credential("c")));
}

TEST_F(ChannelCredential, ARefusalLeavesWhatAnotherProcessHasRenewed) {
  one.get();
  loop.run();
  one.fetches[0](credential("a"));
  two.get();
  loop.run();
  EXPECT_TRUE(one.source->refused(credential("a")));
  one.get();
  loop.run();
  one.fetches.at(1)(credential("b"));
  EXPECT_TRUE(two.source->refused(credential("a")));
  two.get();
  loop.run();
  EXPECT_EQ(two.values.back(), "b");
  EXPECT_TRUE(two.fetches.empty());
}

TEST_F(ChannelCredential, AYoungOneIsNotReplacedWhereThatIsPunished) {
  CredentialSource::Policy policy;
  policy.minimum_age = 20min;
  Process apple(loop, clock, 3, rows, policy);
  apple.get();
  loop.run();
  const Credential a = credential("a");
  apple.fetches[0](a);
  loop.advance(19min);
  EXPECT_FALSE(apple.source->refused(a));
  apple.get();
  EXPECT_EQ(apple.values, (Values{"a", "a"}));
  loop.advance(2min);
  EXPECT_TRUE(apple.source->refused(a));
}

TEST_F(ChannelCredential, ABrokenCacheIsNoFaultOfTheMessage) {
  one.cache.broken = true;
  one.get();
  loop.run();
  ASSERT_EQ(one.failures.size(), 1U);
  EXPECT_EQ(one.failures[0].cls, OutcomeClass::kNotSent);
  EXPECT_TRUE(one.failures[0].not_begun);
  EXPECT_EQ(one.failures[0].reason, "credential-cache");
}

TEST(CredentialName, HoldsTheIdentityWithoutTellingIt) {
  const std::string name = credential_name("push", "TEAM1 KEY1 topic");
  EXPECT_TRUE(name.starts_with("push:"));
  EXPECT_EQ(name.find("KEY1"), std::string::npos);
  EXPECT_EQ(name, credential_name("push", "TEAM1 KEY1 topic"));
  EXPECT_NE(name, credential_name("push", "TEAM1 KEY2 topic"));
  EXPECT_NE(name, credential_name("push2", "TEAM1 KEY1 topic"));
}

}  // namespace
}  // namespace notify

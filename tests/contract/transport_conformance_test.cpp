// What every transport must do. A new one adds its harness to the list at the end.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"
#include "transport/embedded.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A transport with what surrounds it.
class TransportHarness {
 public:
  virtual ~TransportHarness() = default;
  virtual Transport& transport() = 0;
  // A message that a relay has claimed and may publish now.
  virtual Envelope claimed(const std::string& key, const std::string& channel, const std::string& kind,
                           int priority) = 0;
  // Runs an operation as its caller would: inside Store::write, or outside.
  virtual void run(const std::function<Result<void>()>& body) = 0;
  Instant now = kSomeTime;
};

class EmbeddedHarness final : public TransportHarness {
 public:
  Transport& transport() override { return transport_; }
  Envelope claimed(const std::string& key, const std::string& channel, const std::string& kind, int priority) override {
    Envelope envelope;
    run([&]() -> Result<void> {
      TRY_ASSIGN(const InsertResult row, store_->outbox().insert(message(key, channel, kind, priority), now));
      TRY_ASSIGN(const auto candidate, store_->outbox().candidate(row.outbox_id, true));
      envelope = candidate->envelope;
      TRY(store_->outbox().claim(row.outbox_id, {row.outbox_id, kRelay, now, now + 1h}));
      return {};
    });
    return envelope;
  }
  void run(const std::function<Result<void>()>& body) override {
    const Result<void> done = store_->write(body);
    if (!done) throw std::runtime_error(done.error().message);
  }

 private:
  static constexpr std::int64_t kRelay = 1;
  ScratchDirectory directory_;
  std::unique_ptr<SqliteStore> store_ = open_or_die(creating(directory_ / "notify.db"));
  EmbeddedTransport transport_{store_->queue(), kRelay};
};

using HarnessFactory = std::unique_ptr<TransportHarness> (*)();

class TransportConformance : public ::testing::TestWithParam<HarnessFactory> {
 protected:
  template <class Body>
  auto done(Body body) {
    std::optional<typename decltype(body())::value_type> out;
    harness->run([&]() -> Result<void> {
      auto result = body();
      if (!result) return fail(result.error());
      out = std::move(*result);
      return {};
    });
    return std::move(*out);
  }
  Envelope publish(const std::string& key, const std::string& channel = "mail", const std::string& kind = "order",
                   int priority = 5) {
    const Envelope envelope = harness->claimed(key, channel, kind, priority);
    const auto answers = done([&] { return transport().publish(std::span(&envelope, 1), harness->now); });
    EXPECT_THAT(answers, SizeIs(1));
    EXPECT_EQ(answers[0].kind, PublishAnswer::Kind::kConfirmed) << answers[0].reason;
    return envelope;
  }
  std::vector<Delivery> receive(const std::string& channel, int limit, std::int64_t holder = 7) {
    const std::vector<ReceiveQuota> lanes{{channel, limit}};
    return done([&] { return transport().receive({lanes, 0, harness->now, harness->now + 5min, holder}); });
  }
  Transport& transport() { return harness->transport(); }

  std::unique_ptr<TransportHarness> harness = GetParam()();
};

TEST_P(TransportConformance, WhatIsPublishedIsReceivedWhole) {
  const Envelope sent = publish("k1");
  const auto got = receive("mail", 10);
  ASSERT_THAT(got, SizeIs(1));
  const Envelope& envelope = got[0].envelope;
  EXPECT_EQ(got[0].handle.message_id, sent.message_id);
  EXPECT_EQ(envelope.message_id, sent.message_id);
  EXPECT_EQ(envelope.outbox_id, sent.outbox_id);
  EXPECT_EQ(envelope.dedup_key, sent.dedup_key);
  EXPECT_EQ(envelope.channel, sent.channel);
  EXPECT_EQ(envelope.recipient, sent.recipient);
  EXPECT_EQ(envelope.kind, sent.kind);
  EXPECT_EQ(envelope.category, sent.category);
  EXPECT_EQ(envelope.payload, sent.payload);
  EXPECT_EQ(envelope.expires, sent.expires);
  EXPECT_EQ(envelope.priority, sent.priority);
  EXPECT_EQ(envelope.correlation, sent.correlation);
  EXPECT_EQ(envelope.enqueued_at, sent.enqueued_at);
}

TEST_P(TransportConformance, ABatchIsAnsweredMessageByMessageInOrder) {
  std::vector<Envelope> batch{harness->claimed("a", "mail", "order", 5), harness->claimed("b", "mail", "order", 5)};
  Envelope stranger = batch[0];
  stranger.outbox_id = 4711;
  stranger.message_id = "nobody-has-claimed-it";
  if (transport().in_store_transaction()) batch.insert(batch.begin() + 1, stranger);
  const auto answers = done([&] { return transport().publish(batch, harness->now); });
  ASSERT_THAT(answers, SizeIs(batch.size()));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(answers[i].kind,
              batch[i].outbox_id == 4711 ? PublishAnswer::Kind::kRefused : PublishAnswer::Kind::kConfirmed);
  }
  EXPECT_THAT(receive("mail", 10), SizeIs(2));
}

TEST_P(TransportConformance, AckedIsGone) {
  publish("k1");
  const auto got = receive("mail", 1);
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_TRUE(done([&] { return transport().ack(got[0].handle); }));
  harness->now = harness->now + 1h;
  EXPECT_THAT(receive("mail", 1), IsEmpty());
}

TEST_P(TransportConformance, ALostLeaseIsDeliveredAgainAndItsHandleIsWorthless) {
  publish("k1");
  const auto first = receive("mail", 1);
  ASSERT_THAT(first, SizeIs(1));
  harness->now = harness->now + 5min;
  const auto second = receive("mail", 1, 8);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].lost_leases, 1);
  EXPECT_FALSE(done([&] { return transport().ack(first[0].handle); }));
  EXPECT_FALSE(done([&] { return transport().retry_at(first[0].handle, harness->now, 1, "late"); }));
  EXPECT_FALSE(done([&] { return transport().extend(first[0].handle, harness->now + 1h); }));
  EXPECT_TRUE(done([&] { return transport().ack(second[0].handle); }));
}

TEST_P(TransportConformance, RetriesComeBackAtTheirTimeWithTheirTries) {
  publish("k1");
  const auto first = receive("mail", 1);
  EXPECT_TRUE(done([&] { return transport().retry_at(first[0].handle, harness->now + 10s, 2, "http-503"); }));
  EXPECT_THAT(receive("mail", 1), IsEmpty());
  const std::vector<std::string> lanes{"mail"};
  EXPECT_EQ(transport().next_ready(lanes, harness->now)->value(), harness->now + 10s);
  harness->now = harness->now + 10s;
  const auto second = receive("mail", 1);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].tries, 2);
  EXPECT_EQ(second[0].lost_leases, 0);
}

TEST_P(TransportConformance, AnExtendedLeaseHolds) {
  publish("k1");
  const auto got = receive("mail", 1);
  EXPECT_TRUE(done([&] { return transport().extend(got[0].handle, harness->now + 1h); }));
  harness->now = harness->now + 30min;
  EXPECT_THAT(receive("mail", 1, 8), IsEmpty());
  EXPECT_TRUE(done([&] { return transport().ack(got[0].handle); }));
}

TEST_P(TransportConformance, LanesAreApartUrgentOnesFirst) {
  publish("mail", "mail");
  publish("lazy", "sms", "order", 1);
  publish("urgent", "sms", "order", 9);
  const auto got = receive("sms", 1);
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_EQ(got[0].envelope.dedup_key, "urgent");
  EXPECT_THAT(receive("sms", 10), SizeIs(1));
  EXPECT_THAT(receive("push", 10), IsEmpty());
}

TEST_P(TransportConformance, TheLeasesOfADeadProcessEndAtOnce) {
  publish("k1");
  receive("mail", 1, 7);
  EXPECT_EQ(done([&] { return transport().recover_holder(9, harness->now); }), 0);
  const int recovered = done([&] { return transport().recover_holder(7, harness->now); });
  if (recovered == 0 && !transport().in_store_transaction()) GTEST_SKIP() << "the broker does this by itself";
  const auto again = receive("mail", 1, 8);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].lost_leases, 1);
}

INSTANTIATE_TEST_SUITE_P(Transports, TransportConformance,
                         ::testing::Values(HarnessFactory{[]() -> std::unique_ptr<TransportHarness> {
                           return std::make_unique<EmbeddedHarness>();
                         }}),
                         [](const auto& which) { return which.index == 0 ? "embedded" : "other"; });

}  // namespace
}  // namespace notify::test

// Recipients, opt-outs, dead addresses and calls per recipient, over the real store.

#include <gmock/gmock.h>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RecipientTest : public StoreTest {
 protected:
  RecipientTable& recipients() { return store->recipients(); }

  void set(const std::string& id, const std::string& channel, std::vector<std::string> addresses, bool enable = true) {
    RecipientChange change;
    change.id = id;
    change.endpoints[channel] = std::move(addresses);
    change.enable = enable;
    write([&] { return recipients().set(change, now); });
  }
  void opt_out(const std::string& subject, const ConsentScope& scope = {}) {
    EXPECT_TRUE(written([&] { return recipients().opt_out({subject, scope, now}); }));
  }
  bool out(const std::string& recipient, const std::string& address = {}, const std::string& channel = "sms",
           const std::string& category = kTransactional, const std::string& kind = "K") {
    return written([&] { return recipients().opted_out(recipient, address, channel, category, kind); });
  }
  Resolved resolve(const std::string& id, const std::string& channel = "sms") {
    return *recipients().resolve(id, channel);
  }
};

TEST_F(RecipientTest, TheFirstEnabledEndpointIsUsed) {
  EXPECT_EQ(resolve("42").kind, Resolved::Kind::kUnknown);
  set("42", "push", {"a", "b"});
  EXPECT_EQ(resolve("42").kind, Resolved::Kind::kNoEndpoint);
  EXPECT_EQ(resolve("42", "push").address, "a");
  EXPECT_TRUE(written([&] { return recipients().disable_address("push", "a", "http-410", {}, now); }));
  EXPECT_EQ(resolve("42", "push").address, "b");
  EXPECT_EQ(written([&] { return recipients().disable_endpoints("42", "push", "moved", now); }), 2);
  EXPECT_EQ(resolve("42", "push").kind, Resolved::Kind::kDisabled);
}

TEST_F(RecipientTest, WhatIsNotGivenStaysAndAListReplacesTheOneBefore) {
  RecipientChange change;
  change.id = "42";
  change.locale = "ko";
  change.endpoints = {{"sms", {"+821011112222"}}, {"push", {"a", "b"}}};
  change.groups = {"x", "y"};
  write([&] { return recipients().set(change, now); });
  change = {};
  change.id = "42";
  change.endpoints = {{"push", {"c"}}};
  write([&] { return recipients().set(change, now + 1s); });
  const RecipientRecord record = recipients().find("42")->value();
  EXPECT_EQ(record.locale, "ko");
  EXPECT_THAT(record.groups, ElementsAre("x", "y"));
  ASSERT_THAT(record.endpoints, SizeIs(2));
  EXPECT_EQ(record.endpoints[0].address, "c");
  EXPECT_EQ(record.endpoints[1].address, "+821011112222");
  EXPECT_EQ(record.created_at, now);
  EXPECT_EQ(record.updated_at, now + 1s);
  EXPECT_FALSE(recipients().find("43")->has_value());
}

TEST_F(RecipientTest, AnImportBringsNoDeadAddressBackButSetDoes) {
  set("42", "push", {"a", "b"});
  write([&] { return recipients().disable_address("push", "a", "http-410", {}, now).map([](bool) {}); });
  write([&] { return recipients().disable_endpoints("42", "push", "moved", now).map([](int) {}); });
  set("42", "push", {"a", "b"}, false);
  EXPECT_EQ(resolve("42", "push").kind, Resolved::Kind::kDisabled);
  set("42", "push", {"a", "b"}, true);
  EXPECT_EQ(resolve("42", "push").address, "a");
  EXPECT_FALSE(*recipients().dead("push", "a"));
}

TEST_F(RecipientTest, AnOptOutCoversItsScope) {
  EXPECT_FALSE(out("+821012345678"));
  opt_out("+821012345678", {"", kAdvertising, ""});
  EXPECT_FALSE(out("+821012345678"));
  EXPECT_TRUE(out("+82 10-1234-5678", "", "sms", kAdvertising));
  EXPECT_TRUE(out("+821012345678", "", "mail", kAdvertising));
  opt_out("@42", {"sms", "", "NEWS"});
  EXPECT_TRUE(out("@42", "", "sms", kTransactional, "NEWS"));
  EXPECT_FALSE(out("@42", "", "mail", kTransactional, "NEWS"));
  EXPECT_FALSE(out("@42"));
  opt_out("@42");
  EXPECT_TRUE(out("@42"));
}

TEST_F(RecipientTest, AnOptOutHoldsHoweverTheMessageIsAddressed) {
  set("42", "sms", {"+82 10 1234 5678"});
  opt_out("@42");
  EXPECT_TRUE(out("@42", "+82 10 1234 5678"));
  EXPECT_TRUE(out("+821012345678"));  // the address of somebody who opted out
  EXPECT_FALSE(out("+821099999999"));
  EXPECT_EQ(written([&] { return recipients().opt_in("@42", {}); }), 1);
  EXPECT_FALSE(out("+821012345678"));
  opt_out("+821012345678");
  EXPECT_TRUE(out("@42", "+82 10 1234 5678"));
  EXPECT_FALSE(out("@42"));  // the address is not known yet
}

TEST_F(RecipientTest, OptingInEndsWhatLiesInItsScope) {
  opt_out("@42", {"sms", "", ""});
  opt_out("@42", {"sms", kAdvertising, "NEWS"});
  opt_out("@42", {"mail", "", ""});
  EXPECT_EQ(written([&] { return recipients().opt_in("@42", {"sms", "", ""}); }), 2);
  EXPECT_THAT(*recipients().opt_outs("@42"), SizeIs(1));
  EXPECT_FALSE(written([&] { return recipients().opt_out({"@42", {"mail", "", ""}, now}); }));  // is there already
}

TEST_F(RecipientTest, ADeadAddressIsDeadForItsChannelHoweverItIsWritten) {
  EXPECT_TRUE(written([&] { return recipients().disable_address("mail", "Ann@Example.com", "gone", {}, now); }));
  EXPECT_FALSE(written([&] { return recipients().disable_address("mail", "ann@example.com", "gone", {}, now); }));
  EXPECT_TRUE(*recipients().dead("mail", "ANN@example.com"));
  EXPECT_FALSE(*recipients().dead("push", "ann@example.com"));
}

TEST_F(RecipientTest, AnAddressThatWasRegisteredSinceItWasSeenDeadLives) {
  set("42", "push", {"a", "b"}, false);
  const auto disabled = [&](const std::string& address, std::optional<Instant> since) {
    const bool changed =
        written([&] { return recipients().disable_address("push", address, "gone", since, now + 1h); });
    EXPECT_EQ(*recipients().dead("push", address), changed);
    return changed;
  };
  EXPECT_FALSE(disabled("a", now - 1ms));
  EXPECT_FALSE(disabled("a", now)) << "seen dead before, then registered in the same millisecond";
  EXPECT_TRUE(disabled("a", now + 1ms));
  EXPECT_TRUE(disabled("b", std::nullopt)) << "nobody says since when";
  EXPECT_TRUE(disabled("nobody's", now - 1h)) << "nor is it known since when it is registered";
}

TEST_F(RecipientTest, SettingAnAddressRegistersItAndImportingItAgainDoesNot) {
  const auto gone = [&](Instant since) {
    return written([&] { return recipients().disable_address("push", "a", "gone", since, now + 1h); });
  };
  set("42", "push", {"a"}, false);
  now = now + 1min;
  set("42", "push", {"b", "a"}, false);
  EXPECT_TRUE(gone(now - 1s)) << "the list of every night names it, dead or not";
  set("42", "push", {"a"}, true);
  EXPECT_FALSE(gone(now - 1s));
  set("43", "push", {"a"}, false);
  now = now + 1min;
  set("43", "push", {}, false);
  set("43", "push", {"a"}, false);
  EXPECT_FALSE(gone(now - 1s)) << "it has somebody new";
  sql("UPDATE notification_endpoint SET registered_at = NULL");
  EXPECT_TRUE(gone(now - 1h)) << "registered before such times were kept";
}

TEST_F(RecipientTest, NoSpanHasMoreCallsThanTheLimit) {
  const std::vector<std::string> subjects{"+8210", "@42"};
  const auto full = [&](const std::string& id, Instant at) {
    return *recipients().full_until("sms", subjects, id, 2, 1h, at);
  };
  const auto count = [&](const std::string& id, Instant at) {
    write([&] { return recipients().count_call("sms", subjects, id, 1h, at); });
  };
  EXPECT_EQ(full("m1", now), std::nullopt);
  count("m1", now);
  count("m2", now + 10min);
  EXPECT_EQ(full("m3", now + 20min), now + 1h);      // when the first one leaves the span
  EXPECT_EQ(full("m2", now + 20min), std::nullopt);  // its own call is no reason to wait
  EXPECT_EQ(full("m3", now + 1h), std::nullopt);
  const std::vector<std::string> other{"+8211"};
  EXPECT_EQ(*recipients().full_until("sms", other, "m3", 2, 1h, now), std::nullopt);
  const std::vector<std::string> by_id{"+8219", "@42"};  // another address of the same recipient
  EXPECT_EQ(*recipients().full_until("sms", by_id, "m3", 2, 1h, now + 20min), now + 1h);
  write([&] { return recipients().forget_call("sms", subjects, "m1", now); });
  EXPECT_EQ(full("m3", now + 20min), std::nullopt);
}

TEST_F(RecipientTest, CountedCallsDoNotPileUp) {
  for (int i = 0; i < 50; ++i) {
    const std::vector<std::string> subjects{"+82" + std::to_string(i)};
    write([&] { return recipients().count_call("sms", subjects, "m" + std::to_string(i), 1h, now + i * 1min); });
  }
  const std::vector<std::string> later{"+99"};
  for (int i = 0; i < 13; ++i)
    write([&] { return recipients().count_call("sms", later, "n" + std::to_string(i), 1h, now + 24h); });
  EXPECT_EQ(number("SELECT count(*) FROM notification_recipient_call WHERE subject <> '+99'"), 0);
}

}  // namespace
}  // namespace notify::test

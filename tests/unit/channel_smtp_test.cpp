#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/safe_text.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using test::Bench;
using test::mail_refused;
using test::mail_taken;
using test::mail_unanswered;
using test::make_config;
using test::make_dispatch;
using test::secret_from_file;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTo = "kim821000000042@example.com";

// No error at all is one without words.
template <class T>
Error error_in(const Result<T>& result) {
  return result ? Error{} : result.error();
}

SmtpDriverConfig through(const std::string& host = "mail.shop.test") {
  SmtpDriverConfig driver;
  driver.host = host;
  driver.port = 587;
  driver.from = "Shop <shop@shop.test>";
  return driver;
}

SmtpDriverConfig with_password() {
  SmtpDriverConfig driver = through();
  driver.username = "shop";
  driver.password = secret_from_file("pass_SECRET");
  return driver;
}

Dispatch mail_dispatch(std::string address = kTo) { return make_dispatch("shop-0123abcd-7", std::move(address)); }

class ChannelSmtp : public testing::Test {
 protected:
  void make(SmtpDriverConfig driver, std::function<void(ChannelConfig&)> adjust = {}) {
    ChannelConfig config = make_config(std::move(driver));
    if (adjust) adjust(config);
    Result<std::unique_ptr<Channel>> made = make_channel(config, bench.ports);
    ASSERT_TRUE(made) << made.error().message;
    channel = std::move(*made);
  }
  Error error_of(SmtpDriverConfig driver) {
    return error_in(make_channel(make_config(std::move(driver)), bench.ports));
  }
  Outcome send(MailEvidence evidence, Dispatch dispatch = mail_dispatch()) {
    bench.mail.script = {std::move(evidence)};
    return bench.send(*channel, std::move(dispatch)).value();
  }
  const MailRequest& last() const { return bench.mail.requests.back(); }

  Bench bench{};
  std::unique_ptr<Channel> channel{};
};

TEST_F(ChannelSmtp, HandsOverOneTransaction) {
  make(with_password(), [](ChannelConfig& config) {
    config.timeout = 40s;
    config.connect_timeout = 3s;
  });
  const Outcome outcome = send(mail_taken());
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent);
  EXPECT_EQ(outcome.status, 250);
  EXPECT_EQ(outcome.reference, "Q1");
  EXPECT_EQ(outcome.detail, "");
  EXPECT_EQ(outcome.bytes_sent, static_cast<std::int64_t>(last().message.size()));
  EXPECT_EQ(last().host, "mail.shop.test");
  EXPECT_EQ(last().port, 587);
  EXPECT_EQ(last().tls, MailTls::kStartTls);
  EXPECT_EQ(last().user, "shop");
  EXPECT_EQ(last().password, "pass_SECRET");
  EXPECT_THAT(last().mechanisms, testing::ElementsAre("PLAIN", "LOGIN"));
  EXPECT_EQ(last().sender, "shop@shop.test");
  EXPECT_EQ(last().recipient, kTo);
  EXPECT_FALSE(last().needs_utf8);
  EXPECT_EQ(last().timeout, 40s);
  EXPECT_EQ(last().connect_timeout, 3s);
  EXPECT_THAT(last().message, HasSubstr("\r\nMessage-ID: <shop-0123abcd-7@shop.test>\r\n"));
}

TEST_F(ChannelSmtp, MechanismsFollowTheSecretAndTheSetting) {
  struct Case {
    const char* auth;
    bool token;
    std::vector<std::string> expected;
  };
  for (const Case& row : {Case{"", false, {"PLAIN", "LOGIN"}}, Case{"plain", false, {"PLAIN"}},
                          Case{"login", false, {"LOGIN"}}, Case{"", true, {"OAUTHBEARER", "XOAUTH2"}},
                          Case{"xoauth2", true, {"XOAUTH2"}}, Case{"oauthbearer", true, {"OAUTHBEARER"}}}) {
    SmtpDriverConfig driver = through();
    driver.username = "shop";
    driver.auth = row.auth;
    (row.token ? driver.token : driver.password) = secret_from_file("s3cret_SECRET");
    make(driver);
    send(mail_taken());
    EXPECT_EQ(last().mechanisms, row.expected);
    EXPECT_EQ(last().token.empty(), !row.token);
    EXPECT_EQ(last().password.empty(), row.token);
  }
  make(through());
  send(mail_taken());
  EXPECT_TRUE(last().mechanisms.empty());
}

TEST_F(ChannelSmtp, TheReturnPathCanNameTheMessage) {
  SmtpDriverConfig driver = through();
  driver.return_path = "bounce+{id}@bounces.shop.test";
  driver.message_id_domain = "ids.shop.test";
  make(driver);
  send(mail_taken());
  EXPECT_EQ(last().sender, "bounce+shop-0123abcd-7@bounces.shop.test");
  EXPECT_THAT(last().message, HasSubstr("<shop-0123abcd-7@ids.shop.test>"));
}

TEST_F(ChannelSmtp, AddressesOutsideAsciiNeedAServerThatKnowsThem) {
  make(through());
  send(mail_taken(), mail_dispatch("민수@예시.test"));
  EXPECT_TRUE(last().needs_utf8);
  EXPECT_THAT(last().message, HasSubstr("To: 민수@예시.test\r\n"));
  EXPECT_FALSE(channel->check(mail_dispatch("kim@예시.test"))) << "punycode reaches every server";
}

TEST_F(ChannelSmtp, OnlyAdvertisingCanBeUnsubscribedFrom) {
  SmtpDriverConfig driver = through();
  driver.list_unsubscribe = "https://shop.test/u?t={data.token}";
  make(driver);
  send(mail_taken());
  EXPECT_THAT(last().message, Not(HasSubstr("List-Unsubscribe")));
  Dispatch advertising = mail_dispatch();
  advertising.envelope.category = kAdvertising;
  advertising.content.data = R"({"token":"o/p"})";
  send(mail_taken(), advertising);
  EXPECT_THAT(last().message, HasSubstr("List-Unsubscribe: <https://shop.test/u?t=o%2Fp>\r\n"));
  EXPECT_THAT(last().message, HasSubstr("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"));
  advertising.content.data = "{}";
  EXPECT_FALSE(channel->check(advertising));
}

TEST_F(ChannelSmtp, F46_CheckFindsWhatCannotBeSent) {
  make(through());
  EXPECT_TRUE(channel->check(mail_dispatch()));
  for (const std::string bad : {"+821000000042", "a@x.test>\r\nRCPT TO:<e@evil.test", "a b@c.test", "a@"})
    EXPECT_EQ(error_in(channel->check(mail_dispatch(bad))).field, "to") << bad;
  for (const std::string bad : {"x\r\nBcc: e@evil.test", "x\n", "x\r", "x\xc2\x85", "x\xe2\x80\xa8"}) {
    Dispatch dispatch = mail_dispatch();
    dispatch.content.subject = bad;
    EXPECT_EQ(error_in(channel->check(dispatch)).field, "subject") << bad;
  }
  Dispatch attached = mail_dispatch();
  attached.content.data = R"({"attachments":[{"filename":"../x","content_base64":""}]})";
  EXPECT_EQ(error_in(channel->check(attached)).field, "data");
}

TEST_F(ChannelSmtp, CheckKnowsTheLargestMail) {
  SmtpDriverConfig driver = through();
  driver.max_message_bytes = 2000;
  make(driver);
  Dispatch dispatch = mail_dispatch();
  EXPECT_TRUE(channel->check(dispatch));
  dispatch.content.body = std::string(1500, 'x');  // 2,000 and more in base64
  const Error error = error_in(channel->check(dispatch));
  EXPECT_THAT(error.message, HasSubstr("max_message_bytes (2000)"));
}

TEST_F(ChannelSmtp, OutcomesAreTheClassifiers) {
  make(through());
  const Outcome dead = send(mail_refused(MailStage::kRecipient, 550, "5.1.1", "no such user"));
  EXPECT_EQ(dead.cls, OutcomeClass::kPermanent);
  EXPECT_TRUE(dead.disable_endpoint);
  EXPECT_EQ(dead.detail, "5.1.1 no such user");
  EXPECT_EQ(send(mail_unanswered()).cls, OutcomeClass::kUnknown);
  const Outcome later = send(mail_refused(MailStage::kRecipient, 451, "4.7.1"));
  EXPECT_EQ(later.cls, OutcomeClass::kNotSent);
  EXPECT_GE(later.retry_after.value_or(Duration{0}), 5min);
}

TEST_F(ChannelSmtp, F57_NoOutcomeRepeatsSecretsAddressesOrTexts) {
  make(with_password());
  const std::string echo = std::string("<") + kTo + "> pass_SECRET cGFzc19TRUNSRVQ= Your order 42 is paid. " + kTo;
  for (const MailEvidence& evidence : {mail_refused(MailStage::kRecipient, 550, "5.1.1", echo),
                                       mail_refused(MailStage::kLogin, 535, "5.7.8", echo), mail_taken(echo)}) {
    const Outcome outcome = send(evidence);
    const std::string all = outcome.detail + outcome.reference + outcome.reason + outcome.phase;
    EXPECT_THAT(all, Not(HasSubstr("821000000042")));
    EXPECT_THAT(all, Not(HasSubstr("SECRET")));
    EXPECT_THAT(all, Not(HasSubstr("cGFzc19TRUNSRVQ=")));
    EXPECT_THAT(all, Not(HasSubstr("order 42")));
    EXPECT_TRUE(valid_utf8(all));
  }
}

TEST_F(ChannelSmtp, F39_ATokenInAFileIsReadAgain) {
  int reads = 0;
  std::string now = "tok1_SECRET";
  bench.ports.read_secret = [&](const SecretSetting&) -> Result<Secret> { return ++reads, Secret(now); };
  SmtpDriverConfig driver = through();
  driver.username = "shop";
  driver.token = secret_from_file("tok0_SECRET");
  make(driver);
  send(mail_taken());
  EXPECT_EQ(last().token, "tok1_SECRET");
  send(mail_taken());
  EXPECT_EQ(reads, 1) << "not before every message";
  now = "tok2_SECRET";
  bench.clock.advance(1min);
  send(mail_taken());
  EXPECT_EQ(last().token, "tok2_SECRET");
  now = "tok3_SECRET";
  send(mail_refused(MailStage::kLogin, 535, "5.7.8"));
  send(mail_taken());
  EXPECT_EQ(last().token, "tok3_SECRET") << "at once when the server did not take the old one";
  bench.ports.read_secret = {};
}

TEST_F(ChannelSmtp, ATokenThatCannotBeReadLeavesTheOldOne) {
  bench.ports.read_secret = [](const SecretSetting&) -> Result<Secret> { return fail(Code::kConfig, "gone"); };
  SmtpDriverConfig driver = through();
  driver.username = "shop";
  driver.token = secret_from_file("tok0_SECRET");
  make(driver);
  send(mail_taken());
  EXPECT_EQ(last().token, "tok0_SECRET");
}

TEST_F(ChannelSmtp, ThePreviewShowsTheMailAndNoSecret) {
  make(with_password());
  Dispatch dispatch = mail_dispatch();
  dispatch.content.html = "<b>paid</b>";
  dispatch.content.data =
      R"({"attachments":[{"content_base64":"SGk=","filename":"a.txt","content_type":"text/plain"}]})";
  const std::string text = channel->preview(dispatch);
  for (const std::string& part : {std::string("server: mail.shop.test:587\n"), std::string("login: shop ***\n"),
                                  std::string("MAIL FROM:<shop@shop.test>\n"), std::string("RCPT TO:<") + kTo + ">\n",
                                  std::string("Subject: Paid\n"), std::string("Your order 42 is paid."),
                                  std::string("<b>paid</b>"), std::string("[text/plain: a.txt, ")})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("SECRET")));
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST_F(ChannelSmtp, WrongSettingsAreNamed) {
  struct Case {
    const char* says;
    std::function<void(SmtpDriverConfig&)> spoil;
  };
  for (const Case& row : {
           Case{"from: ", [](SmtpDriverConfig& d) { d.from = "nobody"; }},
           Case{"reply_to: ", [](SmtpDriverConfig& d) { d.reply_to = "x\r\nBcc: a@b.test <c@d.test>"; }},
           Case{"return_path: ", [](SmtpDriverConfig& d) { d.return_path = "bounce+{id}"; }},
           Case{"message_id_domain: ", [](SmtpDriverConfig& d) { d.message_id_domain = "a b"; }},
           Case{"headers.Bcc: ",
                [](SmtpDriverConfig& d) {
                  d.headers = {{"Bcc", "e@evil.test"}};
                }},
           Case{"headers.X-A: ",
                [](SmtpDriverConfig& d) {
                  d.headers = {{"X-A", "x\r\nBcc: e@evil.test"}};
                }},
           Case{"headers.a b: ",
                [](SmtpDriverConfig& d) {
                  d.headers = {{"a b", "x"}};
                }},
           Case{"list_unsubscribe: ", [](SmtpDriverConfig& d) { d.list_unsubscribe = "http://shop.test/u"; }},
           Case{"list_unsubscribe: ", [](SmtpDriverConfig& d) { d.list_unsubscribe = "https://shop.test/{x}"; }},
       }) {
    SmtpDriverConfig driver = through();
    row.spoil(driver);
    const Error error = error_of(driver);
    EXPECT_EQ(error.code, Code::kConfig);
    EXPECT_THAT(error.message, HasSubstr(row.says));
  }
}

}  // namespace
}  // namespace notify

// libcurl's SMTP against a server that misbehaves: the rows of the table of measured behaviour, and what must hold beyond
// them. The same rows, judged from made-up evidence: tests/unit/classify_mail_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <set>
#include <thread>

#include "contract/sys_mail_support.hpp"

namespace notify {
namespace {

using Class = OutcomeClass;
using Stage = MailStage;
using test::mail_to;
using test::MailUnderTest;
using test::short_lived;
using test::StubProcess;
using test::TlsMailStub;
using test::with_login;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> smtp(const std::string& mode) { return {"--protocol", "smtp", "--mode", mode}; }

struct MailRow {
  const char* what;
  const char* mode;
  Stage stage;
  int reply;
  Class expected;
  const char* reason;
  int logged;  // mails that the server has read to the final dot
  bool quick = false;
};

std::ostream& operator<<(std::ostream& out, const MailRow& row) { return out << row.what; }

class SmtpRow : public testing::TestWithParam<MailRow> {};

TEST_P(SmtpRow, IsObservedAndJudged) {
  const MailRow& row = GetParam();
  StubProcess stub(smtp(row.mode));
  MailUnderTest client;
  const MailRequest request = with_login(mail_to(stub.port()));
  const MailEvidence evidence = client.call(row.quick ? short_lived(request) : request);
  const Outcome outcome = classify_mail(evidence);
  EXPECT_EQ(static_cast<int>(evidence.stage), static_cast<int>(row.stage)) << evidence.curl_error;
  EXPECT_EQ(evidence.reply, row.reply) << evidence.reply_text;
  EXPECT_STREQ(outcome_name(outcome.cls), outcome_name(row.expected)) << evidence.curl_code << evidence.curl_error;
  EXPECT_EQ(outcome.reason, row.reason) << evidence.curl_code << " " << evidence.curl_error;
  EXPECT_EQ(stub.log().size(), static_cast<std::size_t>(row.logged));
}

INSTANTIATE_TEST_SUITE_P(
    BeforeTheMessage, SmtpRow,
    testing::Values(
        MailRow{"greeting 421", R"(smtp-reply:banner text="421 busy")", Stage::kGreeting, 421, Class::kNotSent,
                "smtp-421", 0},
        MailRow{"greeting 554", R"(smtp-reply:banner text="554 no" close=yes)", Stage::kGreeting, 554, Class::kNotSent,
                "smtp-554", 0},
        MailRow{"closed before the greeting", "smtp-close:banner", Stage::kConnect, 0, Class::kNotSent,
                "connect-failed", 0},
        MailRow{"reset before the greeting", "smtp-rst:banner", Stage::kConnect, 0, Class::kNotSent, "connect-failed",
                0},
        MailRow{"silent before the greeting", "smtp-hang:banner", Stage::kConnect, 0, Class::kNotSent,
                "connect-timeout", 0, true},
        MailRow{"not SMTP at all", R"(smtp-reply:banner text="HTTP/1.1 400 Bad Request" close=yes)", Stage::kConnect, 0,
                Class::kNotSent, "connect-failed", 0},
        MailRow{"EHLO and HELO refused", R"(smtp-reply:ehlo text="550 go away")", Stage::kHello, 550, Class::kNotSent,
                "smtp-550", 0},
        MailRow{"lost at EHLO", "smtp-close:ehlo", Stage::kHello, 0, Class::kNotSent, "connection-lost", 0},
        MailRow{"silent at EHLO", "smtp-hang:ehlo", Stage::kHello, 0, Class::kNotSent, "connect-timeout", 0, true},
        MailRow{"no login offered", R"(smtp-reply:ehlo text="250 stub")", Stage::kHello, 250, Class::kNotSent,
                "login-not-offered", 0},
        MailRow{"none of our mechanisms", R"(smtp-reply:ehlo text="250 AUTH GSSAPI")", Stage::kHello, 250,
                Class::kNotSent, "login-not-offered", 0},
        MailRow{"AUTH 535", R"(smtp-reply:auth text="535 5.7.8 wrong")", Stage::kLogin, 535, Class::kNotSent,
                "smtp-535", 0},
        MailRow{"AUTH 454", R"(smtp-reply:auth text="454 4.7.0 later")", Stage::kLogin, 454, Class::kNotSent,
                "smtp-454", 0},
        MailRow{"AUTH 421", R"(smtp-reply:auth text="421 4.7.0 later" close=yes)", Stage::kLogin, 421, Class::kNotSent,
                "smtp-421", 0},
        MailRow{"lost at AUTH", "smtp-close:auth", Stage::kLogin, 0, Class::kNotSent, "connection-lost", 0}));

INSTANTIATE_TEST_SUITE_P(
    Envelope, SmtpRow,
    testing::Values(
        MailRow{"MAIL 451", R"(smtp-reply:mail text="451 4.3.0 later")", Stage::kSender, 451, Class::kNotSent,
                "smtp-451", 0},
        MailRow{"MAIL 421", R"(smtp-reply:mail text="421 4.7.0 too many" close=yes)", Stage::kSender, 421,
                Class::kNotSent, "smtp-421", 0},
        MailRow{"MAIL 550", R"(smtp-reply:mail text="550 5.7.1 no")", Stage::kSender, 550, Class::kPermanent,
                "smtp-550", 0},
        MailRow{"MAIL reset", "smtp-rst:mail", Stage::kSender, 0, Class::kNotSent, "connection-lost", 0},
        MailRow{"RCPT 450", R"(smtp-reply:rcpt text="450 later")", Stage::kRecipient, 450, Class::kNotSent, "smtp-450",
                0},
        MailRow{"RCPT 550 5.1.1", R"(smtp-reply:rcpt text="550 5.1.1 nobody")", Stage::kRecipient, 550,
                Class::kPermanent, "smtp-550", 0},
        MailRow{"RCPT 550 in several lines",
                R"(smtp-reply:rcpt text="550-5.1.1 nobody\r\n550-5.1.1 of that\r\n550 5.1.1 name")", Stage::kRecipient,
                550, Class::kPermanent, "smtp-550", 0},
        MailRow{"RCPT hangs", "smtp-hang:rcpt", Stage::kRecipient, 0, Class::kNotSent, "timeout", 0, true},
        MailRow{"DATA 451", R"(smtp-reply:data text="451 later")", Stage::kData, 451, Class::kNotSent, "smtp-451", 0},
        MailRow{"DATA 554", R"(smtp-reply:data text="554 no")", Stage::kData, 554, Class::kPermanent, "smtp-554", 0},
        MailRow{"DATA closed", "smtp-close:data", Stage::kData, 0, Class::kNotSent, "connection-lost", 0}));

INSTANTIATE_TEST_SUITE_P(
    F03_FinalDot, SmtpRow,
    testing::Values(
        MailRow{"250", "smtp-log", Stage::kBody, 250, Class::kSent, "smtp-250", 1},
        MailRow{"251", R"(smtp-log text="251 forwarded")", Stage::kBody, 251, Class::kSent, "smtp-251", 1},
        MailRow{"252", R"(smtp-log text="252 trying")", Stage::kBody, 252, Class::kSent, "smtp-252", 1},
        MailRow{"451", R"(smtp-reply:dot text="451 later")", Stage::kBody, 451, Class::kNotSent, "smtp-451", 1},
        MailRow{"550", R"(smtp-reply:dot text="550 5.7.1 spam")", Stage::kBody, 550, Class::kPermanent, "smtp-550", 1},
        MailRow{"554 and closed", R"(smtp-reply:dot text="554 5.7.26 dmarc" close=yes)", Stage::kBody, 554,
                Class::kPermanent, "smtp-554", 1},
        MailRow{"connection closed", "smtp-close:dot", Stage::kBody, 0, Class::kUnknown, "connection-lost", 1},
        MailRow{"connection reset", "smtp-rst:dot", Stage::kBody, 0, Class::kUnknown, "connection-lost", 1},
        MailRow{"silence", "smtp-dothang", Stage::kBody, 0, Class::kUnknown, "timeout", 1, true},
        MailRow{"half a reply, then closed", R"(smtp-reply:dot text="250-2.0.0 queu" close=yes)", Stage::kBody, 0,
                Class::kUnknown, "connection-lost", 1},
        MailRow{"nonsense, then closed", R"(smtp-reply:dot text="hello there" close=yes)", Stage::kBody, 0,
                Class::kUnknown, "connection-lost", 1},
        MailRow{"250, then QUIT fails", "smtp-rst:quit", Stage::kBody, 250, Class::kSent, "smtp-250", 1}));

TEST(CurlMailLost, NoServerAndNoNameAreNotSent) {
  MailUnderTest client;
  MailRequest nobody = mail_to(1);
  EXPECT_EQ(classify_mail(client.call(nobody)).reason, "connect-failed");
  nobody.host = "no-such-host.invalid";
  const Outcome outcome = classify_mail(client.call(nobody));
  EXPECT_EQ(outcome.cls, Class::kNotSent);
  EXPECT_TRUE(outcome.connect_refused);
  EXPECT_EQ(outcome.phase, "resolve");
}

TEST(CurlMailLost, AnImpossibleRequestIsRefusedWithoutAConnection) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  std::vector<MailRequest> bad(5, mail_to(stub.port()));
  bad[0].recipient = "a@x.test>\r\nRCPT TO:<e@evil.test";
  bad[1].sender = "a b@x.test";
  bad[2].host = "127.0.0.1/x";
  bad[3].helo = "x\r\nRSET";
  bad[4].message = "no line end";
  for (const MailRequest& request : bad) EXPECT_TRUE(client.call(request).refused_locally);
  EXPECT_TRUE(stub.log().empty());
}

// A message larger than the buffers of both ends, so that the server can stop in the middle of it.
TEST(CurlMailBody, F03_LostInsideTheBodyIsNotSent) {
  StubProcess stub({"--protocol", "smtp", "--rule", "conn=1 mode=smtp-hang:data"});
  MailUnderTest client;
  MailRequest large = short_lived(mail_to(stub.port()), 1s);
  large.message += std::string(16'000'000, 'x') + "\r\n";
  const MailEvidence evidence = client.call(large);
  EXPECT_EQ(classify_mail(evidence).cls, Class::kNotSent);
  EXPECT_TRUE(stub.log().empty());
}

std::string body_logged(const StubProcess& stub, std::size_t index = 0) {
  return stub.log().at(index).at("body").get<std::string>();
}

TEST(CurlMailBody, F44_DotsAreStuffedOnce) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  MailRequest request = mail_to(stub.port());
  request.message = "Subject: x\r\n\r\n.\r\n.x\r\n..x\r\n.\r\n";
  ASSERT_EQ(classify_mail(client.call(request)).cls, Class::kSent);
  EXPECT_EQ(body_logged(stub), "Subject: x\r\n\r\n..\r\n..x\r\n...x\r\n..\r\n");
}

TEST(CurlMailBody, TheEnvelopeIsWhatWasAsked) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  MailRequest request = with_login(mail_to(stub.port(), "id9@shop.test"));
  request.sender = "bounce+id9@shop.test";
  const MailEvidence evidence = client.call(request);
  EXPECT_EQ(evidence.bytes_out, static_cast<std::int64_t>(request.message.size()));
  EXPECT_EQ(classify_mail(evidence).reference, "1");
  const auto log = stub.log();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0]["path"], "bounce+id9@shop.test");
  EXPECT_EQ(log[0]["to"], "a@b.test");
  EXPECT_EQ(log[0]["id"], "<id9@shop.test>");
  EXPECT_EQ(log[0]["headers"]["user-agent"], "client.test");
  EXPECT_EQ(log[0]["headers"]["authorization"], "PLAIN AHNob3AAcGFzc19TRUNSRVQ=");
  EXPECT_EQ(log[0]["body"], request.message);
}

TEST(CurlMailBody, TheNullReversePathCanBeUsed) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  MailRequest request = mail_to(stub.port());
  request.sender.clear();
  ASSERT_EQ(classify_mail(client.call(request)).cls, Class::kSent);
  EXPECT_EQ(stub.log()[0].value("path", ""), "");
}

// --- login

TEST(CurlMailLogin, EachMechanismIsSpoken) {
  struct Mechanism {
    const char* name;
    bool token;
    const char* expected;
  };
  for (const Mechanism& mechanism :
       {Mechanism{"PLAIN", false, "PLAIN AHNob3AAcGFzc19TRUNSRVQ="},
        Mechanism{"LOGIN", false, "LOGIN c2hvcA== cGFzc19TRUNSRVQ="},
        Mechanism{"XOAUTH2", true, "XOAUTH2 dXNlcj1zaG9wAWF1dGg9QmVhcmVyIHRva19TRUNSRVQBAQ=="}}) {
    StubProcess stub(smtp("smtp-log"));
    MailUnderTest client;
    MailRequest request = with_login(mail_to(stub.port()), {mechanism.name});
    if (mechanism.token) {
      request.password.clear();
      request.token = "tok_SECRET";
    }
    EXPECT_EQ(classify_mail(client.call(request)).cls, Class::kSent) << mechanism.name;
    EXPECT_EQ(stub.log().at(0)["headers"]["authorization"], mechanism.expected);
  }
}

TEST(CurlMailLogin, F57_NoEvidenceHoldsTheCredentials) {
  for (const char* mode : {R"(smtp-reply:auth text="535 no")", "smtp-close:auth", "smtp-hang:auth"}) {
    StubProcess stub(smtp(mode));
    MailUnderTest client;
    const MailEvidence evidence = client.call(short_lived(with_login(mail_to(stub.port()))));
    EXPECT_THAT(evidence.curl_error + evidence.reply_text, Not(HasSubstr("SECRET"))) << mode;
    EXPECT_THAT(evidence.curl_error + evidence.reply_text, Not(HasSubstr("AHNob3A"))) << mode;
  }
}

// --- connections

std::set<int> connections(const StubProcess& stub) {
  std::set<int> seen;
  for (const auto& line : stub.log()) seen.insert(line.at("conn").get<int>());
  return seen;
}

TEST(CurlMailConnections, ManyMessagesAndOneLogin) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  for (int i = 0; i < 20; ++i) {
    const MailEvidence evidence = client.call(with_login(mail_to(stub.port(), std::to_string(i) + "@shop.test")));
    ASSERT_EQ(classify_mail(evidence).cls, Class::kSent);
    EXPECT_EQ(evidence.reused, i > 0);
  }
  EXPECT_EQ(stub.log().size(), 20U);
  EXPECT_EQ(connections(stub).size(), 1U);
}

TEST(CurlMailConnections, AnotherLoginGetsAConnectionOfItsOwn) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  MailRequest other = with_login(mail_to(stub.port()));
  other.user = "billing";
  client.call(with_login(mail_to(stub.port())));
  EXPECT_FALSE(client.call(other).reused);
  EXPECT_FALSE(client.call(mail_to(stub.port())).reused) << "one without a login must not use somebody's";
  EXPECT_EQ(connections(stub).size(), 3U);
}

// A kept connection that the server has closed meanwhile: no second copy, and in the end the message goes.
TEST(CurlMailConnections, F02_AKeptConnectionThatDiedNeverMakesTwoCopies) {
  for (const char* mode : {"smtp-close:mail", "smtp-rst:mail", "smtp-rst:dot", "smtp-close:dot"}) {
    StubProcess stub({"--protocol", "smtp", "--rule", std::string("from=2 mode=") + mode});
    MailUnderTest client;
    ASSERT_EQ(classify_mail(client.call(mail_to(stub.port(), "first@shop.test"))).cls, Class::kSent);
    const MailEvidence evidence = client.call(mail_to(stub.port(), "second@shop.test"));
    EXPECT_TRUE(evidence.reused) << mode;
    const bool at_dot = std::string(mode).ends_with("dot");
    EXPECT_EQ(classify_mail(evidence).cls, at_dot ? Class::kUnknown : Class::kNotSent) << mode;
    EXPECT_EQ(stub.log().size(), at_dot ? 2U : 1U) << mode;
  }
}

// What libcurl counts a time-out from must be this message, not the connection.
TEST(CurlMailConnections, AnOldConnectionIsAsGoodAsANewOne) {
  StubProcess stub(smtp("smtp-log"));
  MailUnderTest client;
  ASSERT_EQ(classify_mail(client.call(short_lived(mail_to(stub.port()), 1s))).cls, Class::kSent);
  std::this_thread::sleep_for(1200ms);
  const MailEvidence evidence = client.call(short_lived(mail_to(stub.port()), 1s));
  EXPECT_TRUE(evidence.reused);
  EXPECT_EQ(classify_mail(evidence).cls, Class::kSent) << evidence.curl_error;
}

// libcurl waits for the reply to the final dot without going back to its caller: that must not be the loop's thread.
TEST(CurlMailConnections, TheLoopGoesOnWhileAServerIsSlowAtTheDot) {
  StubProcess stub(smtp("smtp-dothang"));
  MailUnderTest client;
  int ticks = 0;
  std::function<void()> tick = [&] {
    ++ticks;
    client.loop().after(10ms, tick);
  };
  client.loop().after(10ms, tick);
  EXPECT_EQ(classify_mail(client.call(short_lived(mail_to(stub.port())))).cls, Class::kUnknown);
  EXPECT_GE(ticks, 5);
}

TEST(CurlMailConnections, ManyAtATimeEachArriveOnce) {
  StubProcess stub({"--protocol", "smtp", "--latency", "20ms"});
  MailUnderTest client(MailSettings{{}, 8});
  std::vector<MailRequest> requests;
  for (int i = 0; i < 100; ++i) requests.push_back(mail_to(stub.port(), std::to_string(i) + "@shop.test"));
  for (const MailEvidence& evidence : client.call(requests)) EXPECT_EQ(classify_mail(evidence).cls, Class::kSent);
  std::set<std::string> ids;
  for (const auto& line : stub.log()) ids.insert(line.at("id").get<std::string>());
  EXPECT_EQ(stub.log().size(), 100U);
  EXPECT_EQ(ids.size(), 100U);
  EXPECT_LE(connections(stub).size(), 8U);
}

TEST(CurlMailConnections, WaitingForAConnectionHasALimit) {
  StubProcess stub(smtp("smtp-dothang"));
  MailUnderTest client(MailSettings{{}, 1});
  const auto results = client.call({short_lived(mail_to(stub.port()), 3s), short_lived(mail_to(stub.port()), 100ms)});
  EXPECT_EQ(classify_mail(results[0]).cls, Class::kUnknown);
  EXPECT_EQ(classify_mail(results[1]).cls, Class::kNotSent);
  EXPECT_EQ(stub.log().size(), 1U);
}

// libcurl waits for the answer to QUIT without looking at the time-out.
TEST(CurlMailConnections, AServerThatIsSilentAtQuitDoesNotHoldTheResult) {
  StubProcess stub({"--protocol", "smtp", "--rule", R"(to=bad@* mode=smtp-reply:rcpt text="550 5.1.1 no")", "--mode",
                    "smtp-hang:quit"});
  MailUnderTest client;
  const MailEvidence evidence = client.call(short_lived(mail_to(stub.port(), "x@y.test", "bad@b.test"), 500ms));
  EXPECT_EQ(classify_mail(evidence).reason, "smtp-550");
  EXPECT_EQ(classify_mail(evidence).cls, Class::kPermanent);
}

TEST(CurlMailConnections, DestroyingTheClientDropsWhatIsUnderWay) {
  for (const char* mode : {"smtp-dothang", "smtp-hang:banner", "smtp-hang:quit", "smtp-log"}) {
    StubProcess stub(smtp(mode));
    MailUnderTest client;
    bool called = false;
    client.mail().start(mail_to(stub.port()), [&](const MailEvidence&) { called = true; });
    client.loop().after(300ms, [&] { client.loop().stop(); });
    client.loop().run();
    const bool before = called;
    client.drop_client();
    client.loop().after(10ms, [&] { client.loop().stop(); });
    client.loop().run();
    EXPECT_EQ(called, before) << mode;
  }
}

// --- TLS

MailRequest over_tls(const TlsMailStub& server, MailTls tls) {
  MailRequest request = with_login(mail_to(server.stub->port()));
  request.host = "localhost";
  request.tls = tls;
  return request;
}

TEST(CurlMailTls, StartTlsAndImplicitTlsArrive) {
  TlsMailStub starttls({"--starttls"});
  MailUnderTest first(starttls.settings());
  const MailEvidence evidence = first.call(over_tls(starttls, MailTls::kStartTls));
  EXPECT_EQ(classify_mail(evidence).cls, Class::kSent) << evidence.curl_error;
  EXPECT_TRUE(evidence.handshake);
  EXPECT_EQ(starttls.stub->log().at(0)["proto"], "smtps");

  TlsMailStub implicit({"--tls"});
  MailUnderTest second(implicit.settings());
  EXPECT_EQ(classify_mail(second.call(over_tls(implicit, MailTls::kImplicit))).cls, Class::kSent);
  EXPECT_EQ(implicit.stub->log().at(0)["proto"], "smtps");
}

TEST(CurlMailTls, WithoutStartTlsNothingIsSaid) {
  StubProcess plain(smtp("smtp-log"));
  MailUnderTest client;
  MailRequest request = with_login(mail_to(plain.port()));
  request.tls = MailTls::kStartTls;
  const Outcome outcome = classify_mail(client.call(request));
  EXPECT_EQ(outcome.cls, Class::kNotSent);
  EXPECT_TRUE(outcome.halt_channel);
  EXPECT_EQ(outcome.reason, "starttls-not-offered");
  EXPECT_TRUE(plain.log().empty());
}

// Two channels to one server, one of them in the clear: what wants TLS must not go over the other's connection.
TEST(CurlMailTls, AConnectionInTheClearIsNotReused) {
  TlsMailStub server({"--starttls"});
  MailUnderTest client(server.settings());
  ASSERT_EQ(classify_mail(client.call(over_tls(server, MailTls::kNone))).cls, Class::kSent);
  const MailEvidence evidence = client.call(over_tls(server, MailTls::kStartTls));
  EXPECT_EQ(classify_mail(evidence).cls, Class::kSent) << evidence.curl_error;
  EXPECT_FALSE(evidence.reused);
  ASSERT_EQ(server.stub->log().size(), 2U);
  EXPECT_EQ(server.stub->log()[0]["proto"], "smtp");
  EXPECT_EQ(server.stub->log()[1]["proto"], "smtps");
}

TEST(CurlMailTls, CertificatesAreVerified) {
  for (const char* kind : {"wrong-host", "expired", "future", "unknown-ca"}) {
    for (const MailTls tls : {MailTls::kStartTls, MailTls::kImplicit}) {
      TlsMailStub server({tls == MailTls::kStartTls ? "--starttls" : "--tls", "--cert-kind", kind});
      MailUnderTest client(server.settings());
      const Outcome outcome = classify_mail(client.call(over_tls(server, tls)));
      EXPECT_EQ(outcome.cls, Class::kNotSent) << kind;
      EXPECT_EQ(outcome.reason, "tls-failed") << kind;
      EXPECT_TRUE(outcome.halt_channel) << kind;
      EXPECT_EQ(outcome.phase, "tls") << kind;
      EXPECT_TRUE(server.stub->log().empty());
    }
  }
}

TEST(CurlMailTls, AHandshakeThatHangsIsNotSent) {
  StubProcess silent({"--protocol", "smtp", "--mode", "accept-hang"});
  MailUnderTest client;
  MailRequest request = short_lived(mail_to(silent.port()));
  request.tls = MailTls::kImplicit;
  const Outcome outcome = classify_mail(client.call(request));
  EXPECT_EQ(outcome.cls, Class::kNotSent);
  EXPECT_TRUE(outcome.connect_refused);
}

// --- SMTPUTF8

TEST(CurlMailUtf8, OnlyAServerThatOffersItGetsSuchAnAddress) {
  StubProcess knows(smtp("smtp-log"));
  MailUnderTest client;
  MailRequest request = mail_to(knows.port(), "u@shop.test", "민수@예.test");
  request.needs_utf8 = true;
  client.call(mail_to(knows.port()));  // a kept connection, whose EHLO is over
  EXPECT_EQ(classify_mail(client.call(request)).cls, Class::kSent);
  EXPECT_EQ(knows.log().back()["to"], "민수@예.test");

  StubProcess does_not(smtp(R"(smtp-reply:ehlo text="250 stub")"));
  request.port = does_not.port();
  const Outcome outcome = classify_mail(client.call(request));
  EXPECT_EQ(outcome.cls, Class::kPermanent);
  EXPECT_EQ(outcome.reason, "smtputf8-not-offered");
  EXPECT_TRUE(does_not.log().empty());
}

}  // namespace
}  // namespace notify

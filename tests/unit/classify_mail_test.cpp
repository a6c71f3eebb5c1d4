// The judge of SMTP transactions, row by row of the table of measured libcurl behaviour.
// tests/contract/sys_mail_test.cpp drives the real client against a real server for the same rows.

#include "core/classify_mail.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Class = OutcomeClass;
using Stage = MailStage;

enum Effect : unsigned { kNothing = 0, kHalt = 1, kDisable = 2, kLane = 4, kRefused = 8, kLater = 16 };

struct Row {
  const char* what;
  int code;
  Stage stage;
  int reply;
  const char* enhanced;
  bool complete;
  Class expected;
  unsigned effects;
  const char* reason;
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.what; }

MailEvidence evidence_of(const Row& row) {
  MailEvidence e;
  e.curl_code = row.code;
  e.stage = row.stage;
  e.reply = row.reply;
  e.enhanced = row.enhanced;
  e.body_complete = row.complete;
  e.timed_out = row.code == 28;
  e.resolved = row.code != 6;
  e.handshake = row.code == 60 || row.code == 35;
  return e;
}

unsigned effects_of(const Outcome& outcome) {
  unsigned effects = kNothing;
  if (outcome.halt_channel) effects |= kHalt;
  if (outcome.disable_endpoint) effects |= kDisable;
  if (outcome.lane_wide) effects |= kLane;
  if (outcome.connect_refused) effects |= kRefused;
  if (outcome.retry_after) effects |= kLater;
  return effects;
}

class MeasuredSmtp : public testing::TestWithParam<Row> {};

TEST_P(MeasuredSmtp, Judged) {
  const Outcome outcome = classify_mail(evidence_of(GetParam()));
  EXPECT_STREQ(outcome_name(outcome.cls), outcome_name(GetParam().expected));
  EXPECT_EQ(effects_of(outcome), GetParam().effects);
  EXPECT_EQ(outcome.reason, GetParam().reason);
  EXPECT_EQ(outcome.status, GetParam().reply);
}

TEST(ClassifyMail, AShortageOfOursCostsNobodyAnything) {
  MailEvidence e;
  e.curl_code = 7;
  e.shortage = true;
  e.curl_error = "Too many open files";
  const Outcome outcome = classify_mail(e);
  EXPECT_EQ(outcome.cls, Class::kNotSent);
  EXPECT_TRUE(outcome.not_begun && outcome.shortage);
  EXPECT_EQ(effects_of(outcome), kLater);
  e.stage = Stage::kBody;
  e.body_complete = true;
  EXPECT_EQ(classify_mail(e).cls, Class::kUnknown);
}

constexpr unsigned kBusy = kLane | kLater;

INSTANTIATE_TEST_SUITE_P(
    BeforeTheMessage, MeasuredSmtp,
    testing::Values(
        Row{"name not resolved", 6, Stage::kConnect, 0, "", false, Class::kNotSent, kRefused, "resolve-failed"},
        Row{"connection refused", 7, Stage::kConnect, 0, "", false, Class::kNotSent, kRefused, "connect-failed"},
        Row{"connect or greeting timed out", 28, Stage::kConnect, 0, "", false, Class::kNotSent, kRefused,
            "connect-timeout"},
        Row{"TLS handshake broken off", 35, Stage::kStartTls, 220, "", false, Class::kNotSent, kRefused, "tls-failed"},
        Row{"certificate refused", 60, Stage::kStartTls, 220, "", false, Class::kNotSent, kHalt, "tls-failed"},
        Row{"certificate refused, implicit TLS", 60, Stage::kConnect, 0, "", false, Class::kNotSent, kHalt,
            "tls-failed"},
        Row{"greeting 421", 8, Stage::kGreeting, 421, "", false, Class::kNotSent, kBusy, "smtp-421"},
        Row{"greeting 554", 8, Stage::kGreeting, 554, "", false, Class::kNotSent, kHalt, "smtp-554"},
        Row{"closed before the greeting", 56, Stage::kConnect, 0, "", false, Class::kNotSent, kRefused,
            "connect-failed"},
        Row{"EHLO and HELO refused", 9, Stage::kHello, 550, "", false, Class::kNotSent, kHalt, "smtp-550"},
        Row{"EHLO refused for now", 9, Stage::kHello, 421, "", false, Class::kNotSent, kBusy, "smtp-421"},
        Row{"lost after EHLO", 56, Stage::kHello, 0, "", false, Class::kNotSent, kRefused, "connection-lost"},
        Row{"STARTTLS not offered", 64, Stage::kHello, 250, "", false, Class::kNotSent, kHalt, "starttls-not-offered"},
        Row{"STARTTLS refused", 64, Stage::kStartTls, 502, "", false, Class::kNotSent, kHalt, "smtp-502"},
        Row{"STARTTLS not now", 64, Stage::kStartTls, 454, "4.7.0", false, Class::kNotSent, kBusy, "smtp-454"},
        Row{"AUTH 535", 67, Stage::kLogin, 535, "5.7.8", false, Class::kNotSent, kHalt, "smtp-535"},
        Row{"AUTH 534", 67, Stage::kLogin, 534, "5.7.9", false, Class::kNotSent, kHalt, "smtp-534"},
        Row{"AUTH 530", 67, Stage::kLogin, 530, "", false, Class::kNotSent, kHalt, "smtp-530"},
        Row{"AUTH 538", 67, Stage::kLogin, 538, "", false, Class::kNotSent, kHalt, "smtp-538"},
        Row{"AUTH 454", 67, Stage::kLogin, 454, "4.7.0", false, Class::kNotSent, kBusy, "smtp-454"},
        Row{"AUTH 421", 67, Stage::kLogin, 421, "", false, Class::kNotSent, kBusy, "smtp-421"},
        Row{"none of our mechanisms", 67, Stage::kHello, 250, "", false, Class::kNotSent, kHalt, "login-not-offered"}));

INSTANTIATE_TEST_SUITE_P(
    Envelope, MeasuredSmtp,
    testing::Values(
        Row{"MAIL 451", 55, Stage::kSender, 451, "", false, Class::kNotSent, kNothing, "smtp-451"},
        Row{"MAIL 421: throttled", 55, Stage::kSender, 421, "4.7.0", false, Class::kNotSent, kBusy, "smtp-421"},
        Row{"MAIL 452: disk full", 55, Stage::kSender, 452, "4.3.1", false, Class::kNotSent, kLater, "smtp-452"},
        Row{"MAIL 550", 55, Stage::kSender, 550, "5.7.1", false, Class::kPermanent, kNothing, "smtp-550"},
        Row{"MAIL 552: too large", 55, Stage::kSender, 552, "5.3.4", false, Class::kPermanent, kNothing, "smtp-552"},
        Row{"MAIL 553: our address", 55, Stage::kSender, 553, "5.1.8", false, Class::kPermanent, kHalt, "smtp-553"},
        Row{"MAIL 530: login wanted", 55, Stage::kSender, 530, "5.7.0", false, Class::kNotSent, kHalt, "smtp-530"},
        Row{"kept connection died at MAIL", 56, Stage::kSender, 0, "", false, Class::kNotSent, kNothing,
            "connection-lost"},
        Row{"RCPT 450", 55, Stage::kRecipient, 450, "", false, Class::kNotSent, kNothing, "smtp-450"},
        Row{"RCPT 451 4.7.1: greylisted", 55, Stage::kRecipient, 451, "4.7.1", false, Class::kNotSent, kLater,
            "smtp-451"},
        Row{"RCPT 452 4.2.2: mailbox full", 55, Stage::kRecipient, 452, "4.2.2", false, Class::kNotSent, kLater,
            "smtp-452"},
        Row{"RCPT 421", 55, Stage::kRecipient, 421, "", false, Class::kNotSent, kNothing, "smtp-421"},
        Row{"RCPT 550", 55, Stage::kRecipient, 550, "", false, Class::kPermanent, kNothing, "smtp-550"},
        Row{"RCPT 550 5.1.1: no such user", 55, Stage::kRecipient, 550, "5.1.1", false, Class::kPermanent, kDisable,
            "smtp-550"},
        Row{"RCPT 550 5.1.10: null MX", 55, Stage::kRecipient, 550, "5.1.10", false, Class::kPermanent, kDisable,
            "smtp-550"},
        Row{"RCPT 553 5.1.3: no address", 55, Stage::kRecipient, 553, "5.1.3", false, Class::kPermanent, kDisable,
            "smtp-553"},
        Row{"RCPT 552 5.2.2: mailbox full for good", 55, Stage::kRecipient, 552, "5.2.2", false, Class::kPermanent,
            kNothing, "smtp-552"},
        Row{"RCPT 554 5.7.1: policy", 55, Stage::kRecipient, 554, "5.7.1", false, Class::kPermanent, kNothing,
            "smtp-554"},
        Row{"RCPT times out", 28, Stage::kRecipient, 0, "", false, Class::kNotSent, kNothing, "timeout"},
        Row{"DATA 451", 55, Stage::kData, 451, "", false, Class::kNotSent, kNothing, "smtp-451"},
        Row{"DATA 554", 55, Stage::kData, 554, "", false, Class::kPermanent, kNothing, "smtp-554"},
        Row{"lost at DATA", 56, Stage::kData, 0, "", false, Class::kNotSent, kNothing, "connection-lost"}));

INSTANTIATE_TEST_SUITE_P(
    F03_BodyAndFinalDot, MeasuredSmtp,
    testing::Values(
        Row{"connection lost inside the body", 55, Stage::kBody, 0, "", false, Class::kNotSent, kNothing,
            "body-incomplete"},
        Row{"time over inside the body", 28, Stage::kBody, 0, "", false, Class::kNotSent, kNothing, "body-incomplete"},
        Row{"callback abort inside the body", 42, Stage::kBody, 0, "", false, Class::kNotSent, kNothing,
            "body-incomplete"},
        Row{"dot answered 451", 8, Stage::kBody, 451, "", true, Class::kNotSent, kNothing, "smtp-451"},
        Row{"dot answered 450 4.7.1", 8, Stage::kBody, 450, "4.7.1", true, Class::kNotSent, kLater, "smtp-450"},
        Row{"dot answered 421", 8, Stage::kBody, 421, "", true, Class::kNotSent, kNothing, "smtp-421"},
        Row{"dot answered 550", 8, Stage::kBody, 550, "5.7.1", true, Class::kPermanent, kNothing, "smtp-550"},
        Row{"dot answered 554 5.7.26: DMARC", 8, Stage::kBody, 554, "5.7.26", true, Class::kPermanent, kNothing,
            "smtp-554"},
        Row{"dot answered 250", 0, Stage::kBody, 250, "2.0.0", true, Class::kSent, kNothing, "smtp-250"},
        Row{"dot answered 251", 8, Stage::kBody, 251, "", true, Class::kSent, kNothing, "smtp-251"},
        Row{"dot answered 252", 8, Stage::kBody, 252, "", true, Class::kSent, kNothing, "smtp-252"},
        Row{"dot answered 250, then QUIT fails", 56, Stage::kBody, 250, "", true, Class::kSent, kNothing, "smtp-250"},
        Row{"dot sent, connection lost", 56, Stage::kBody, 0, "", true, Class::kUnknown, kNothing, "connection-lost"},
        Row{"dot could not be written", 55, Stage::kBody, 0, "", true, Class::kUnknown, kNothing, "connection-lost"},
        Row{"dot sent, timeout", 28, Stage::kBody, 0, "", true, Class::kUnknown, kNothing, "timeout"},
        Row{"dot answered 354", 8, Stage::kBody, 354, "", true, Class::kUnknown, kNothing, "answer-not-smtp"},
        Row{"dot answered 999", 8, Stage::kBody, 999, "", true, Class::kUnknown, kNothing, "answer-not-smtp"}));

// Whatever code libcurl gives: no whole message, no acceptance; a whole one and silence, no knowledge.
TEST(ClassifyMail, NoCodeAloneDecides) {
  for (int code = 0; code < 100; ++code) {
    MailEvidence e;
    e.curl_code = code;
    e.stage = Stage::kBody;
    EXPECT_EQ(classify_mail(e).cls, Class::kNotSent) << code;
    e.body_complete = true;
    EXPECT_EQ(classify_mail(e).cls, Class::kUnknown) << code;
    for (const Stage stage : {Stage::kConnect, Stage::kHello, Stage::kLogin, Stage::kSender, Stage::kData}) {
      e.stage = stage;
      EXPECT_EQ(classify_mail(e).cls, Class::kNotSent) << code;
    }
  }
}

TEST(ClassifyMail, OurOwnRefusalsAreNamed) {
  MailEvidence e;
  e.utf8_missing = true;
  e.stage = Stage::kHello;
  e.reply = 250;
  EXPECT_EQ(classify_mail(e).cls, Class::kPermanent);
  EXPECT_EQ(classify_mail(e).reason, "smtputf8-not-offered");
  EXPECT_TRUE(classify_mail(e).detail.starts_with("5.6.7 "));

  MailEvidence login;
  login.login_missing = true;
  login.stage = Stage::kHello;
  login.reply = 250;
  EXPECT_EQ(classify_mail(login).cls, Class::kNotSent);
  EXPECT_TRUE(classify_mail(login).halt_channel);
  EXPECT_EQ(classify_mail(login).reason, "login-not-offered");

  MailEvidence bad;
  bad.refused_locally = true;
  EXPECT_EQ(classify_mail(bad).cls, Class::kPermanent);
  EXPECT_EQ(classify_mail(bad).reason, "bad-request");
}

TEST(ClassifyMail, AGreylistIsGivenItsTime) {
  MailEvidence e;
  e.stage = Stage::kRecipient;
  e.reply = 451;
  e.reply_text = "You are Greylisted, try later";
  const Outcome outcome = classify_mail(e);
  ASSERT_TRUE(outcome.retry_after.has_value());
  EXPECT_GE(*outcome.retry_after, 5min);
  EXPECT_FALSE(outcome.lane_wide) << "it concerns one recipient";
}

struct Phase {
  Stage stage;
  int reply;
  bool complete;
  const char* name;
};

TEST(ClassifyMail, PhasesAreNamed) {
  for (const Phase& phase : {Phase{Stage::kConnect, 0, false, "connect"},
                             Phase{Stage::kGreeting, 421, false, "greeting"}, Phase{Stage::kHello, 550, false, "ehlo"},
                             Phase{Stage::kStartTls, 502, false, "starttls"}, Phase{Stage::kLogin, 535, false, "auth"},
                             Phase{Stage::kSender, 451, false, "mail"}, Phase{Stage::kRecipient, 550, false, "rcpt"},
                             Phase{Stage::kData, 554, false, "data"}, Phase{Stage::kBody, 0, false, "body"},
                             Phase{Stage::kBody, 0, true, "dot"}, Phase{Stage::kBody, 250, true, "done"}}) {
    MailEvidence e;
    e.resolved = true;
    e.stage = phase.stage;
    e.reply = phase.reply;
    e.body_complete = phase.complete;
    EXPECT_EQ(classify_mail(e).phase, phase.name);
  }
  EXPECT_EQ(classify_mail(MailEvidence{}).phase, "resolve");
}

TEST(ClassifyMail, F59_TheServersWordsAreMadeSafe) {
  MailEvidence e;
  e.stage = Stage::kRecipient;
  e.reply = 550;
  e.enhanced = "5.1.1";
  e.reply_text = "no\x1b[31m such \xff user " + std::string(5000, 'x');
  const Outcome outcome = classify_mail(e);
  EXPECT_TRUE(valid_utf8(outcome.detail));
  EXPECT_LE(outcome.detail.size(), limits::kDetail);
  EXPECT_TRUE(outcome.detail.starts_with("5.1.1 no\\u001b")) << outcome.detail.substr(0, 40);
}

TEST(ClassifyMail, TheQueueIdIsTheReference) {
  struct Reply {
    const char* text;
    const char* id;
  };
  for (const Reply& reply : {
           Reply{"Ok: queued as 4F2A71C0D3", "4F2A71C0D3"},                                                 // Postfix
           Reply{"OK id=1qXyZa-0004Gk-2b", "1qXyZa-0004Gk-2b"},                                             // Exim
           Reply{"34TAbCdE012345 Message accepted for delivery", "34TAbCdE012345"},                         // Sendmail
           Reply{"c5f9d2a1 Message accepted for delivery", "c5f9d2a1"},                                     // OpenSMTPD
           Reply{"<m@x.test> [InternalId=123456789, Hostname=A.b] Queued mail for delivery", "123456789"},  // Exchange
           Reply{"ok 1700000000 qp 12345", "1700000000"},                                                   // qmail
           Reply{"Ok 0100018c-1111-2222", "Ok 0100018c-1111-2222"},  // others: all of it
           Reply{"", ""},
       })
    EXPECT_EQ(queue_id(reply.text), reply.id) << reply.text;
  EXPECT_LE(queue_id(std::string(1000, 'y')).size(), 128U);
}

}  // namespace
}  // namespace notify

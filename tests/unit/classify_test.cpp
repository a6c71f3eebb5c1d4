// The judge of HTTP outcomes, row by row of the tables of measured libcurl behaviour. tests/contract/sys_http_test.cpp
// drives the real client against a real peer for the same rows.

#include "core/classify.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace notify {
namespace {

constexpr Instant kNow{1'700'000'000'000};  // Tue, 14 Nov 2023 22:13:20 GMT

using Class = OutcomeClass;

Outcome judge(const HttpEvidence& evidence, const StatusRules& rules = {}) {
  return classify_http(evidence, rules, kNow);
}

HttpEvidence answered(int status) {
  HttpEvidence e;
  e.status = status;
  e.handed_over = true;
  e.requests_begun = 1;
  e.body_bytes_out = e.body_length = 100;
  e.phase = "done";
  return e;
}

struct Row {
  const char* behaviour;
  int code;
  int status;
  bool handed_over;
  int requests;
  std::int64_t out;
  std::int64_t length;
  Class expected;
  const char* reason;
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.behaviour; }

HttpEvidence evidence_of(const Row& row) {
  HttpEvidence e;
  e.curl_code = row.code;
  e.status = row.status;
  e.handed_over = row.handed_over;
  e.requests_begun = row.requests;
  e.body_bytes_out = row.out;
  e.body_length = row.length;
  return e;
}

class MeasuredHttp1 : public testing::TestWithParam<Row> {};

TEST_P(MeasuredHttp1, Judged) {
  const Outcome outcome = judge(evidence_of(GetParam()));
  EXPECT_STREQ(outcome_name(outcome.cls), outcome_name(GetParam().expected));
  EXPECT_EQ(outcome.reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MeasuredHttp1,
    testing::Values(
        Row{"DNS failure", 6, 0, false, 0, 0, 100, Class::kNotSent, "resolve-failed"},
        Row{"connection refused", 7, 0, false, 0, 0, 100, Class::kNotSent, "connect-failed"},
        Row{"PREREQ callback aborts", 42, 0, false, 0, 0, 100, Class::kNotSent, "not-sent"},
        Row{"TLS bad certificate", 60, 0, false, 0, 0, 100, Class::kNotSent, "tls-failed"},
        Row{"TLS peer silent", 28, 0, false, 0, 0, 100, Class::kNotSent, "connect-timeout"},
        Row{"TLS RST during connect", 7, 0, false, 0, 0, 100, Class::kNotSent, "connect-failed"},
        Row{"proxy CONNECT refused", 56, 0, false, 0, 0, 100, Class::kNotSent, "connect-failed"},
        Row{"accepts then closes without reading", 56, 0, true, 1, 100, 100, Class::kUnknown, "connection-lost"},
        Row{"reads all, closes", 52, 0, true, 1, 100, 100, Class::kUnknown, "no-answer"},
        Row{"reads all, RST", 56, 0, true, 1, 100, 100, Class::kUnknown, "connection-lost"},
        Row{"reads all, hangs", 28, 0, true, 1, 100, 100, Class::kUnknown, "timeout"},
        Row{"half a status line", 52, 0, true, 1, 100, 100, Class::kUnknown, "no-answer"},
        Row{"half a head after its status", 0, 200, true, 1, 100, 100, Class::kSent, "http-200"},
        Row{"3 of 10 body bytes", 18, 200, true, 1, 100, 100, Class::kSent, "http-200"},
        Row{"non-HTTP bytes", 1, 0, true, 1, 100, 100, Class::kUnknown, "answer-not-http"},
        Row{"never reads a 20 MB body", 28, 0, true, 1, 2'800'000, 20'000'000, Class::kNotSent, "body-incomplete"},
        Row{"RST in the middle of the body", 56, 0, true, 1, 1'000'000, 5'000'000, Class::kNotSent, "body-incomplete"},
        Row{"early 413 while uploading", 0, 413, true, 1, 1000, 5'000'000, Class::kPermanent, "http-413"}));

TEST(Classify, LocalCurlCodesAreNotSentWhenNothingLeft) {
  for (const int code : {2, 3, 4, 5, 27, 35, 43, 45, 48, 49, 53, 54, 58, 59, 66, 77, 82, 83, 90, 91, 97, 98}) {
    HttpEvidence e;
    e.curl_code = code;
    e.body_length = 10;
    EXPECT_EQ(judge(e).cls, Class::kNotSent) << code;
    e.handed_over = true;
    e.requests_begun = 1;
    e.body_bytes_out = 10;
    EXPECT_EQ(judge(e).cls, Class::kUnknown) << code << " after the request had left";
  }
}

// Whatever the library calls it, it never left: neither the vendor nor the message is to blame.
TEST(Classify, AShortageOfOursCostsNobodyAnything) {
  for (const int code : {6, 7, 35, 60, 77}) {
    HttpEvidence e;
    e.curl_code = code;
    e.shortage = true;
    e.curl_error = "Too many open files";
    const Outcome outcome = judge(e);
    EXPECT_EQ(outcome.cls, Class::kNotSent) << code;
    EXPECT_TRUE(outcome.not_begun && outcome.shortage) << code;
    EXPECT_FALSE(outcome.halt_channel || outcome.connect_refused || outcome.lane_wide) << code;
    EXPECT_TRUE(outcome.retry_after) << "not at once, or it would turn in circles";
    EXPECT_EQ(outcome.reason, "local-shortage");
    EXPECT_EQ(outcome.detail, "Too many open files");
    e.requests_begun = 1;
    e.handed_over = true;
    EXPECT_EQ(judge(e).cls, Class::kUnknown) << "after the request had left it proves nothing";
  }
}

TEST(Classify, NoCodeAloneIsProof) {
  for (int code = 0; code < 100; ++code) {
    HttpEvidence e;
    e.curl_code = code;
    e.handed_over = true;
    e.requests_begun = 1;
    EXPECT_EQ(judge(e).cls, Class::kUnknown) << code;
  }
}

// Trap 2: the silent repeat got "connection refused" after the server had read the whole first request.
TEST(Classify, F02_RefusedConnectAfterASilentRetryIsUnknown) {
  HttpEvidence e;
  e.curl_code = 7;
  e.handed_over = true;
  e.requests_begun = 1;
  e.silent_retry = true;
  e.body_bytes_out = e.body_length = 90;
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.cls, Class::kUnknown);
  EXPECT_FALSE(outcome.connect_refused);
}

TEST(Classify, F02_EitherCounterAloneIsEnoughToBeUnknown) {
  HttpEvidence by_time;
  by_time.curl_code = 7;
  by_time.handed_over = true;
  EXPECT_EQ(judge(by_time).cls, Class::kUnknown);
  HttpEvidence by_head;
  by_head.curl_code = 7;
  by_head.requests_begun = 1;
  EXPECT_EQ(judge(by_head).cls, Class::kUnknown);
  HttpEvidence by_body;
  by_body.curl_code = 7;
  by_body.body_bytes_out = 1;
  EXPECT_EQ(judge(by_body).cls, Class::kUnknown);
}

TEST(Classify, F02_RewindRefusedIsUnknown) {
  HttpEvidence e;
  e.curl_code = 65;
  e.handed_over = true;
  e.requests_begun = 1;
  e.silent_retry = true;
  e.body_bytes_out = e.body_length = 90;
  EXPECT_EQ(judge(e).cls, Class::kUnknown);
}

TEST(Classify, SentAfterTheLibraryRepeatedIsMarked) {
  HttpEvidence e = answered(200);
  e.silent_retry = true;
  e.requests_begun = 2;
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.cls, Class::kSent);
  EXPECT_TRUE(outcome.duplicate_risk);
  EXPECT_FALSE(judge(answered(200)).duplicate_risk);
}

// The count runs over all attempts: less than one body in total means that no attempt was complete.
TEST(Classify, IncompleteBodyOverSeveralAttemptsIsNotSent) {
  HttpEvidence e;
  e.curl_code = 56;
  e.handed_over = true;
  e.requests_begun = 2;
  e.silent_retry = true;
  e.body_length = 1000;
  e.body_bytes_out = 999;
  EXPECT_EQ(judge(e).cls, Class::kNotSent);
  e.body_bytes_out = 1000;
  EXPECT_EQ(judge(e).cls, Class::kUnknown);
}

// --- HTTP/2 (table 1.5)

struct StreamRow {
  const char* event;
  int code;
  int status;
  bool refused;
  std::int64_t stream;
  std::int64_t last;
  int requests;
  Class expected;
};

std::ostream& operator<<(std::ostream& out, const StreamRow& row) { return out << row.event; }

class MeasuredHttp2 : public testing::TestWithParam<StreamRow> {};

TEST_P(MeasuredHttp2, F29_Judged) {
  const StreamRow& row = GetParam();
  HttpEvidence e;
  e.curl_code = row.code;
  e.status = row.status;
  e.handed_over = true;
  e.requests_begun = row.requests;
  e.body_bytes_out = e.body_length = 100;
  e.refused_stream = row.refused;
  e.stream_id = row.stream;
  e.goaway_last_stream = row.last;
  EXPECT_STREQ(outcome_name(judge(e).cls), outcome_name(row.expected));
}

INSTANTIATE_TEST_SUITE_P(
    Table, MeasuredHttp2,
    testing::Values(StreamRow{"REFUSED_STREAM, tried 5 times", 56, 0, true, 1, -1, 6, Class::kNotSent},
                    StreamRow{"REFUSED_STREAM, repeat stopped", 65, 0, true, 1, -1, 1, Class::kNotSent},
                    StreamRow{"RST INTERNAL_ERROR or CANCEL", 92, 0, false, 1, -1, 1, Class::kUnknown},
                    StreamRow{"RST NO_ERROR before headers", 92, 0, false, 1, -1, 1, Class::kUnknown},
                    StreamRow{"HTTP_1_1_REQUIRED, answered", 0, 200, false, 1, -1, 2, Class::kSent},
                    StreamRow{"GOAWAY below", 16, 0, false, 5, 3, 1, Class::kNotSent},
                    StreamRow{"GOAWAY below, ids not seen", 16, 0, false, -1, -1, 1, Class::kUnknown},
                    StreamRow{"GOAWAY below, stream not seen", 16, 0, false, -1, 3, 1, Class::kUnknown},
                    StreamRow{"GOAWAY equal, then close", 18, 0, false, 5, 5, 1, Class::kUnknown},
                    StreamRow{"GOAWAY above, then close", 18, 0, false, 5, 0x7fffffff, 1, Class::kUnknown},
                    StreamRow{"GOAWAY equal, answer follows", 0, 200, false, 5, 5, 1, Class::kSent},
                    StreamRow{"GOAWAY below after an earlier attempt", 16, 0, false, 5, 3, 2, Class::kUnknown},
                    StreamRow{"socket closed cleanly", 18, 0, false, 5, -1, 1, Class::kUnknown}));

// A request that left whole, on a stream that the server's GOAWAY disowns.
HttpEvidence below_goaway() {
  HttpEvidence e;
  e.curl_code = 16;
  e.handed_over = true;
  e.requests_begun = 1;
  e.body_bytes_out = e.body_length = 100;
  e.stream_id = 5;
  e.goaway_last_stream = 3;
  e.goaway_error = 0;
  return e;
}

TEST(Classify, F29_EnhanceYourCalmHaltsTheLane) {
  HttpEvidence e = below_goaway();
  e.goaway_error = 0xb;
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.cls, Class::kNotSent);
  EXPECT_EQ(outcome.reason, "goaway");
  EXPECT_TRUE(outcome.halt_channel);
  e.goaway_error = 0;
  EXPECT_FALSE(judge(e).halt_channel);
}

TEST(Classify, F29_AGoawayAfterAnErrorOfTheServersOwnIsNoProof) {
  HttpEvidence e = below_goaway();
  EXPECT_EQ(judge(e).cls, Class::kNotSent);
  e.silent_retry = true;  // wanted, and stopped before its first byte
  EXPECT_EQ(judge(e).cls, Class::kNotSent);
  e.requests_begun = 2;
  EXPECT_EQ(judge(e).cls, Class::kUnknown);
  e.requests_begun = 1;
  e.goaway_error = 2;
  EXPECT_EQ(judge(e).cls, Class::kUnknown);
}

// --- statuses (table 0.1)

TEST(Classify, DefaultTableOfStatuses) {
  struct Status {
    int status;
    Class cls;
    bool halt;
    bool disable;
  };
  const std::vector<Status> rows{
      {200, Class::kSent, false, false},      {201, Class::kSent, false, false},
      {202, Class::kSent, false, false},      {204, Class::kSent, false, false},
      {207, Class::kSent, false, false},      {301, Class::kPermanent, true, false},
      {302, Class::kPermanent, true, false},  {304, Class::kPermanent, true, false},
      {307, Class::kPermanent, true, false},  {400, Class::kPermanent, false, false},
      {401, Class::kNotSent, true, false},    {402, Class::kNotSent, true, false},
      {403, Class::kNotSent, true, false},    {404, Class::kPermanent, false, false},
      {405, Class::kPermanent, false, false}, {407, Class::kNotSent, true, false},
      {408, Class::kUnknown, false, false},   {409, Class::kUnknown, false, false},
      {410, Class::kPermanent, false, true},  {413, Class::kPermanent, false, false},
      {414, Class::kPermanent, false, false}, {415, Class::kPermanent, false, false},
      {417, Class::kNotSent, false, false},   {421, Class::kNotSent, false, false},
      {422, Class::kPermanent, false, false}, {425, Class::kNotSent, false, false},
      {429, Class::kNotSent, false, false},   {500, Class::kUnknown, false, false},
      {502, Class::kUnknown, false, false},   {503, Class::kUnknown, false, false},
      {504, Class::kUnknown, false, false},   {520, Class::kUnknown, false, false},
      {599, Class::kUnknown, false, false},   {999, Class::kUnknown, false, false},
  };
  for (const Status& row : rows) {
    const Outcome outcome = judge(answered(row.status));
    EXPECT_STREQ(outcome_name(outcome.cls), outcome_name(row.cls)) << row.status;
    EXPECT_EQ(outcome.halt_channel, row.halt) << row.status;
    EXPECT_EQ(outcome.disable_endpoint, row.disable) << row.status;
    EXPECT_EQ(outcome.reason, "http-" + std::to_string(row.status));
    EXPECT_EQ(outcome.status, row.status);
  }
}

TEST(Classify, AStatusDecidesWhateverTheTransportSays) {
  for (const int code : {0, 16, 18, 23, 28, 52, 55, 56, 92}) {
    HttpEvidence e = answered(401);
    e.curl_code = code;
    EXPECT_EQ(judge(e).cls, Class::kNotSent) << code;
  }
}

TEST(Classify, AnInterimStatusIsNoAnswer) {
  HttpEvidence e = answered(103);
  e.curl_code = 28;
  EXPECT_EQ(judge(e).cls, Class::kUnknown);
}

TEST(Classify, VendorsRulesComeFirst) {
  StatusRules rules;
  rules.not_sent = {503};
  rules.permanent = {409, 500};
  rules.unknown = {400};
  EXPECT_EQ(judge(answered(503), rules).cls, Class::kNotSent);
  EXPECT_EQ(judge(answered(409), rules).cls, Class::kPermanent);
  EXPECT_EQ(judge(answered(500), rules).cls, Class::kPermanent);
  EXPECT_EQ(judge(answered(400), rules).cls, Class::kUnknown);
  EXPECT_EQ(judge(answered(502), rules).cls, Class::kUnknown);
}

TEST(Classify, F32_AnIncompleteBodyThatDecidesIsUnknown) {
  HttpEvidence e = answered(200);
  e.body_truncated = true;
  EXPECT_EQ(judge(e).cls, Class::kSent);
  StatusRules rules;
  rules.body_decides = true;
  const Outcome outcome = judge(e, rules);
  EXPECT_EQ(outcome.cls, Class::kUnknown);
  EXPECT_EQ(outcome.reason, "answer-incomplete");
}

TEST(Classify, RetryAfterOf429HoldsForTheLane) {
  HttpEvidence e = answered(429);
  EXPECT_TRUE(judge(e).lane_wide);
  EXPECT_FALSE(judge(e).retry_after.has_value());
  e.headers = {{"retry-after", "17"}};
  EXPECT_EQ(judge(e).retry_after, Duration(17'000));
  e.headers = {{"retry-after", "99999999999999999999999"}};
  EXPECT_EQ(judge(e).retry_after, Duration(std::chrono::hours(24)));
  StatusRules rules;
  rules.max_retry_after = Duration(5000);
  EXPECT_EQ(judge(e, rules).retry_after, Duration(5000));
}

TEST(Classify, RetryAfterDatesAreMeasuredByTheVendorsClock) {
  HttpEvidence e = answered(503);
  e.headers = {{"date", "Mon, 01 Jan 2024 00:00:00 GMT"}, {"retry-after", "Mon, 01 Jan 2024 00:02:00 GMT"}};
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.cls, Class::kUnknown);
  EXPECT_EQ(outcome.retry_after, Duration(120'000));
  EXPECT_TRUE(outcome.lane_wide);
  e.headers = {{"retry-after", "Tue, 14 Nov 2023 22:13:30 GMT"}};
  EXPECT_EQ(judge(e).retry_after, Duration(10'000));
}

// --- nothing left

TEST(Classify, WhatCountsAsARefusedConnect) {
  for (const int code : {5, 6, 7, 28, 35}) {
    HttpEvidence e;
    e.curl_code = code;
    EXPECT_TRUE(judge(e).connect_refused) << code;
  }
  HttpEvidence tls;
  tls.curl_code = 60;
  EXPECT_FALSE(judge(tls).connect_refused);
  EXPECT_TRUE(judge(tls).halt_channel);
}

TEST(Classify, PhaseTellsTimeoutsApart) {
  HttpEvidence e;
  e.curl_code = 28;
  e.phase = "resolve";
  EXPECT_EQ(judge(e).reason, "resolve-timeout");
  e.phase = "tls";
  EXPECT_EQ(judge(e).reason, "connect-timeout");
}

TEST(Classify, F33_ABlockedAddressIsPermanent) {
  HttpEvidence e;
  e.curl_code = 7;
  e.address_blocked = true;
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.cls, Class::kPermanent);
  EXPECT_EQ(outcome.reason, "address-blocked");
  EXPECT_NE(outcome.detail.find("allow_private"), std::string::npos) << outcome.detail;
  EXPECT_FALSE(outcome.connect_refused);
  e.handed_over = true;  // some earlier attempt had left all the same
  EXPECT_EQ(judge(e).cls, Class::kUnknown);
}

TEST(Classify, AnImpossibleRequestIsPermanent) {
  HttpEvidence e;
  e.refused_locally = true;
  e.curl_error = "the URL cannot be parsed";
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.cls, Class::kPermanent);
  EXPECT_EQ(outcome.reason, "bad-request");
  EXPECT_EQ(outcome.detail, "the URL cannot be parsed");
}

TEST(Classify, F59_DetailIsBoundedValidText) {
  HttpEvidence e;
  e.curl_code = 56;
  e.curl_error = std::string("\x1b[31m\xff\xc3") + std::string(5000, 'x');
  const Outcome outcome = judge(e);
  EXPECT_LE(outcome.detail.size(), 1024U);
  EXPECT_EQ(outcome.detail.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.detail.rfind("\\u001b[31m\xEF\xBF\xBD\xEF\xBF\xBDx", 0), 0U);
}

TEST(Classify, EvidenceIsKeptWithTheOutcome) {
  HttpEvidence e = answered(200);
  e.elapsed = Duration(42);
  const Outcome outcome = judge(e);
  EXPECT_EQ(outcome.phase, "done");
  EXPECT_EQ(outcome.bytes_sent, 100);
  EXPECT_EQ(outcome.elapsed, Duration(42));
}

TEST(Classify, HeaderValueIsTheFirst) {
  HttpEvidence e;
  e.headers = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  EXPECT_EQ(header_value(e, "a"), "1");
  EXPECT_EQ(header_value(e, "c"), "");
}

}  // namespace
}  // namespace notify

// What Apple, Google, a browser's push service, Amazon, any webhook and any mail server may answer: each driver judges it
// within bounds, and an acceptance is never made of nothing.
//
// Input: the first byte chooses the driver, the second the status; then headers and body (evidence.hpp). Of a mail
// server's reply the second byte is the stage, the headers' line its text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "channel/apns.hpp"
#include "channel/fcm.hpp"
#include "channel/ses.hpp"
#include "channel/webpush.hpp"
#include "core/classify.hpp"
#include "core/classify_mail.hpp"
#include "evidence.hpp"

namespace {

using namespace notify;
using namespace notify::fuzz;

constexpr Instant kNow{1'795'958'769'000};

Outcome judge(unsigned driver, const HttpEvidence& evidence) {
  switch (driver) {
    case 0: return judge_apns(evidence, kNow).outcome;
    case 1: return judge_fcm(evidence, kNow).outcome;
    case 2: return judge_webpush(evidence, "push.example", kNow).outcome;
    case 3: return judge_ses(evidence, kNow);
    default: return classify_http(evidence, {}, kNow);
  }
}

MailEvidence mail_of(std::uint8_t byte, std::string_view input) {
  MailEvidence evidence;
  evidence.stage = static_cast<MailStage>(byte % 9);
  evidence.body_complete = (byte & 0x40) != 0;
  evidence.resolved = true;
  for (; !input.empty() && input.front() >= '0' && input.front() <= '9' && evidence.reply < 100; input.remove_prefix(1))
    evidence.reply = evidence.reply * 10 + (input.front() - '0');
  evidence.curl_code = evidence.reply >= 200 && evidence.reply < 300 ? 0 : 55;
  evidence.reply_text = input;
  return evidence;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data + 2), size - 2);
  const unsigned driver = data[0] % 6;
  if (driver == 5) {
    const MailEvidence evidence = mail_of(data[1], input);
    const Outcome outcome = classify_mail(evidence);
    check_outcome(outcome);
    if (outcome.cls == OutcomeClass::kSent) ASSERT(evidence.stage == MailStage::kBody);
    return 0;
  }
  HttpEvidence evidence = evidence_of(data[1], input);
  evidence.handed_over = true;
  evidence.requests_begun = 1;
  const Outcome outcome = judge(driver, evidence);
  check_outcome(outcome);
  if (outcome.cls == OutcomeClass::kSent) ASSERT(evidence.status >= 200 && evidence.status < 300);
  if (evidence.status == 0) ASSERT(outcome.cls == OutcomeClass::kUnknown);
  return 0;
}

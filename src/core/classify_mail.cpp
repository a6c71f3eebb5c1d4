#include "core/classify_mail.hpp"

#include <algorithm>

#include "core/ascii.hpp"
#include "core/curl_codes.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr Duration kLaneRest{60'000};       // a server that is busy as a whole
constexpr Duration kGreylistRest{300'000};  // the usual greylist lets nothing through before
constexpr std::size_t kLongestQueueId = 128;

bool contains_ignoring_case(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

const char* phase_of(const MailEvidence& evidence) noexcept {
  switch (evidence.stage) {
    case MailStage::kConnect:
      if (!evidence.resolved) return "resolve";
      return evidence.handshake ? "tls" : "connect";
    case MailStage::kGreeting: return "greeting";
    case MailStage::kHello: return "ehlo";
    case MailStage::kStartTls: return evidence.handshake ? "tls" : "starttls";
    case MailStage::kLogin: return "auth";
    case MailStage::kSender: return "mail";
    case MailStage::kRecipient: return "rcpt";
    case MailStage::kData: return "data";
    case MailStage::kBody: break;
  }
  if (evidence.reply != 0) return "done";
  return evidence.body_complete ? "dot" : "body";
}

// --- a reply that refuses

// The address does not exist or cannot exist: nobody will ever get mail there (RFC 3463 3.2). A full mailbox (x.2.2) and
// a policy (x.7.1) say nothing about the address.
bool address_is_dead(const MailEvidence& evidence) noexcept {
  if (evidence.stage != MailStage::kRecipient && evidence.stage != MailStage::kBody) return false;
  if (evidence.reply == 550) return evidence.enhanced == "5.1.1" || evidence.enhanced == "5.1.10";
  return evidence.reply == 553 && evidence.enhanced == "5.1.3";
}

// Credentials are missing, refused or must be renewed (RFC 4954 6): nothing was processed, and all will be well when an
// operator has mended them.
bool wants_other_credentials(int reply) noexcept {
  return reply == 530 || reply == 534 || reply == 535 || reply == 538;
}

bool is_greylisting(const MailEvidence& evidence) {
  return evidence.enhanced.starts_with("4.7.") || contains_ignoring_case(evidence.reply_text, "greylist") ||
         contains_ignoring_case(evidence.reply_text, "graylist");
}

// What no retry within seconds will change: a greylist, a full mailbox, a full disk.
bool needs_a_rest(const MailEvidence& evidence) {
  return is_greylisting(evidence) || evidence.reply == 452 || evidence.enhanced == "4.2.2" ||
         evidence.enhanced == "4.3.1";
}

// Before MAIL the server has seen nothing of the message: what it says is about us.
void judge_before_the_message(const MailEvidence& evidence, Outcome& outcome) {
  outcome.cls = OutcomeClass::kNotSent;
  if (evidence.reply >= 500) {
    outcome.halt_channel = true;
  } else {
    outcome.lane_wide = true;
    outcome.retry_after = kLaneRest;
  }
}

void judge_temporary(const MailEvidence& evidence, Outcome& outcome) {
  outcome.cls = OutcomeClass::kNotSent;
  if (evidence.reply == 421 && evidence.stage == MailStage::kSender) {  // too many messages, shutting down, throttled
    outcome.lane_wide = true;
    outcome.retry_after = kLaneRest;
  } else if (needs_a_rest(evidence)) {
    outcome.retry_after = kGreylistRest;
  }
}

void judge_permanent(const MailEvidence& evidence, Outcome& outcome) {
  if (wants_other_credentials(evidence.reply)) {
    outcome.cls = OutcomeClass::kNotSent;
    outcome.halt_channel = true;
    return;
  }
  outcome.cls = OutcomeClass::kPermanent;
  outcome.disable_endpoint = address_is_dead(evidence);
  // Our own sender address, which all messages have: x.1.7 bad syntax, x.1.8 bad domain.
  outcome.halt_channel =
      evidence.stage == MailStage::kSender && (evidence.enhanced == "5.1.7" || evidence.enhanced == "5.1.8");
}

bool is_refusal(int reply) noexcept { return reply >= 400 && reply < 600; }

void judge_refusal(const MailEvidence& evidence, Outcome& outcome) {
  outcome.reason = "smtp-" + std::to_string(evidence.reply);
  if (evidence.stage < MailStage::kSender) return judge_before_the_message(evidence, outcome);
  return evidence.reply < 500 ? judge_temporary(evidence, outcome) : judge_permanent(evidence, outcome);
}

// --- no reply that refuses, and no 354

void judge_unsent(const MailEvidence& evidence, Outcome& outcome) {
  const int code = evidence.curl_code;
  if (evidence.shortage) {
    Outcome ours = shortage_outcome({});
    ours.phase = std::move(outcome.phase);
    ours.elapsed = outcome.elapsed;
    outcome = std::move(ours);
    return;
  }
  outcome.cls = OutcomeClass::kNotSent;
  if (evidence.refused_locally || evidence.utf8_missing) {
    outcome.cls = OutcomeClass::kPermanent;  // it would be refused every time
    outcome.reason = evidence.utf8_missing ? "smtputf8-not-offered" : "bad-request";
  } else if (evidence.login_missing || code == curl::kLoginDenied) {
    outcome.reason = "login-not-offered";
    outcome.halt_channel = true;
  } else if (code == curl::kTlsNotOffered) {
    outcome.reason = "starttls-not-offered";
    outcome.halt_channel = true;
  } else if (curl::tls_is_broken(code)) {
    outcome.reason = "tls-failed";
    outcome.halt_channel = true;
  } else if (evidence.stage >= MailStage::kSender) {  // a kept connection that the server had given up, for one
    outcome.reason = evidence.timed_out ? "timeout" : "connection-lost";
  } else {
    outcome.connect_refused = true;
    if (!evidence.resolved)
      outcome.reason = code == curl::kNoHost ? "resolve-failed" : "resolve-timeout";
    else if (evidence.timed_out)
      outcome.reason = "connect-timeout";
    else if (evidence.handshake)
      outcome.reason = "tls-failed";
    else
      outcome.reason =
          evidence.stage == MailStage::kConnect || code == curl::kNoConnect ? "connect-failed" : "connection-lost";
  }
}

// --- after 354

void judge_body(const MailEvidence& evidence, Outcome& outcome) {
  if (evidence.reply >= 200 && evidence.reply < 300) {  // whatever libcurl thinks of 251
    outcome.cls = OutcomeClass::kSent;
    outcome.reason = "smtp-" + std::to_string(evidence.reply);
    outcome.reference = safe_text(queue_id(evidence.reply_text), limits::kReference);
  } else if (is_refusal(evidence.reply)) {
    judge_refusal(evidence, outcome);
  } else if (evidence.reply != 0) {
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = "answer-not-smtp";
  } else if (evidence.body_complete) {
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = evidence.timed_out ? "timeout" : "connection-lost";
  } else {
    outcome.cls = OutcomeClass::kNotSent;
    outcome.reason = "body-incomplete";
  }
}

std::string detail_of(const MailEvidence& evidence, const Outcome& outcome) {
  if (evidence.utf8_missing) return "5.6.7 the address is not ASCII and the server does not offer SMTPUTF8";
  if (evidence.login_missing) return "the server offers no login, or none of the mechanisms that may be used";
  const bool answered = is_refusal(evidence.reply) || outcome.cls == OutcomeClass::kSent;
  if (!answered) return safe_text(evidence.curl_error, limits::kDetail);
  std::string text = evidence.enhanced.empty() ? std::string() : evidence.enhanced + " ";
  return safe_text(text + evidence.reply_text, limits::kDetail);
}

// --- queue ids

std::string_view word_at(std::string_view text, std::size_t at) {
  text.remove_prefix(std::min(text.find_first_not_of(' ', at), text.size()));
  std::string_view word = text.substr(0, text.find(' '));
  while (!word.empty() && std::string_view(".,;:)>").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return word;
}

std::string_view word_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : word_at(text, at + mark.size());
}

}  // namespace

std::string queue_id(std::string_view text) {
  for (const std::string_view mark : {"queued as ", "Queued as ", "OK id=", "InternalId=", "ok ", "qp "})
    if (const std::string_view id = word_after(text, mark);
        !id.empty() && id.find_first_of("0123456789") != std::string_view::npos)
      return safe_text(id.substr(0, id.find(',')), kLongestQueueId);
  // Sendmail, OpenSMTPD: "x7A2bc Message accepted for delivery"
  if (const std::size_t at = text.find(" Message accepted"); at != std::string_view::npos && at > 0)
    return safe_text(word_at(text, 0), kLongestQueueId);
  return safe_text(text, kLongestQueueId);
}

Outcome classify_mail(const MailEvidence& evidence) {
  Outcome outcome;
  outcome.status = evidence.reply;
  outcome.phase = phase_of(evidence);
  outcome.bytes_sent = evidence.bytes_out;
  outcome.elapsed = evidence.elapsed;
  if (evidence.stage == MailStage::kBody)
    judge_body(evidence, outcome);
  else if (is_refusal(evidence.reply))
    judge_refusal(evidence, outcome);
  else
    judge_unsent(evidence, outcome);
  outcome.detail = detail_of(evidence, outcome);
  return outcome;
}

}  // namespace notify

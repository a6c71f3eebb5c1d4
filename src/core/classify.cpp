#include "core/classify.hpp"

#include <algorithm>

#include "core/curl_codes.hpp"
#include "core/message.hpp"
#include "core/retry_after.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::int64_t kInternalError = 0x2;    // RFC 9113 7
constexpr std::int64_t kEnhanceYourCalm = 0xb;  // RFC 9113 7: the peer wants us to slow down

bool listed(const std::vector<int>& statuses, int status) noexcept {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

// --- with a status

struct StatusVerdict {
  OutcomeClass cls;
  bool halt = false;
  bool disable = false;
};

// PROVIDERS 0.1, for vendors who say nothing else.
StatusVerdict default_verdict(int status) noexcept {
  if (status < 300) return {OutcomeClass::kSent};
  if (status < 400) return {OutcomeClass::kPermanent, true};  // a redirect is never followed: the address is wrong
  switch (status) {
    case 401:
    case 402:
    case 403:
    case 407: return {OutcomeClass::kNotSent, true};
    case 417:
    case 421:
    case 425:
    case 429: return {OutcomeClass::kNotSent};
    case 408:
    case 409: return {OutcomeClass::kUnknown};
    case 410: return {OutcomeClass::kPermanent, false, true};
    default: break;
  }
  return {status < 500 ? OutcomeClass::kPermanent : OutcomeClass::kUnknown};
}

StatusVerdict verdict_of(int status, const StatusRules& rules) noexcept {
  StatusVerdict verdict = default_verdict(status);
  if (listed(rules.not_sent, status))
    verdict.cls = OutcomeClass::kNotSent;
  else if (listed(rules.permanent, status))
    verdict.cls = OutcomeClass::kPermanent;
  else if (listed(rules.unknown, status))
    verdict.cls = OutcomeClass::kUnknown;
  return verdict;
}

// The vendor's own clock is the better measure for a date that it wrote.
std::optional<Duration> retry_after(const HttpEvidence& evidence, Duration max, Instant now) {
  const std::string_view text = header_value(evidence, "retry-after");
  if (text.empty()) return std::nullopt;
  const std::optional<Instant> theirs = parse_http_date(header_value(evidence, "date"), now);
  return parse_retry_after(text, theirs.value_or(now), max);
}

void judge_status(const HttpEvidence& evidence, const StatusRules& rules, Instant now, Outcome& outcome) {
  const int status = evidence.status;
  const StatusVerdict verdict = verdict_of(status, rules);
  outcome.cls = verdict.cls;
  outcome.halt_channel = verdict.halt;
  outcome.disable_endpoint = verdict.disable;
  outcome.reason = "http-" + std::to_string(status);
  if (outcome.cls == OutcomeClass::kSent) {
    outcome.duplicate_risk = evidence.silent_retry && evidence.requests_begun > 1;
    if (rules.body_decides && evidence.body_truncated) {
      outcome.cls = OutcomeClass::kUnknown;
      outcome.reason = "answer-incomplete";
    }
    return;
  }
  outcome.retry_after = retry_after(evidence, rules.max_retry_after, now);
  outcome.lane_wide = status == 429 || (status == 503 && outcome.retry_after.has_value());
}

// --- without a status

// Nothing of the request was handed to the network.
bool nothing_left(const HttpEvidence& evidence) noexcept {
  return !evidence.handed_over && evidence.requests_begun == 0 && evidence.body_bytes_out == 0;
}

// The count runs over all attempts, so less than one body means that no attempt was complete.
bool body_incomplete(const HttpEvidence& evidence) noexcept {
  return evidence.body_length > 0 && evidence.body_bytes_out < evidence.body_length;
}

// RFC 9113 6.8: streams above the last GOAWAY's id are not and will not be processed. It says so of one connection, so a
// second attempt on another one would not be covered. A server that stops for an error of its own is not believed: seen
// with nghttp2 1.52, which at its limit on resets told 2109 and had handed on 2137.
bool above_goaway(const HttpEvidence& evidence) noexcept {
  return evidence.goaway_last_stream >= 0 && evidence.stream_id > evidence.goaway_last_stream &&
         evidence.goaway_error != kInternalError && evidence.requests_begun <= 1;
}

constexpr std::string_view kAddressBlocked =
    "the target's address is private, local or reserved, and was refused before any connection; allow_private = true "
    "in "
    "the channel's table allows such targets";

void judge_unsent(const HttpEvidence& evidence, Outcome& outcome) {
  const int code = evidence.curl_code;
  if (evidence.shortage) {
    Outcome ours = shortage_outcome(std::move(outcome.detail));
    ours.phase = std::move(outcome.phase);
    ours.elapsed = outcome.elapsed;
    outcome = std::move(ours);
    return;
  }
  outcome.cls = OutcomeClass::kNotSent;
  if (evidence.address_blocked || evidence.refused_locally) {
    outcome.cls = OutcomeClass::kPermanent;  // it would be refused every time
    outcome.reason = evidence.address_blocked ? "address-blocked" : "bad-request";
    if (evidence.address_blocked) outcome.detail = kAddressBlocked;
  } else if (curl::tls_is_broken(code)) {
    outcome.reason = "tls-failed";
    outcome.halt_channel = true;
  } else if (code == curl::kNoHost || code == curl::kNoProxyHost) {
    outcome.reason = "resolve-failed";
    outcome.connect_refused = true;
  } else if (code == curl::kTimeout) {
    outcome.reason = evidence.phase == "resolve" ? "resolve-timeout" : "connect-timeout";
    outcome.connect_refused = true;
  } else if (code == curl::kNoConnect || code == curl::kTlsConnect) {
    outcome.reason = code == curl::kNoConnect ? "connect-failed" : "tls-failed";
    outcome.connect_refused = true;
  } else if (code == curl::kReceiveFailed || code == curl::kSendFailed || code == curl::kProxy) {
    outcome.reason = "connect-failed";  // a proxy's refusal looks like this, too
    outcome.connect_refused = true;
  } else {
    outcome.reason = "not-sent";
  }
}

std::string unknown_reason(const HttpEvidence& evidence) {
  switch (evidence.curl_code) {
    case curl::kTimeout: return "timeout";
    case curl::kUnsupportedProtocol: return "answer-not-http";
    case curl::kGotNothing: return "no-answer";
    default: return "connection-lost";
  }
}

void judge_silence(const HttpEvidence& evidence, Outcome& outcome) {
  if (evidence.goaway_error == kEnhanceYourCalm) outcome.halt_channel = true;
  if (nothing_left(evidence)) return judge_unsent(evidence, outcome);
  outcome.cls = OutcomeClass::kNotSent;
  if (evidence.refused_stream) {
    outcome.reason = "stream-refused";
  } else if (above_goaway(evidence)) {
    outcome.reason = "goaway";
  } else if (body_incomplete(evidence)) {
    outcome.reason = "body-incomplete";
  } else {
    outcome.cls = OutcomeClass::kUnknown;
    outcome.reason = unknown_reason(evidence);
  }
}

}  // namespace

std::string_view header_value(const HttpEvidence& evidence, std::string_view name) noexcept {
  for (const auto& [key, value] : evidence.headers)
    if (key == name) return value;
  return {};
}

void spare_the_lane(const HttpEvidence& evidence, Outcome& outcome) noexcept {
  outcome.halt_channel = outcome.halt_channel && evidence.curl_code == curl::kCaBundle;
  outcome.lane_wide = false;
  outcome.connect_refused = false;
}

Outcome classify_http(const HttpEvidence& evidence, const StatusRules& rules, Instant now) {
  Outcome outcome;
  outcome.status = evidence.status;
  outcome.phase = evidence.phase;
  outcome.bytes_sent = evidence.body_bytes_out;
  outcome.elapsed = evidence.elapsed;
  outcome.detail = safe_text(evidence.curl_error, limits::kDetail);
  if (evidence.status >= 200)
    judge_status(evidence, rules, now, outcome);
  else
    judge_silence(evidence, outcome);
  return outcome;
}

}  // namespace notify

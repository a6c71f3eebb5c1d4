#pragma once

// An HTTP answer made of a fuzzer's input, and what holds for every outcome.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/message.hpp"
#include "core/outcome.hpp"
#include "core/ports/http.hpp"
#include "core/safe_text.hpp"

namespace notify::fuzz {

// Up to a line feed headers ("name: value", separated by "\x1f"); the rest is the body.
inline HttpEvidence evidence_of(std::uint8_t status, std::string_view input) {
  constexpr int kStatuses[] = {0, 200, 201, 202, 204, 302, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 507};
  HttpEvidence evidence;
  evidence.status = kStatuses[status % std::size(kStatuses)];
  const std::size_t end = std::min(input.find('\n'), input.size());
  std::string_view headers = input.substr(0, end);
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find('\x1f'));
    const std::size_t colon = std::min(line.find(": "), line.size());
    evidence.headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
    headers.remove_prefix(std::min(line.size() + 1, headers.size()));
  }
  evidence.body = input.substr(std::min(end + 1, input.size()));
  return evidence;
}

inline void check_text(const std::string& text, std::size_t most) {
  ASSERT(valid_utf8(text));
  ASSERT(text.size() <= most);
  ASSERT(text.find('\n') == std::string::npos);
}

inline void check_outcome(const Outcome& outcome) {
  check_text(outcome.detail, limits::kDetail);
  check_text(outcome.reference, 256);
  check_text(outcome.reason, limits::kReason);
  ASSERT(!outcome.disable_endpoint || outcome.cls == OutcomeClass::kPermanent);
  ASSERT(!outcome.retry_after || (*outcome.retry_after >= 0ms && *outcome.retry_after <= 24h));
}

}  // namespace notify::fuzz

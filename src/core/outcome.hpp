#pragma once

#include <optional>
#include <string>

#include "core/instant.hpp"

namespace notify {

// What is known about one call to a vendor after it ended. Only proof makes kNotSent; everything that is
// neither an answer nor a proof is kUnknown.
enum class OutcomeClass {
  kSent,       // the vendor confirmed acceptance
  kPermanent,  // the vendor will never accept this message as it is
  kNotSent,    // certainly not processed: may be tried again freely
  kUnknown,    // may have been processed
};

struct Outcome {
  OutcomeClass cls = OutcomeClass::kUnknown;
  bool disable_endpoint = false;  // the vendor says this address or token is dead
  bool halt_channel = false;      // the lane is broken (credentials, TLS, account), not this message
  bool not_begun = false;         // with kNotSent: trouble of our own before the call, which costs the message no try
  bool shortage = false;          // with not_begun: this machine had no descriptor, memory or process left for the call
  bool connect_refused = false;   // counts towards "five in a row" (the lane is down)
  bool lane_wide = false;         // with retry_after: holds for the lane, not just this message (429)
  std::optional<Duration> retry_after{};
  std::optional<Instant> gone_since{};  // with disable_endpoint: since when; a later registration is not meant

  std::string reason{};     // short stable word: "http-503", "timeout", "exit-75"
  std::string detail{};     // bounded, valid UTF-8, no control characters, no secret
  std::string reference{};  // the vendor's id of the message; may be empty
  int status = 0;           // HTTP or SMTP status, exit code; 0 when none

  // Evidence, kept with the attempt.
  std::string phase{};  // how far it got: resolve, connect, tls, request, response, done
  std::int64_t bytes_sent = 0;
  Duration elapsed{0};
  bool duplicate_risk = false;  // the library itself repeated the request
};

const char* outcome_name(OutcomeClass cls) noexcept;

// Whether an errno says that this process or this machine has run out of descriptors, memory or processes: nobody else's
// fault, and over when something is given back.
bool is_shortage(int error_number) noexcept;

// Certainly not sent, for want of descriptors, memory or processes here. Says nothing about the vendor, so it costs
// neither the message nor the lane anything: it is tried again when others may have given back what was missing.
Outcome shortage_outcome(std::string detail);

}  // namespace notify

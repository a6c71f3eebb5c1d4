#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/instant.hpp"

namespace notify {

inline constexpr const char* kTransactional = "transactional";
inline constexpr const char* kAdvertising = "advertising";

// Bounds on what one message may hold, in bytes. Schema constraints repeat the ones that SQL can check.
namespace limits {
inline constexpr std::size_t kMessageId = 100;
inline constexpr std::size_t kDedupKey = 512;
inline constexpr std::size_t kChannel = 64;
inline constexpr std::size_t kRecipient = 2048;  // web push endpoints are URLs
inline constexpr std::size_t kKind = 128;
inline constexpr std::size_t kCorrelation = 128;
inline constexpr std::size_t kSubject = 998;  // RFC 5322 2.1.1
inline constexpr std::size_t kPayload = 1024 * 1024;
inline constexpr std::size_t kJsonDepth = 64;
inline constexpr std::size_t kReason = 128;
inline constexpr std::size_t kReference = 256;  // of a vendor, read by a recipe
inline constexpr std::size_t kDetail = 1024;    // foreign text kept with an outcome
inline constexpr std::size_t kBatch = 1000;     // messages in one request
}  // namespace limits

// The payload column: one JSON object with the members subject, body, html, alt, data, template, vars, each
// optional. An absent string member and an empty one mean the same.
struct Payload {
  std::string subject{};
  std::string body{};
  std::string html{};
  std::string alt{};
  std::string data{};           // canonical JSON text (sorted keys, no white space), empty when absent
  std::string template_name{};  // member "template"
  std::vector<std::pair<std::string, std::string>> vars{};  // sorted by name, names unique

  friend bool operator==(const Payload&, const Payload&) = default;
};

// A message to be inserted into the outbox.
struct NewMessage {
  std::string dedup_key{};  // empty: no key, always a new row
  std::string channel{};
  std::string recipient{};  // as written by the caller
  std::string kind{};
  std::string category = kTransactional;
  std::string payload{};      // canonical JSON text made from a Payload
  std::string fingerprint{};  // 32 raw bytes; empty when there is no key
  std::optional<Instant> not_before{};
  std::optional<Instant> expires{};
  int priority = 5;  // 0-9, 9 most urgent
  std::string correlation{};
  std::int64_t broadcast_id = 0;  // 0: none
};

// A message on its way: what the transport carries and the worker receives. A broker serialises exactly this.
struct Envelope {
  std::string message_id{};
  std::int64_t outbox_id = 0;
  std::string dedup_key{};
  std::string channel{};
  std::string recipient{};
  std::string kind{};
  std::string category{};
  std::string payload{};  // JSON text as stored; not yet checked
  std::optional<Instant> expires{};
  int priority = 5;
  std::string correlation{};
  Instant enqueued_at{};
};

}  // namespace notify

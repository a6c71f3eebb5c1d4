#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

enum class ReceiptVerdict { kAccepted, kRefused };

// What a vendor said about a message some time after the call. At least one of message_id and reference is set.
struct Receipt {
  std::int64_t id = 0;  // 0: not kept yet
  std::string message_id{};
  std::string reference{};  // the vendor's id
  std::string channel{};    // empty: any; references of different vendors may be alike
  ReceiptVerdict verdict = ReceiptVerdict::kAccepted;
  bool disable_endpoint = false;  // and that the address is dead, or wants nothing more
  bool halt_channel = false;      // and that the lane is broken, not this message
  int attempt = 0;                // which call, as `show` numbers them; 0: not said
  std::optional<Instant> at{};
  std::string reason{};
  Instant received_at{};
};

// notification_receipt: kept before they are acted on, each once.
class ReceiptTable {
 public:
  virtual ~ReceiptTable() = default;
  // Its id; nothing when this receipt is known already.
  virtual Result<std::optional<std::int64_t>> keep(const Receipt& receipt, Instant now) = 0;
  // Those that still wait for their message or for the end of its call, from `after` on, in the order in which they came.
  virtual Result<std::vector<Receipt>> waiting(std::int64_t after, int limit) = 0;
  // Nothing more will come of it. result: "settled", "event", "unknown" …
  virtual Result<void> close(std::int64_t id, std::string_view result, Instant now) = 0;
  // The messages that the vendor knows by this reference; more than one when it names several.
  virtual Result<std::vector<std::string>> messages_of(std::string_view reference) = 0;
};

}  // namespace notify

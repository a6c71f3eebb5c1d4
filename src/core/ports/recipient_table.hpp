#pragma once

// Recipients, their endpoints and opt-outs, addresses that are dead, and calls per recipient.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/recipient.hpp"

namespace notify {

// What an opt-out covers. Empty: every channel, category or kind.
struct ConsentScope {
  std::string channel{};
  std::string category{};
  std::string kind{};
};

struct OptOut {
  std::string subject{};  // consent_subject()
  ConsentScope scope{};
  Instant since{};
};

struct Endpoint {
  std::string channel{};
  std::string address{};
  std::optional<Instant> disabled_at{};  // by an operator, or because the address is dead
  std::string disabled_reason{};
};

struct RecipientRecord {
  std::string id{};
  std::string locale{};
  std::vector<Endpoint> endpoints{};  // by channel, then in the order in which they are used
  std::vector<std::string> groups{};
  std::vector<OptOut> opt_outs{};  // of the id and of the endpoints' addresses
  Instant created_at{};
  Instant updated_at{};
};

// Where a message to "@ID" goes now.
struct Resolved {
  enum class Kind {
    kFound,
    kUnknown,     // no such recipient
    kNoEndpoint,  // none for this channel
    kDisabled,    // all of them are disabled
  };
  Kind kind = Kind::kUnknown;
  std::string address{};
  std::string locale{};  // of the recipient; may be empty
};

class RecipientTable {
 public:
  virtual ~RecipientTable() = default;

  // --- one message; each costs one look-up, and none where nobody uses recipients

  // The first enabled endpoint by position. `id` without its '@'.
  virtual Result<Resolved> resolve(std::string_view id, std::string_view channel) = 0;
  // Whether an opt-out covers the message. `recipient` as written, `address` where it goes now, or empty when that is
  // not known yet. An opt-out of a recipient's id also covers its addresses.
  virtual Result<bool> opted_out(std::string_view recipient, std::string_view address, std::string_view channel,
                                 std::string_view category, std::string_view kind) = 0;
  virtual Result<bool> dead(std::string_view channel, std::string_view address) = 0;

  // --- calls per recipient, for a limit in any span of `per`

  // Empty: each of `subjects` has room for a call. Else: when they have. The message's own earlier calls do not count.
  virtual Result<std::optional<Instant>> full_until(std::string_view channel, std::span<const std::string> subjects,
                                                    std::string_view message_id, int limit, Duration per,
                                                    Instant now) = 0;
  // Inside the claim's transaction, as full_until() before it.
  virtual Result<void> count_call(std::string_view channel, std::span<const std::string> subjects,
                                  std::string_view message_id, Duration per, Instant now) = 0;
  // The call of this claim was certainly not made.
  virtual Result<void> forget_call(std::string_view channel, std::span<const std::string> subjects,
                                   std::string_view message_id, Instant claimed_at) = 0;

  // --- changes

  virtual Result<void> set(const RecipientChange& change, Instant now) = 0;
  // True: it was not there before.
  virtual Result<bool> opt_out(const OptOut& opt_out) = 0;
  // Ends the opt-outs within the scope (an empty one: all). How many there were.
  virtual Result<int> opt_in(std::string_view subject, const ConsentScope& scope) = 0;
  // Marks an address as dead for a channel, whoever it belongs to. False: it was already, or somebody has registered it
  // since `gone_since`, when it was last seen dead; empty: now.
  virtual Result<bool> disable_address(std::string_view channel, std::string_view address, std::string_view reason,
                                       std::optional<Instant> gone_since, Instant now) = 0;
  // All endpoints of a recipient for a channel. How many were enabled before.
  virtual Result<int> disable_endpoints(std::string_view id, std::string_view channel, std::string_view reason,
                                        Instant now) = 0;

  // --- for people

  virtual Result<std::optional<RecipientRecord>> find(std::string_view id) = 0;
  virtual Result<std::vector<OptOut>> opt_outs(std::string_view subject) = 0;
  // The ids of a group's members after `after`, in order.
  virtual Result<std::vector<std::string>> members(std::string_view group, std::string_view after, int limit) = 0;
};

}  // namespace notify

#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/ports/recipient_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteRecipients final : public RecipientTable {
 public:
  explicit SqliteRecipients(Session& session) : session_(session) {}

  Result<Resolved> resolve(std::string_view id, std::string_view channel) override;
  Result<bool> opted_out(std::string_view recipient, std::string_view address, std::string_view channel,
                         std::string_view category, std::string_view kind) override;
  Result<bool> dead(std::string_view channel, std::string_view address) override;
  Result<std::optional<Instant>> full_until(std::string_view channel, std::span<const std::string> subjects,
                                            std::string_view message_id, int limit, Duration per, Instant now) override;
  Result<void> count_call(std::string_view channel, std::span<const std::string> subjects, std::string_view message_id,
                          Duration per, Instant now) override;
  Result<void> forget_call(std::string_view channel, std::span<const std::string> subjects, std::string_view message_id,
                           Instant claimed_at) override;
  Result<void> set(const RecipientChange& change, Instant now) override;
  Result<bool> opt_out(const OptOut& opt_out) override;
  Result<int> opt_in(std::string_view subject, const ConsentScope& scope) override;
  Result<bool> disable_address(std::string_view channel, std::string_view address, std::string_view reason,
                               std::optional<Instant> gone_since, Instant now) override;
  Result<int> disable_endpoints(std::string_view id, std::string_view channel, std::string_view reason,
                                Instant now) override;
  Result<std::optional<RecipientRecord>> find(std::string_view id) override;
  Result<std::vector<OptOut>> opt_outs(std::string_view subject) override;
  Result<std::vector<std::string>> members(std::string_view group, std::string_view after, int limit) override;

 private:
  Result<bool> covered(const std::string& subject, std::string_view channel, std::string_view category,
                       std::string_view kind);
  Result<bool> owner_covered(std::string_view match_address, std::string_view channel, std::string_view category,
                             std::string_view kind);
  Result<void> set_endpoints(std::string_view id, const std::string& channel, const std::vector<std::string>& addresses,
                             bool enable, Instant now);
  struct Known;
  Result<std::map<std::string, Known>> known_endpoints(std::string_view id, std::string_view channel);
  Result<void> set_groups(std::string_view id, const std::vector<std::string>& groups);
  Result<void> drop_old_calls(std::string_view channel, Instant before);
  // Whether the tables hold anything, asked once a transaction: most installations have no opt-outs.
  struct InUse {
    std::uint64_t asked_in = 0;
    bool consent = false;
    bool endpoints = false;
    bool dead = false;
  };
  Result<const InUse*> in_use();

  Session& session_;
  InUse in_use_{};
};

}  // namespace notify

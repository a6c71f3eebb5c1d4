#pragma once

#include "core/ports/inbox_table.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteInbox final : public InboxTable {
 public:
  explicit SqliteInbox(Session& session) : session_(session) {}

  Result<std::optional<InboxRow>> find(std::string_view message_id) override;
  Result<bool> claim(const InboxClaim& claim) override;
  Result<bool> resume(std::int64_t old_token, const InboxClaim& claim, Instant first_call_after) override;
  // A late result of a claim that is ERROR already: SENT and FAILED land, another ERROR changes nothing (false).
  Result<bool> settle(const Settlement& settlement) override;
  Result<bool> rest(std::string_view message_id, std::int64_t token, Instant resume_at, int calls,
                    std::string_view reason, std::string_view detail, Instant now) override;
  Result<bool> release(std::string_view message_id, std::int64_t token) override;
  Result<bool> skip(std::string_view message_id, std::int64_t outbox_id, std::string_view channel,
                    std::string_view reason, Instant now) override;
  Result<bool> forget(std::string_view message_id, std::int64_t token, InboxState from, Instant now) override;
  Result<std::vector<InboxRow>> to_look_up(std::string_view channel, Instant oldest, Instant now, int limit) override;
  Result<bool> looked_up(std::string_view message_id, std::int64_t token, Instant now) override;
  Result<bool> any_error(std::string_view channel, std::string_view reason) override;
  Result<std::vector<InboxRow>> held_by(std::int64_t holder, int limit) override;
  Result<std::vector<Standing>> standing() override;
  Result<std::vector<InboxRow>> stale(std::string_view channel, Instant claimed_before, Instant called_before,
                                      int limit) override;

 private:
  Result<std::optional<Instant>> ended_at(std::string_view message_id);

  Session& session_;
};

}  // namespace notify

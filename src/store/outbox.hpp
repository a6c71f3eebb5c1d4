#pragma once

#include "core/ports/outbox_table.hpp"
#include "store/fair_pick.hpp"
#include "store/session.hpp"

namespace notify {

class SqliteOutbox final : public OutboxTable {
 public:
  explicit SqliteOutbox(Session& session) : session_(session) {}

  Result<InsertResult> insert(const NewMessage& message, Instant now) override;
  Result<std::vector<Candidate>> candidates(Instant now, int limit, bool with_payload) override;
  Result<std::optional<Candidate>> candidate(std::int64_t id, bool with_payload) override;
  Result<bool> claim(std::int64_t id, const OutboxClaim& claim) override;
  Result<bool> confirm(std::int64_t id, std::int64_t token, Instant now) override;
  Result<bool> back_off(std::int64_t id, std::int64_t token, Instant ready, bool copy_may_be_out,
                        std::string_view reason, Instant now) override;
  Result<bool> release(std::int64_t id, std::int64_t token, Instant now) override;
  Result<bool> defer(std::int64_t id, Instant until, std::string_view reason, Instant now) override;
  // False also for a row of which a copy may be out: then only the worker may close the message.
  Result<bool> finish(std::int64_t id, OutboxState to, std::string_view reason, Instant now) override;
  Result<int> recover_expired(Instant now, bool copy_may_be_out) override;
  Result<int> recover_holder(std::int64_t holder, Instant now, bool copy_may_be_out) override;
  Result<bool> reopen(std::int64_t id, const Reopening& reopening) override;
  Result<std::vector<std::int64_t>> nowhere(std::int64_t after, Instant published_before, int limit) override;
  Result<bool> republish(std::int64_t id, Instant published_before, bool copy_may_be_out, Instant now) override;
  Result<std::vector<VolumeSpan>> volume(Instant now) override;
  Result<std::optional<Instant>> next_ready(Instant now) override;
  Result<std::string> message_id(std::int64_t outbox_id) override;
  Result<std::optional<std::int64_t>> find(std::string_view message_id_or_key) override;
  Result<std::optional<OutboxState>> state(std::int64_t outbox_id) override;
  Result<std::optional<Envelope>> envelope(std::int64_t outbox_id) override;

 private:
  Result<std::optional<InsertResult>> existing(const NewMessage& message);
  Result<std::optional<InsertResult>> pruned(const NewMessage& message);
  Result<bool> any_pruned();
  Result<std::string> keep_fingerprint(std::int64_t id);
  Result<int> give_back(Instant now, std::string_view why, bool copy_may_be_out, sqlite::Use claims);

  Session& session_;
  FairPick pick_{};
  std::uint64_t pruned_asked_in_ = 0;  // the transaction in which any_pruned_ was read
  bool any_pruned_ = false;
  bool expect_existing_ = false;  // the last insert met an existing key: look before inserting
};

}  // namespace notify

#pragma once

// A store of which only the outbox's insert exists, for what enqueue does with it. Transactions are real:
// what a failed body inserted is gone.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ports/store.hpp"

namespace notify::test {

class MemoryOutbox final : public Store, private OutboxTable {
 public:
  Result<void> write(const std::function<Result<void>()>& body) override;
  OutboxTable& outbox() override { return *this; }

  // What is committed, in order.
  std::vector<NewMessage> rows{};
  int commits = 0;

  // Called before each insert; an error it returns is insert's.
  std::function<Result<void>(const NewMessage&)> before_insert{};
  // Errors of the next writes, in order; a write that fails so has run its body in vain.
  std::deque<Error> commit_errors{};
  // So many times the next write runs its body twice, as a store does that was busy.
  int repeats = 0;
  bool writing = false;

  QueueTable& queue() override { return none<QueueTable>(); }
  InboxTable& inbox() override { return none<InboxTable>(); }
  ParkedTable& parked() override { return none<ParkedTable>(); }
  AlertTable& alerts() override { return none<AlertTable>(); }
  LaneTable& lanes() override { return none<LaneTable>(); }
  RecipientTable& recipients() override { return none<RecipientTable>(); }
  HistoryTable& history() override { return none<HistoryTable>(); }
  RunTable& runs() override { return none<RunTable>(); }
  Result<void> fence(std::int64_t) override { return {}; }
  ReceiptTable& receipts() override { return none<ReceiptTable>(); }
  BroadcastTable& broadcasts() override { return none<BroadcastTable>(); }
  UpkeepTable& upkeep() override { return none<UpkeepTable>(); }
  Result<bool> changed_elsewhere() override { return false; }

 private:
  template <class Table>
  static Table& none() {
    UNREACHABLE("only the outbox is there");
  }

  Result<InsertResult> insert(const NewMessage& message, Instant now) override;

  Result<std::vector<Candidate>> candidates(Instant, int, bool) override { return std::vector<Candidate>{}; }
  Result<std::optional<Candidate>> candidate(std::int64_t, bool) override { return std::nullopt; }
  Result<bool> claim(std::int64_t, const OutboxClaim&) override { return false; }
  Result<bool> confirm(std::int64_t, std::int64_t, Instant) override { return false; }
  Result<bool> back_off(std::int64_t, std::int64_t, Instant, bool, std::string_view, Instant) override { return false; }
  Result<bool> release(std::int64_t, std::int64_t, Instant) override { return false; }
  Result<bool> defer(std::int64_t, Instant, std::string_view, Instant) override { return false; }
  Result<bool> finish(std::int64_t, OutboxState, std::string_view, Instant) override { return false; }
  Result<int> recover_expired(Instant, bool) override { return 0; }
  Result<std::vector<VolumeSpan>> volume(Instant) override { return std::vector<VolumeSpan>{}; }
  Result<int> recover_holder(std::int64_t, Instant, bool) override { return 0; }
  Result<std::optional<Instant>> next_ready(Instant) override { return std::nullopt; }
  Result<std::string> message_id(std::int64_t outbox_id) override { return "m-" + std::to_string(outbox_id); }
  Result<std::optional<std::int64_t>> find(std::string_view) override { return std::nullopt; }
  Result<std::optional<OutboxState>> state(std::int64_t) override { return std::nullopt; }
  Result<bool> reopen(std::int64_t, const Reopening&) override { return false; }
  Result<std::vector<std::int64_t>> nowhere(std::int64_t, Instant, int) override { return std::vector<std::int64_t>{}; }
  Result<bool> republish(std::int64_t, Instant, bool, Instant) override { return false; }
  Result<std::optional<Envelope>> envelope(std::int64_t) override { return std::nullopt; }
};

}  // namespace notify::test

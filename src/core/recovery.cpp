#include "core/recovery.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/alert.hpp"
#include "core/idempotency.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

constexpr int kTakenBackPerTransaction = 500;  // bounds the time the write lock is held

Result<std::vector<std::int64_t>> dead_runs(Store& store, Holders& holders, std::int64_t self,
                                            bool (*concerns)(std::string_view command)) {
  TRY_ASSIGN(const std::vector<OpenRun> open, store.runs().open_runs());
  std::vector<std::int64_t> dead;
  for (const OpenRun& run : open)
    if (run.id != self && concerns(run.command) && !holders.alive(run.id)) dead.push_back(run.id);
  return dead;
}

// enqueue --now publishes, so it holds outbox rows like a relay.
bool claims_outbox(std::string_view command) { return command == "relay" || command == "enqueue"; }
bool claims_inbox(std::string_view command) { return command == "work"; }

// One claim whose owner will never settle it. Nobody knows whether the vendor was called.
class Abandoner {
 public:
  Abandoner(Store& store, Transport& transport, const Config& config)
      : store_(store), transport_(transport), config_(config) {}

  Result<void> abandon(const InboxRow& row, std::string_view reason, Instant now, WorkRecovery& counts) {
    if (resumable(row, now)) {
      TRY_ASSIGN(const bool rests, store_.inbox().rest(row.message_id, row.token, now, row.calls, reason, {}, now));
      counts.resumed += rests ? 1 : 0;
      return rests ? note_call(row, reason, now) : Result<void>{};
    }
    Settlement error{row.message_id, row.token, InboxState::kError, std::string(reason), {}, {}, 0, now};
    TRY_ASSIGN(const bool settled, store_.inbox().settle(error));
    if (!settled) return {};
    ++counts.errors;
    if (transport_.in_store_transaction()) TRY(store_.queue().remove_any(row.message_id));
    if (row.holder != 0) TRY(note_call(row, reason, now));  // of one that rests, the call has been told
    TRY(store_.history().event(row.message_id, "stale", reason, "recovery", now));
    TRY_ASSIGN(const std::optional<Envelope> envelope, store_.outbox().envelope(row.outbox_id));
    if (envelope) return raise_alert(store_.alerts(), "stale", *envelope, reason, {}, now);
    return store_.alerts().raise("stale", alert_subject(row.channel, reason), row.message_id, reason, now);
  }

 private:
  // The worker that made the call cannot tell of it any more, and the claim will be somebody else's or gone.
  Result<void> note_call(const InboxRow& row, std::string_view reason, Instant now) {
    Outcome outcome;
    outcome.reason = reason;
    outcome.detail = "claimed at " + format_time(row.claimed_at) + ", and nothing was heard of the call";
    return store_.history().attempt(row.message_id, row.calls, outcome, now);
  }

  bool resumable(const InboxRow& row, Instant now) const {
    const ChannelConfig* channel = config_.channel(row.channel);
    return channel != nullptr && row.first_call_at > forgotten_before(*channel, now);
  }

  Store& store_;
  Transport& transport_;
  const Config& config_;
};

// Everything one dead worker held, in bounded transactions; the run is closed with the last of it.
Result<void> take_back(Store& store, Transport& transport, Clock& clock, const Config& config, std::int64_t holder,
                       WorkRecovery& total) {
  Abandoner abandoner(store, transport, config);
  for (bool more = true; more;) {
    WorkRecovery counts;
    TRY(store.write([&]() -> Result<void> {
      counts = {};
      const Instant now = clock.now();
      TRY_ASSIGN(const std::vector<InboxRow> rows, store.inbox().held_by(holder, kTakenBackPerTransaction));
      for (const InboxRow& row : rows) TRY(abandoner.abandon(row, "worker-died", now, counts));
      more = !rows.empty();
      if (more) return {};
      if (transport.in_store_transaction()) {
        TRY_ASSIGN(counts.leases, transport.recover_holder(holder, now));
      }
      return store.runs().mark_dead(holder, now);
    }));
    total.errors += counts.errors;
    total.resumed += counts.resumed;
    total.leases += counts.leases;
  }
  return {};
}

// Each channel by its own patience: many young claims of one never hide the old ones of another. What rests is not stale:
// its copy waits in the queue, maybe for a lane that is paused, until its vendor will have forgotten the key.
Result<void> end_stale(Store& store, Transport& transport, Clock& clock, const Config& config, WorkRecovery& total) {
  TRY_ASSIGN(const auto standing, store.inbox().standing());
  Abandoner abandoner(store, transport, config);
  for (const auto& [name, claimed_since, resting_since] : standing) {
    const ChannelConfig* configured = config.channel(name);
    const ChannelConfig channel = configured != nullptr ? *configured : ChannelConfig{};
    const auto old = [&](Instant now) { return std::pair(now - channel.stale_after, forgotten_before(channel, now)); };
    const auto [claimed, called] = old(clock.now());
    if (claimed_since.value_or(claimed) >= claimed && resting_since.value_or(called) >= called) continue;
    WorkRecovery counts;
    TRY(store.write([&, &lane = name]() -> Result<void> {
      counts = {};
      const Instant now = clock.now();
      const auto [claimed_before, called_before] = old(now);
      TRY_ASSIGN(const std::vector<InboxRow> rows,
                 store.inbox().stale(lane, claimed_before, called_before, kTakenBackPerTransaction));
      for (const InboxRow& row : rows)
        TRY(abandoner.abandon(row, row.holder == 0 ? "idempotency-window-over" : "stale", now, counts));
      return {};
    }));
    total.errors += counts.errors;
    total.resumed += counts.resumed;
  }
  return {};
}

}  // namespace

Result<std::int64_t> begin_run(Store& store, Holders& holders, Clock& clock, std::string_view command,
                               std::int64_t pid) {
  std::int64_t id = 0;
  TRY(store.write([&]() -> Result<void> {
    TRY_ASSIGN(id, store.runs().begin(command, pid, clock.now()));
    return holders.hold(id);
  }));
  TRY(store.fence(id));
  return id;
}

Result<int> recover_relays(Store& store, Holders& holders, Clock& clock, std::int64_t self, bool copy_may_be_out) {
  TRY_ASSIGN(const std::vector<std::int64_t> dead, dead_runs(store, holders, self, claims_outbox));
  int rows = 0;
  TRY(store.write([&]() -> Result<void> {
    const Instant now = clock.now();
    TRY_ASSIGN(rows, store.outbox().recover_expired(now, copy_may_be_out));
    for (const std::int64_t holder : dead) {
      TRY_ASSIGN(const int given_back, store.outbox().recover_holder(holder, now, copy_may_be_out));
      rows += given_back;
      TRY(store.runs().mark_dead(holder, now));
    }
    return {};
  }));
  return rows;
}

Result<WorkRecovery> recover_workers(Store& store, Transport& transport, Holders& holders, Clock& clock,
                                     const Config& config, std::int64_t self) {
  WorkRecovery total;
  TRY_ASSIGN(const std::vector<std::int64_t> dead, dead_runs(store, holders, self, claims_inbox));
  for (const std::int64_t holder : dead) TRY(take_back(store, transport, clock, config, holder, total));
  TRY(end_stale(store, transport, clock, config, total));
  return total;
}

}  // namespace notify

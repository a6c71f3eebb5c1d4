#include "core/reconcile.hpp"

#include <algorithm>

#include "core/alert_watch.hpp"
#include "core/recovery.hpp"
#include "core/report_effects.hpp"

namespace notify {
namespace {

constexpr std::string_view kReconcileActor = "reconcile";
constexpr int kRowsPerTransaction = 500;
constexpr int kQuestionsPerRun = 200;  // of one channel

// Vendors forget. What is ERROR for so long is asked about no more.
constexpr Duration kAskFor = 3 * 24h;

// A database with so many messages is scanned in a blink.
constexpr std::int64_t kSmall = 100'000;
constexpr Duration kScanEvery = 24h;

// An answer that accepts or refuses, with what else it says.
Receipt as_receipt(const LookUpAnswer& answer) {
  Receipt receipt;
  receipt.reference = answer.reference;
  const bool accepted = answer.kind == LookUpAnswer::Kind::kAccepted;
  receipt.verdict = accepted ? ReceiptVerdict::kAccepted : ReceiptVerdict::kRefused;
  receipt.disable_endpoint = answer.disable_endpoint;
  receipt.halt_channel = answer.halt_channel;
  receipt.reason = answer.reason;
  return receipt;
}

}  // namespace

Reconciler::Reconciler(ReconcilePorts ports, const Config& config, std::int64_t holder)
    : ports_(ports),
      config_(config),
      holder_(holder),
      evidence_(ports.store, ports.transport, ports.random, holder),
      receipts_(ports.store, evidence_) {}

// --- the dead and the stale ---------------------------------------------------------------------------------

Result<void> Reconciler::recover() {
  TRY_ASSIGN(const int rows, recover_relays(ports_.store, ports_.holders, ports_.clock, holder_,
                                            !ports_.transport.in_store_transaction()));
  summary_.recovered += rows;
  for (bool more = true; more;) {
    TRY_ASSIGN(const WorkRecovery ended,
               recover_workers(ports_.store, ports_.transport, ports_.holders, ports_.clock, config_, holder_));
    summary_.errors += ended.errors;
    summary_.resumed += ended.resumed;
    more = ended.errors + ended.resumed >= kRowsPerTransaction;
  }
  TRY(end_other_runs());
  ports_.crash_points.reach(CrashPoint::kReconcileAfterStale);
  return {};
}

// Runs that hold nothing: only their rows are left open when they die.
Result<void> Reconciler::end_other_runs() {
  TRY_ASSIGN(const std::vector<OpenRun> open, ports_.store.runs().open_runs());
  std::vector<std::int64_t> dead;
  for (const OpenRun& run : open) {
    const bool holds_claims = run.command == "relay" || run.command == "work" || run.command == "enqueue";
    if (run.id != holder_ && !holds_claims && !ports_.holders.alive(run.id)) dead.push_back(run.id);
  }
  if (dead.empty()) return {};
  return ports_.store.write([&]() -> Result<void> {
    for (const std::int64_t id : dead) TRY(ports_.store.runs().mark_dead(id, ports_.clock.now()));
    return {};
  });
}

// --- evidence -----------------------------------------------------------------------------------------------

Result<void> Reconciler::take(std::span<const Receipt> receipts) {
  const ReconcileSummary before = summary_;
  return ports_.store.write([&]() -> Result<void> {
    summary_ = before;
    for (const Receipt& receipt : receipts) {
      TRY_ASSIGN(const ReceiptFate fate, receipts_.take(receipt, ports_.clock.now()));
      (fate == ReceiptFate::kKnown ? summary_.known : summary_.receipts) += 1;
      summary_.settled += fate == ReceiptFate::kSettled ? 1 : 0;
    }
    ports_.crash_points.reach(CrashPoint::kReconcileBeforeReceiptsCommit);
    return {};
  });
}

// Those that were taken a moment ago and wait are among them, so unknown ones are counted here, each once.
Result<void> Reconciler::apply_waiting() {
  ports_.crash_points.reach(CrashPoint::kReconcileAfterReceipts);
  for (std::int64_t after = 0;;) {
    TRY_ASSIGN(const std::vector<Receipt> waiting, ports_.store.receipts().waiting(after, kRowsPerTransaction));
    if (waiting.empty()) return {};
    after = waiting.back().id;
    const ReconcileSummary before = summary_;
    TRY(ports_.store.write([&]() -> Result<void> {
      summary_ = before;
      for (const Receipt& receipt : waiting) {
        TRY_ASSIGN(const ReceiptFate fate, receipts_.apply(receipt, ports_.clock.now()));
        summary_.settled += fate == ReceiptFate::kSettled ? 1 : 0;
        summary_.unknown += fate == ReceiptFate::kUnknown ? 1 : 0;
      }
      return {};
    }));
  }
}

Result<std::vector<InboxRow>> Reconciler::to_look_up(const ChannelConfig& channel) {
  const Instant now = ports_.clock.now();
  return ports_.store.inbox().to_look_up(channel.name, now - kAskFor, now, kQuestionsPerRun);
}

Result<void> Reconciler::answered(const InboxRow& row, const ChannelConfig& channel, const LookUpAnswer& answer) {
  std::int64_t settled = 0;
  TRY(ports_.store.write([&]() -> Result<void> {
    settled = 0;
    TRY(settle_by_answer(row, channel, answer, settled));
    ports_.crash_points.reach(CrashPoint::kReconcileBeforeAnswerCommit);
    return {};
  }));
  summary_.settled += settled;
  return {};
}

Result<void> Reconciler::settle_by_answer(const InboxRow& row, const ChannelConfig& channel, const LookUpAnswer& answer,
                                          std::int64_t& settled) {
  const Instant now = ports_.clock.now();
  TRY_ASSIGN(const std::optional<InboxRow> present, ports_.store.inbox().find(row.message_id));
  const bool same = present && present->state == InboxState::kError && present->token == row.token;
  if (!same) return {};  // meanwhile somebody else has settled or replayed it
  const Proof proof{answer.reason.empty() ? "look-up" : answer.reason, answer.detail, answer.reference, "look-up"};
  bool changed = false;
  switch (answer.kind) {
    case LookUpAnswer::Kind::kAccepted: {
      TRY_ASSIGN(changed, evidence_.accepted(row.message_id, proof, now));
      break;
    }
    case LookUpAnswer::Kind::kRefused: {
      TRY_ASSIGN(changed, evidence_.refused(*present, proof, now));
      break;
    }
    case LookUpAnswer::Kind::kNeverArrived: {
      // A call that still stands somewhere may arrive yet: not before it must be over, however long it was held up.
      if (now - present->claimed_at <= channel.stale_after + channel.timeout) return {};
      TRY_ASSIGN(changed, evidence_.never_arrived(*present, proof, now));
      break;
    }
    case LookUpAnswer::Kind::kUnknown: break;
  }
  settled = changed ? 1 : 0;
  if (!changed) {
    TRY(ports_.store.inbox().looked_up(row.message_id, row.token, now));
    return {};
  }
  if (!answer.disable_endpoint && !answer.halt_channel) return {};
  return take_effect(ports_.store, as_receipt(answer), *present, proof.actor, now);
}

// --- accounts -----------------------------------------------------------------------------------------------

// `what` names the last scan in the upkeep table. The accounts are read only where they decide.
Result<bool> Reconciler::scan_is_due(std::string_view what, bool thorough) {
  if (thorough) return true;
  const Instant now = ports_.clock.now();
  TRY_ASSIGN(const std::optional<std::int64_t> last, ports_.store.upkeep().recall(what));
  const bool lately = last && *last <= now.ms && now - Instant{*last} < kScanEvery;
  if (!lately) return true;
  TRY_ASSIGN(const StatusReport report, ports_.reports.status(now));
  const bool balanced = report.identity.holds || !ports_.transport.in_store_transaction();
  return report.identity.enqueued <= kSmall || !balanced;
}

Result<void> Reconciler::verify(bool thorough) {
  constexpr std::string_view kLast = "verified-at";
  TRY_ASSIGN(const bool due, scan_is_due(kLast, thorough));
  if (!due) return {};
  // What a counter is wrong by stays the same while others go on counting: it is taken off without a look at the tables.
  TRY_ASSIGN(const std::vector<CounterDrift> drifts, ports_.reports.verify_counters());
  TRY(ports_.store.write([&]() -> Result<void> {
    const Instant now = ports_.clock.now();
    for (const CounterDrift& drift : drifts) {
      TRY(ports_.store.upkeep().correct_counter(drift.name, drift.found - drift.counted));
      const std::string detail =
          "counted " + std::to_string(drift.counted) + ", found " + std::to_string(drift.found) + "; mended";
      TRY(ports_.store.alerts().raise("counters", drift.name, {}, detail, now));
    }
    return ports_.store.upkeep().remember(kLast, now.ms);
  }));
  summary_.mended += static_cast<std::int64_t>(drifts.size());
  return {};
}

Result<void> Reconciler::republish(bool thorough) {
  constexpr std::string_view kLast = "searched-at";
  const bool embedded = ports_.transport.in_store_transaction();
  TRY_ASSIGN(const bool due, scan_is_due(kLast, thorough || !embedded));
  if (!due) return {};
  // What a broker holds is seen by nobody, so only what has been nowhere for long counts. In the embedded queue
  // everything is seen at once.
  const Duration patience = embedded ? Duration{0} : config_.queue.unaccounted_after;
  for (std::int64_t after = 0;;) {
    TRY_ASSIGN(const std::vector<std::int64_t> ids,
               ports_.store.outbox().nowhere(after, ports_.clock.now() - patience, kRowsPerTransaction));
    if (ids.empty()) break;
    after = ids.back();
    std::int64_t rows = 0;
    TRY(ports_.store.write([&]() -> Result<void> {
      rows = 0;
      const Instant now = ports_.clock.now();
      std::string message_id;
      for (const std::int64_t id : ids) {
        TRY_ASSIGN(const bool changed, ports_.store.outbox().republish(id, now - patience, !embedded, now));
        if (!changed) continue;
        ++rows;
        TRY_ASSIGN(message_id, ports_.store.outbox().message_id(id));
        TRY(ports_.store.history().event(message_id, "republished", "unaccounted", kReconcileActor, now));
      }
      if (rows == 0) return {};
      return ports_.store.alerts().raise("republished", "total", message_id,
                                         std::to_string(rows) + " messages were in no table; handed on again", now);
    }));
    summary_.republished += rows;
    ports_.crash_points.reach(CrashPoint::kReconcileAfterRepublish);
  }
  return ports_.store.write([&] { return ports_.store.upkeep().remember(kLast, ports_.clock.now().ms); });
}

Result<void> Reconciler::watch() { return watch_alerts(ports_, config_); }

}  // namespace notify

#include "core/operate.hpp"

#include <algorithm>

#include "core/alert.hpp"

namespace notify {
namespace {

constexpr std::size_t kMessagesPerTransaction = 100;  // bounds the time the write lock is held

Result<void> take(const OperatorPorts& ports, const std::string& id, const OperateOne& one, std::int64_t done_before,
                  Instant now, OperatorSummary& counts) {
  TRY_ASSIGN(const std::optional<Whereabouts> at, ports.table.whereabouts(id));
  if (!at) {
    counts.add(id, Answer::refused("no message has this id or key"));
    return {};
  }
  TRY_ASSIGN(const Answer answer, one(*at, done_before + counts.done, now));
  counts.add(at->message_id, answer);
  if (answer.kind == Answer::Kind::kDone) counts.channels.insert(at->channel);
  return {};
}

void merge(OperatorSummary& total, OperatorSummary&& group) {
  total.done += group.done;
  total.unchanged += group.unchanged;
  total.refused += group.refused;
  total.busy += group.busy;
  for (Refusal& refusal : group.refusals) {
    if (total.refusals.size() == OperatorSummary::kRefusalsKept) break;
    total.refusals.push_back(std::move(refusal));
  }
  total.channels.merge(group.channels);
}

}  // namespace

void OperatorSummary::add(std::string_view message_id, const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::kDone: ++done; return;
    case Answer::Kind::kUnchanged: ++unchanged; return;
    case Answer::Kind::kBusy: ++busy; break;
    case Answer::Kind::kRefused: break;
  }
  ++refused;
  if (refusals.size() < kRefusalsKept)
    refusals.push_back({std::string(message_id), answer.reason, answer.kind == Answer::Kind::kBusy});
}

Result<OperatorSummary> operate(const OperatorPorts& ports, std::span<const std::string> ids, CrashPoint before_commit,
                                CrashPoint after_commit, const OperateOne& one) {
  OperatorSummary total;
  total.selected = static_cast<std::int64_t>(ids.size());
  while (!ids.empty()) {
    const auto group = ids.first(std::min(ids.size(), kMessagesPerTransaction));
    ids = ids.subspan(group.size());
    OperatorSummary counts;
    TRY(ports.store.write([&]() -> Result<void> {
      counts = {};
      const Instant now = ports.clock.now();
      for (const std::string& id : group) TRY(take(ports, id, one, total.done, now, counts));
      ports.crash_points.reach(before_commit);
      return {};
    }));
    ports.crash_points.reach(after_commit);
    merge(total, std::move(counts));
  }
  return total;
}

Result<OperatorSummary> operate_dry(const OperatorPorts& ports, std::span<const std::string> ids,
                                    const OperateOne& judge) {
  OperatorSummary total;
  total.selected = static_cast<std::int64_t>(ids.size());
  const Instant now = ports.clock.now();
  for (const std::string& id : ids) TRY(take(ports, id, judge, 0, now, total));
  return total;
}

bool in_worker_hands(const Whereabouts& at, Holders& holders) {
  return at.queued && at.leased_by != 0 && holders.alive(at.leased_by);
}

Result<void> clear_queue(const OperatorPorts& ports, const Whereabouts& at) {
  if (!at.queued || in_worker_hands(at, ports.holders)) return {};
  TRY_ASSIGN(const bool taken, ports.table.take_from_queue(at.message_id, at.leased_by));
  ASSERT(taken);  // read in this very transaction
  return {};
}

Result<void> close_settled_alerts(const OperatorPorts& ports, const std::set<std::string>& channels) {
  if (channels.empty()) return {};
  return ports.store.write(
      [&]() -> Result<void> { return close_settled_alerts(ports.store, channels, ports.clock.now()); });
}

}  // namespace notify

#include "core/replay.hpp"

#include <algorithm>

#include "core/safe_text.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

constexpr std::string_view kReplayActor = "replay";

class Replayer {
 public:
  Replayer(const OperatorPorts& ports, const ReplayOptions& options, Instant start)
      : ports_(ports), options_(options), start_(start) {}

  // Whether it may be replayed now, looked at only.
  Result<Answer> judge(const Whereabouts& at, std::int64_t done_before, Instant now) const {
    if (const std::string busy = busy_with(at); !busy.empty()) return Answer::busy("in progress: " + busy);
    if (const std::string no = refusal(at, due(at, done_before)); !no.empty()) return Answer::refused(no);
    if (!options_.patch.empty()) {
      const auto mended = options_.patch.apply(at.payload, at.original_payload, at.recipient);
      if (!mended) return Answer::refused("cannot be mended: " + described(mended.error()));
      if (mended->changed) return Answer::done();
    }
    const bool waits = at.outbox == OutboxState::kPending && !at.inbox && !at.parked && !options_.expires &&
                       at.ready_at <= std::max(now, at.not_before.value_or(now));
    return waits ? Answer::unchanged() : Answer::done();
  }

  Result<Answer> replay(const Whereabouts& at, std::int64_t done_before, Instant now) const {
    TRY_ASSIGN(Answer answer, judge(at, done_before, now));
    if (answer.kind != Answer::Kind::kDone) return answer;
    const Instant due_at = due(at, done_before);
    if (at.outbox) {
      TRY_ASSIGN(const bool reopened,
                 ports_.store.outbox().reopen(at.outbox_id, {*at.outbox, due_at, options_.expires, copy_out(at), now}));
      ASSERT(reopened);  // read in this very transaction, as everything below
      // The row itself was what told of it.
      if (at.outbox == OutboxState::kPublished)
        TRY(ports_.store.history().event(at.message_id, "published", {}, {}, at.changed_at));
    } else {
      TRY_ASSIGN(const bool restored, ports_.table.restore(at.message_id, due_at, now));
      if (!restored) return Answer::refused("its row is gone, and its key belongs to another message now");
      if (options_.expires) {
        TRY(ports_.store.outbox().reopen(at.outbox_id, {OutboxState::kPending, due_at, options_.expires, false, now}));
      }
    }
    TRY(clear_the_way(at, now));
    TRY(mend(at, now));
    TRY(ports_.store.history().event(at.message_id, "replayed", detail(at), kReplayActor, now));
    return answer;
  }

 private:
  std::string busy_with(const Whereabouts& at) const {
    if (at.inbox == InboxState::kSending) return "a worker is sending it";
    if (at.outbox == OutboxState::kPublishing) return "a relay is handing it on";
    if (in_worker_hands(at, ports_.holders)) return "a worker has just taken it from the queue";
    return {};
  }

  // Why this message is not replayed; empty: it may be.
  std::string refusal(const Whereabouts& at, Instant due_at) const {
    if (at.inbox == InboxState::kSent) return at.parked ? "already sent; park drop closes it" : "already sent";
    if (at.inbox == InboxState::kError && !options_.accept_duplicates)
      return "its outcome is unknown, so it may arrive twice; --accept-duplicates accepts that";
    if (!at.outbox && (!at.parked || at.outbox_id == 0))
      return "its row is not in this database; replay it where it was enqueued";
    if (at.scrubbed()) return "its content was scrubbed; there is nothing left to send";
    if (at.dropped()) return "it was dropped, for good; to send it nevertheless, enqueue it again under another key";
    const std::optional<Instant> expires = options_.expires ? options_.expires : at.expires;
    if (expires && *expires <= due_at)
      return (*expires <= start_ ? "it expired at " : "it would expire before its turn, at ") + shown(*expires) +
             "; --expires sets a new time";
    return {};
  }

  std::string shown(Instant at) const {
    return options_.zone != nullptr ? format_time(at, *options_.zone) : format_time(at);
  }

  // A time that the message was given is kept: it is not replayed into the time before it.
  Instant due(const Whereabouts& at, std::int64_t done_before) const {
    Instant due = start_;
    if (options_.rate) due = due + Duration{options_.rate->per.count() * done_before / options_.rate->count};
    return std::max(due, at.not_before.value_or(due));
  }

  // Somebody who stood still may yet come with a copy of it: with a broker always, else when a lease of it was lost.
  bool copy_out(const Whereabouts& at) const {
    const bool leased_once = at.queued && (at.leased_by != 0 || at.lost_leases > 0);
    return at.outbox == OutboxState::kPublished && (options_.copies_may_be_out || leased_once);
  }

  // Everything downstream that would stop the message.
  Result<void> clear_the_way(const Whereabouts& at, Instant now) const {
    if (at.inbox) {
      TRY_ASSIGN(const bool forgotten, ports_.store.inbox().forget(at.message_id, at.inbox_token, *at.inbox, now));
      ASSERT(forgotten);
    }
    if (at.parked) {
      TRY_ASSIGN(const bool taken, ports_.store.parked().remove(at.message_id));
      ASSERT(taken);
    }
    return clear_queue(ports_, at);
  }

  Result<void> mend(const Whereabouts& at, Instant now) const {
    if (options_.patch.empty()) return {};
    TRY_ASSIGN(MendedContent content, options_.patch.apply(at.payload, at.original_payload, at.recipient));
    if (!content.changed) return {};
    TRY_ASSIGN(const bool mended,
               ports_.table.mend(at.outbox_id, {std::move(content.payload), std::move(content.original),
                                                std::move(content.recipient), now}));
    ASSERT(mended);
    return {};
  }

  // "was FAILED (http-400), parked; mended: body; the vendor is well again"
  std::string detail(const Whereabouts& at) const {
    std::string text = "was ";
    if (at.inbox) {
      text += std::string(name(*at.inbox)) + (at.inbox_reason.empty() ? "" : " (" + at.inbox_reason + ")");
      if (at.parked) text += ", parked";
    } else if (at.parked) {
      text += "parked (" + at.parked_reason + ")";
    } else if (at.queued) {
      text += "in the queue";
    } else {
      text += std::string(name(*at.outbox)) + (at.outbox_reason.empty() ? "" : " (" + at.outbox_reason + ")");
    }
    if (at.inbox == InboxState::kError) text += "; a second delivery was accepted";
    if (!options_.patch.empty()) text += "; mended: " + options_.patch.names();
    if (!options_.why.empty()) text += "; " + options_.why;
    return safe_text(text, limits::kDetail);
  }

  static std::string described(const Error& error) {
    return error.field.empty() ? error.message : error.field + ": " + error.message;
  }

  const OperatorPorts& ports_;
  const ReplayOptions& options_;
  Instant start_;
};

}  // namespace

Result<OperatorSummary> replay(const OperatorPorts& ports, std::span<const std::string> ids,
                               const ReplayOptions& options) {
  const Replayer replayer(ports, options, ports.clock.now());
  TRY_ASSIGN(OperatorSummary summary,
             operate(ports, ids, CrashPoint::kReplayBeforeCommit, CrashPoint::kReplayAfterCommit,
                     [&](const Whereabouts& at, std::int64_t done_before, Instant now) {
                       return replayer.replay(at, done_before, now);
                     }));
  TRY(close_settled_alerts(ports, summary.channels));
  return summary;
}

Result<OperatorSummary> replay_dry(const OperatorPorts& ports, std::span<const std::string> ids,
                                   const ReplayOptions& options) {
  const Replayer replayer(ports, options, ports.clock.now());
  return operate_dry(ports, ids, [&](const Whereabouts& at, std::int64_t done_before, Instant now) {
    return replayer.judge(at, done_before, now);
  });
}

}  // namespace notify

#pragma once

// The tables beside outbox, queue and inbox: parked, alerts, lanes, history and runs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/message.hpp"
#include "core/outcome.hpp"

namespace notify {

struct ParkedMessage {
  Envelope envelope{};
  std::string reason{};  // short and stable, so that it can be counted: "template-missing", "retries-exhausted"
  std::string detail{};  // for people
  int tries = 0;
  Instant now{};
};

// notification_parked: dead letters with the whole envelope.
class ParkedTable {
 public:
  virtual ~ParkedTable() = default;
  // Keeps the first reason when it is parked already (false).
  virtual Result<bool> park(const ParkedMessage& message) = 0;
  virtual Result<bool> contains(std::string_view message_id) = 0;
  virtual Result<bool> remove(std::string_view message_id) = 0;
  // Whether a message of the channel is parked, for this reason (empty: any).
  virtual Result<bool> any(std::string_view channel, std::string_view reason) = 0;
};

struct Alert {
  std::int64_t id = 0;
  std::string kind{};
  std::string subject{};     // see core/alert.hpp
  std::string message_id{};  // the latest message concerned; may be empty
  std::string detail{};
  std::int64_t count = 0;
  Instant first_at{};
  Instant last_at{};
  bool open = true;
  std::int64_t told = 0;  // how often somebody was told
  std::optional<Instant> told_at{};
};

// notification_alert: raised in the same transaction as the retreat that it reports.
class AlertTable {
 public:
  virtual ~AlertTable() = default;
  // Opens an alert, or counts one more of an open one with the same kind and subject. The kinds and their subjects are
  // listed in core/alert.hpp.
  virtual Result<void> raise(std::string_view kind, std::string_view subject, std::string_view message_id,
                             std::string_view detail, Instant now) = 0;
  virtual Result<void> close(std::string_view kind, std::string_view subject, Instant now) = 0;
  // Opens an alert about something that lasts, or brings the detail of the open one up to date; counts nothing.
  virtual Result<void> keep_open(std::string_view kind, std::string_view subject, std::string_view detail,
                                 Instant now) = 0;
  virtual Result<std::vector<Alert>> open_alerts() = 0;
  // Those of which nobody was told yet, open or closed, and open ones that were last told before `told_before`. Not those
  // of the channel `except` (empty: all).
  virtual Result<std::vector<Alert>> due(Instant told_before, std::string_view except, int limit) = 0;
  // Somebody was told of it for the (told + 1)-th time.
  virtual Result<bool> tell(std::int64_t id, std::int64_t told, Instant now) = 0;
};

// One channel's shared state; absent row = open lane with nothing special.
struct Lane {
  std::string channel{};
  bool paused = false;                    // by an operator
  std::optional<Instant> paused_until{};  // empty with paused: until resumed
  std::optional<Instant> paused_at{};
  std::string pause_reason{};  // the operator's
  std::string reason{};        // the breaker's
  bool halted = false;         // by the breaker; probes go at probe_at
  Instant probe_at{};
  Duration probe_interval{0};
  std::optional<Instant> hold_until{};   // Retry-After of the whole lane
  int refused_in_a_row = 0;              // connects
  std::optional<Instant> reported_at{};  // a later report halted it then, and only one opens it
  Instant opened_at{};                   // when it was last opened; what was called before says nothing about it now
  std::int64_t rate_next_us = 0;         // earliest next permitted call, microseconds since the epoch (GCRA)
};

class LaneTable {
 public:
  virtual ~LaneTable() = default;
  virtual Result<std::vector<Lane>> all() = 0;
  virtual Result<std::optional<Lane>> find(std::string_view channel) = 0;
  // Writes what the workers keep: breaker, hold and rate. The pause is the operators' and stays as it is.
  virtual Result<void> save(const Lane& lane, Instant now) = 0;
  // Pauses the lane for all processes; everything else of it stays as it is. Empty `until`: until resumed.
  virtual Result<void> pause(std::string_view channel, std::optional<Instant> until, std::string_view reason,
                             Instant now) = 0;
  // Ends the pause, and clears breaker and hold, so that the next message goes. False: the lane was open.
  virtual Result<bool> resume(std::string_view channel, Instant now) = 0;
};

// Attempts (one row per call that was not a first-try success) and events (what happened to a message).
class HistoryTable {
 public:
  virtual ~HistoryTable() = default;
  virtual Result<void> attempt(std::string_view message_id, int number, const Outcome& outcome, Instant now) = 0;
  // name: "published", "deferred", "publish-failed", "claim-expired", "retry", "parked", "expired", "skipped",
  // "stale", "replayed", "cancelled" …; actor: command or operator.
  virtual Result<void> event(std::string_view message_id, std::string_view name, std::string_view detail,
                             std::string_view actor, Instant now) = 0;
  // The last attempt that was written at or after `since` by the worker that made it; recovery, which tells of calls
  // whose worker is gone, knows nothing about them.
  struct AttemptMark {
    int number = 0;
    std::string reference{};
  };
  virtual Result<std::optional<AttemptMark>> last_attempt(std::string_view message_id, Instant since) = 0;
  // Whether an event of this name is in the message's history.
  virtual Result<bool> happened(std::string_view message_id, std::string_view name) = 0;
};

// A run (process) that claims. Its id is the holder in every claim and the byte of its kernel lock.
struct OpenRun {
  std::int64_t id = 0;
  std::string command{};  // "relay", "work", "enqueue", "reconcile"
};

class RunTable {
 public:
  virtual ~RunTable() = default;
  virtual Result<std::int64_t> begin(std::string_view command, std::int64_t pid, Instant now) = 0;
  // summary: the JSON summary that the command prints.
  virtual Result<void> end(std::int64_t run_id, bool ok, std::string_view summary, Instant now) = 0;
  // The next number, as if another run began, for Store::fence(): what is in the database from now on is newer than that.
  virtual Result<std::int64_t> mark() = 0;
  // Runs without an end, of which some may be dead.
  virtual Result<std::vector<OpenRun>> open_runs() = 0;
  // The run is dead and everything it held has been taken back.
  virtual Result<void> mark_dead(std::int64_t run_id, Instant now) = 0;
};

}  // namespace notify

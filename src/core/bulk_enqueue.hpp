#pragma once

// enqueue --jsonl: a stream of lines of any length into the outbox, in constant memory.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/enqueue.hpp"
#include "core/error.hpp"
#include "core/ports/outbox_table.hpp"

namespace notify {

struct BulkSummary {
  std::int64_t lines = 0;  // all but blank ones; the sum of the others
  std::int64_t created = 0;
  std::int64_t existing = 0;
  std::int64_t conflict = 0;
  std::int64_t rejected = 0;
};

// Hears about every line, in order, after its fate is durable.
class LineSink {
 public:
  virtual ~LineSink() = default;
  // Created, existing or in conflict. `text` is the line as read, for conflicts (else empty).
  virtual void inserted(std::int64_t line, std::string_view key, const InsertResult& result, std::string_view text) = 0;
  // A bad line. `text` is the line as read; only its beginning when it was too long.
  virtual void rejected(std::int64_t line, const Error& error, std::string_view text) = 0;
};

// Give it bytes as they come, flush() when the input pauses, finish() at its end. Lines are committed in
// groups of at most kGroupRows rows or kGroupBytes bytes; no write lock is held in between. Good lines are
// taken, bad ones reported: rerunning the same file is harmless for lines with keys.
//
// A group is written on a thread of its own while the next one is read: until flush() or finish() has returned, the
// store belongs to this object. The sink hears about the lines on the caller's thread.
//
// feed, flush and finish fail only when nothing more can be taken (database busy, disk full, input not UTF-8
// at all); the group in work is then not in the database and its lines were not reported. When a group fails
// for another reason, its lines are tried one by one, so that one of them cannot keep out the others.
class BulkEnqueue {
 public:
  static constexpr std::size_t kGroupRows = 1000;
  static constexpr std::size_t kGroupBytes = 4 * 1024 * 1024;

  // `context.now` is set anew for every group. References must outlive the object.
  BulkEnqueue(Store& store, Clock& clock, CrashPoints& crash_points, const EnqueueContext& context, LineSink& sink);
  ~BulkEnqueue();
  BulkEnqueue(const BulkEnqueue&) = delete;
  BulkEnqueue& operator=(const BulkEnqueue&) = delete;

  Result<void> feed(std::string_view bytes);
  // Commits the whole lines received so far. A line that has begun stays open.
  Result<void> flush();
  // The input is over: an open line is its last one.
  Result<void> finish();

  const BulkSummary& summary() const;

 private:
  struct Item;
  struct Group;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Input that can be read twice, for enqueue --atomic (a spool file).
class RewindableInput {
 public:
  virtual ~RewindableInput() = default;
  virtual Result<void> rewind() = 0;
  virtual Result<std::string_view> read() = 0;  // the next bytes, valid until the next call; empty at the end
};

inline constexpr std::int64_t kAtomicLines = 100'000;

// All lines or none: first every line is checked, then all are inserted in one Store::write. Bad lines and
// conflicts are reported to the sink; when there is any, nothing is in the database, nothing is reported as
// inserted, and the summary has created = existing = 0. More than kAtomicLines lines are an error.
Result<BulkSummary> enqueue_atomic(Store& store, Clock& clock, CrashPoints& crash_points, const EnqueueContext& context,
                                   RewindableInput& input, LineSink& sink);

}  // namespace notify

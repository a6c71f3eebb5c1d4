#pragma once

// Read models: what `status`, `list` and `show` tell. Plain data; the store fills it, the commands print it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// --- status -----------------------------------------------------------------------------------------------

struct OutboxCounts {
  std::int64_t pending = 0;
  std::int64_t publishing = 0;
  std::int64_t published = 0;
  std::int64_t skipped = 0;
  std::int64_t expired = 0;
  std::int64_t failed = 0;

  std::int64_t total() const noexcept { return pending + publishing + published + skipped + expired + failed; }
};

struct QueueCounts {
  std::int64_t ready = 0;    // may be taken now; an expired lease counts here
  std::int64_t delayed = 0;  // waits for its time
  std::int64_t leased = 0;

  std::int64_t total() const noexcept { return ready + delayed + leased; }
};

struct InboxCounts {
  std::int64_t sending = 0;
  std::int64_t sent = 0;
  std::int64_t failed = 0;
  std::int64_t error = 0;
  std::int64_t skipped = 0;

  std::int64_t total() const noexcept { return sending + sent + failed + error + skipped; }
};

struct ParkedCounts {
  std::int64_t total = 0;
  std::vector<std::pair<std::string, std::int64_t>> reasons{};  // most frequent first
};

// The accounting identity. Each message is counted once, with precedence inbox > parked > queue:
//   enqueued  = pending + publishing + published + skipped + expired + failed
//   published = in_queue + parked + sending + sent + failed_calls + error + skipped_calls + unaccounted
struct Identity {
  std::int64_t enqueued = 0;   // counted at insertion, without what prune removed
  std::int64_t in_outbox = 0;  // the sum of the outbox states
  std::int64_t published = 0;
  std::int64_t in_queue = 0;  // queued, with neither inbox row nor parked
  std::int64_t parked = 0;    // parked without an inbox row
  std::int64_t sending = 0;
  std::int64_t sent = 0;
  std::int64_t failed = 0;
  std::int64_t error = 0;
  std::int64_t skipped = 0;
  std::int64_t early = 0;        // counted above although the outbox row is not PUBLISHED (yet, or again)
  std::int64_t unaccounted = 0;  // published − (all of the above − early)
  bool holds = false;            // enqueued = in_outbox and unaccounted = 0
};

// How many happened within the last hour and the last 24 hours (to within five minutes).
struct Rates {
  struct Span {
    std::int64_t enqueued = 0;
    std::int64_t published = 0;
    std::int64_t sent = 0;
    std::int64_t failed = 0;  // refused for good; each message once, as it stands now
    std::int64_t error = 0;   // with an unknown outcome, likewise
  };
  Span hour{};
  Span day{};
};

struct LastRun {
  std::string command{};  // "relay", "work", "reconcile"
  std::optional<Instant> succeeded_at{};
};

struct ChannelReport {
  std::string channel{};
  std::string state{};  // "open", "paused", "halted", "held"
  std::string reason{};
  std::optional<Instant> until{};  // when it may open or be probed by itself
  std::int64_t pending = 0;        // outbox rows waiting for the relay
  std::int64_t queued = 0;         // in the embedded queue
  std::int64_t parked = 0;
};

struct DatabaseReport {
  std::string path{};
  std::int64_t size = 0;       // bytes of the main file
  std::int64_t wal_bytes = 0;  // of the write-ahead log; 0 when there is none
  std::int64_t page_size = 0;
  std::int64_t pages = 0;
  std::int64_t free_pages = 0;
  std::string journal_mode{};
  std::string filesystem{};  // "ext4", "tmpfs", "0x…" when unknown
  int schema = 0;
  std::string source{};
  std::string generation{};  // the newest
  std::string sqlite_version{};
  // Pages of the log that could not be moved into the main file because a reader is still using them; shown
  // when the log is large.
  bool checkpoint_blocked = false;
};

struct AlertRow {
  std::string kind{};
  std::string subject{};
  std::string message_id{};  // the latest message concerned; may be empty
  std::string detail{};
  std::int64_t count = 0;
  Instant first_at{};
  Instant last_at{};
  bool open = true;
};

struct StatusReport {
  Instant now{};
  OutboxCounts outbox{};
  QueueCounts queue{};
  InboxCounts inbox{};
  ParkedCounts parked{};
  std::optional<Duration> oldest_unsent{};  // since its due_at, of what is due and PENDING, PUBLISHING or queued
  std::int64_t unaccounted = 0;
  Identity identity{};
  std::int64_t broadcasts_open = 0;    // not fanned out yet
  std::int64_t broadcasts_failed = 0;  // their list cannot be read
  std::int64_t alerts_open = 0;
  std::vector<AlertRow> alerts{};   // open ones, latest first, at most 20
  std::vector<LastRun> last_run{};  // relay, work, reconcile, in this order, and any other
  std::vector<ChannelReport> channels{};
  Rates rates{};
  DatabaseReport database{};
  // The newest stored instant lies in the future of `now` by this much: the clock was set back.
  std::optional<Duration> clock_behind{};
};

// --- list -------------------------------------------------------------------------------------------------

enum class ListSubject { kOutbox, kQueue, kInbox, kParked, kAlerts, kBroadcasts };

struct ListFilter {
  std::string channel{};  // empty: any
  std::string kind{};     // empty: any
  std::string state{};    // as stored; queue: READY, DELAYED, LEASED; alerts: OPEN, CLOSED
  std::string reason{};
  std::optional<Instant> since{};  // of created_at, inclusive
  std::optional<Instant> until{};  // of created_at, exclusive
  std::string key_prefix{};
  std::int64_t limit = 0;  // 0: all
  bool newest_first = true;
};

// One line of `list`. For alerts: kind and key carry the alert's kind and subject.
struct ListRow {
  std::string message_id{};
  std::int64_t outbox_id = 0;  // 0: unknown
  std::string key{};           // empty: none
  std::string channel{};
  std::string to{};
  std::string kind{};
  std::string status{};
  std::string reason{};
  std::string detail{};
  std::int64_t attempts =
      0;  // outbox: failed publishes; queue, parked: calls that were certainly not sent; inbox: calls
  int priority = 5;
  std::optional<Instant> ready_at{};  // outbox, queue: when it may go (queue LEASED: the lease's end)
  std::optional<Instant> expires_at{};
  std::string correlation{};
  std::string reference{};  // inbox: the vendor's id
  bool parked = false;      // set aside; of the inbox FAILED ones that nobody has dropped
  Instant created_at{};
  Instant updated_at{};
};

// --- show -------------------------------------------------------------------------------------------------

struct OutboxStory {
  std::int64_t id = 0;
  std::string key{};
  std::string fingerprint{};  // 32 raw bytes, or empty
  std::string channel{};
  std::string recipient{};
  std::string kind{};
  std::string category{};
  std::string payload{};           // JSON text
  std::string original_payload{};  // empty unless it was mended
  int priority = 5;
  std::string correlation{};
  std::optional<Instant> not_before{};
  std::optional<Instant> expires_at{};
  Instant created_at{};
  std::string status{};
  Instant due_at{};
  Instant ready_at{};
  std::int64_t claimed_by = 0;  // run id; 0: nobody
  std::optional<Instant> claimed_until{};
  int attempts = 0;
  bool copy_may_be_out = false;
  std::string reason{};
  Instant updated_at{};
};

struct QueueStory {
  std::string status{};  // READY, DELAYED, LEASED
  Instant ready_at{};
  std::int64_t leased_by = 0;
  int lost_leases = 0;
  int tries = 0;
  std::string reason{};
  Instant queued_at{};
};

struct InboxStory {
  std::string status{};
  std::string channel{};
  std::int64_t holder = 0;
  std::optional<Instant> claimed_at{};
  std::optional<Instant> resume_at{};
  std::optional<Instant> first_call_at{};
  int calls = 0;
  bool unknown_before = false;
  std::string reason{};
  std::string detail{};
  std::string reference{};
  int vendor_status = 0;
  std::optional<Instant> settled_at{};
  Instant created_at{};
  Instant updated_at{};
};

struct ParkedStory {
  std::string reason{};
  std::string detail{};
  int tries = 0;
  Instant parked_at{};
};

struct AttemptStory {
  Instant at{};
  int number = 0;
  std::string outcome{};  // outcome_name(): sent, permanent, not-sent, unknown
  std::string reason{};
  std::string detail{};
  std::string reference{};
  int status = 0;
  std::string phase{};
  std::int64_t bytes_sent = 0;
  Duration elapsed{0};
  bool duplicate_risk = false;
};

struct EventStory {
  Instant at{};
  std::string name{};
  std::string detail{};
  std::string actor{};
};

// The whole life of one message; parts that do not exist are empty. Attempts and events are oldest first.
struct MessageStory {
  std::string message_id{};
  std::optional<OutboxStory> outbox{};
  std::optional<QueueStory> queue{};
  std::optional<InboxStory> inbox{};
  std::optional<ParkedStory> parked{};
  std::vector<AttemptStory> attempts{};
  std::vector<EventStory> events{};
};

// A counter that does not agree with the table it stands for.
struct CounterDrift {
  std::string name{};  // "enqueued", "outbox.PUBLISHED", "inbox.SENT" …
  std::int64_t counted = 0;
  std::int64_t found = 0;
};

// Reports read; none of them waits for a writer or makes one wait.
class Reports {
 public:
  virtual ~Reports() = default;
  virtual Result<StatusReport> status(Instant now) = 0;
  // Calls `row` for each row until it returns false. Holds no read transaction while `row` runs, so that a slow
  // reader of the output blocks no checkpoint; a row that changes meanwhile is shown as it was or as it is.
  virtual Result<void> list(ListSubject subject, const ListFilter& filter, Instant now,
                            const std::function<bool(const ListRow&)>& row) = 0;
  // By message id or dedup key; nothing when neither is known.
  virtual Result<std::optional<MessageStory>> story(std::string_view id_or_key, Instant now) = 0;
  // Compares every counter with its table; scans them. Empty: all agree.
  virtual Result<std::vector<CounterDrift>> verify_counters() = 0;
};

}  // namespace notify

#include "core/bulk_enqueue.hpp"

#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "core/jsonl.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

// A slot of a group keeps its memory from line to line up to this size; large messages are rare.
constexpr std::size_t kKeptPayload = 4096;

// Whether the trouble is the database's or the machine's. Trying line by line would not help then.
bool concerns_all(Code code) noexcept {
  switch (code) {
    case Code::kBusy:
    case Code::kTimeout:
    case Code::kDiskFull:
    case Code::kIo:
    case Code::kPermission:
    case Code::kCannotCreate:
    case Code::kUnavailable:
    case Code::kConfig: return true;
    default: return false;
  }
}

// Lines into messages. An error from check() ends the input; one from read() concerns its line.
class MessageReader {
 public:
  Result<void> check(const InputLine& line) {
    const bool first = std::exchange(first_, false);
    const std::string_view wide = first ? wide_encoding(line.text) : std::string_view();
    if (wide.empty()) return {};
    return fail(Code::kBadInput, "the input is " + std::string(wide) + ", not UTF-8",
                "convert it: iconv -f " + std::string(wide) + " -t UTF-8");
  }

  Result<void> read(const InputLine& line, const EnqueueContext& context, NewMessage& out) {
    if (line.too_long)
      return fail(Code::kBadInput, "the line is longer than " + std::to_string(kLongestLine) + " bytes");
    if (auto read = reader_.read(line.text, fields_); !read) {
      if (line.unended && (read.error().field.empty() || !valid_utf8(line.text)))
        read.error().hint = "the last line is incomplete: was the input cut off?";
      return read;
    }
    return make_message(out, fields_, context);
  }

 private:
  LineReader reader_{};
  EnqueueFields fields_{};
  bool first_ = true;
};

void count(BulkSummary& summary, const InsertResult& result) {
  switch (result.kind) {
    case InsertResult::Kind::kCreated: ++summary.created; break;
    case InsertResult::Kind::kExisting: ++summary.existing; break;
    case InsertResult::Kind::kConflict: ++summary.conflict; break;
  }
}

}  // namespace

// --- a stream
// ---------------------------------------------------------------------------------------------------

// What became of one line: first a message or an error, then for a message its result.
struct BulkEnqueue::Item {
  std::int64_t line = 0;
  std::size_t text_begin = 0;  // in the group's texts
  std::size_t text_end = 0;
  std::optional<Error> error{};
  NewMessage message{};
  InsertResult result{};
};

// The lines of one transaction.
struct BulkEnqueue::Group {
  std::vector<Item> items{};  // the first `size` are the group; the rest keep their memory
  std::size_t size = 0;
  std::size_t messages = 0;
  std::size_t bytes = 0;
  std::string texts{};

  bool full() const noexcept { return size >= kGroupRows || bytes >= kGroupBytes; }

  Item& add(const InputLine& line) {
    if (size == items.size()) items.emplace_back();
    Item& item = items[size++];
    item.line = line.number;
    item.text_begin = texts.size();
    texts += line.text;
    item.text_end = texts.size();
    item.error.reset();
    bytes += line.text.size();
    return item;
  }

  std::string_view text(const Item& item) const {
    return std::string_view(texts).substr(item.text_begin, item.text_end - item.text_begin);
  }

  void clear() {
    for (std::size_t i = 0; i < size; ++i)
      if (items[i].message.payload.capacity() > kKeptPayload) items[i].message = NewMessage{};
    size = messages = bytes = 0;
    texts.clear();
  }
};

struct BulkEnqueue::Impl {
  Store& store;
  Clock& clock;
  CrashPoints& crash_points;
  EnqueueContext context;
  LineSink& sink;

  LineSplitter splitter{};
  MessageReader reader{};
  Group reading{};
  Group writing{};
  BulkSummary summary{};
  std::future<Result<void>> written{};  // of `writing`; last, so that it ends before what it uses

  Result<void> take_lines();
  Result<void> take(const InputLine& line);
  Result<void> hand_over();
  Result<void> settle();
  Result<void> insert_together();
  Result<void> report_all();
  Result<void> inserted_nothing(const Error& reason);
  void report(const Item& item);
  static Error not_taken(Error error, const Item& first);
};

Result<void> BulkEnqueue::Impl::take_lines() {
  for (InputLine line; splitter.next(line);) TRY(take(line));
  return {};
}

Result<void> BulkEnqueue::Impl::take(const InputLine& line) {
  TRY(reader.check(line));
  if (reading.size == 0) context.now = clock.now();
  Item& item = reading.add(line);
  if (auto read = reader.read(line, context, item.message); !read) {
    item.error = std::move(read).error();
  } else {
    ++reading.messages;
    reading.bytes += item.message.payload.size();
  }
  return reading.full() ? hand_over() : Result<void>();
}

// The group goes to the database on a thread of its own, while the next one is read.
Result<void> BulkEnqueue::Impl::hand_over() {
  TRY(settle());
  std::swap(reading, writing);
  if (writing.messages > 0) written = std::async(std::launch::async, [this] { return insert_together(); });
  return {};
}

// Waits for the group that is being written and tells what became of its lines. On an error that concerns all, what
// stands before the lines it names is durable; the rest is the caller's matter.
Result<void> BulkEnqueue::Impl::settle() {
  const Result<void> inserted = written.valid() ? written.get() : Result<void>();
  Result<void> told = inserted ? report_all() : inserted_nothing(inserted.error());
  writing.clear();
  if (!told) reading.clear();
  return told;
}

Result<void> BulkEnqueue::Impl::report_all() {
  for (std::size_t i = 0; i < writing.size; ++i) report(writing.items[i]);
  return {};
}

// The group was refused. Where the reason may be one message's, find out whose.
Result<void> BulkEnqueue::Impl::inserted_nothing(const Error& reason) {
  if (concerns_all(reason.code)) return fail(not_taken(reason, writing.items.front()));
  for (std::size_t i = 0; i < writing.size; ++i) {
    Item& item = writing.items[i];
    if (!item.error && writing.messages == 1) item.error = reason;
    if (!item.error) {
      auto inserted = enqueue_one(store, clock, crash_points, item.message);
      if (!inserted && concerns_all(inserted.error().code)) return fail(not_taken(inserted.error(), item));
      if (inserted)
        item.result = std::move(*inserted);
      else
        item.error = std::move(inserted).error();
    }
    report(item);
  }
  return {};
}

// On the group's own thread.
Result<void> BulkEnqueue::Impl::insert_together() {
  TRY(store.write([&]() -> Result<void> {
    const Instant now = clock.now();
    for (std::size_t i = 0; i < writing.size; ++i) {
      if (writing.items[i].error) continue;
      TRY_ASSIGN(writing.items[i].result, store.outbox().insert(writing.items[i].message, now));
    }
    crash_points.reach(CrashPoint::kEnqueueBeforeCommit);
    return {};
  }));
  crash_points.reach(CrashPoint::kEnqueueAfterCommit);
  return {};
}

void BulkEnqueue::Impl::report(const Item& item) {
  ++summary.lines;
  if (item.error) {
    ++summary.rejected;
    sink.rejected(item.line, *item.error, writing.text(item));
    return;
  }
  count(summary, item.result);
  const bool conflict = item.result.kind == InsertResult::Kind::kConflict;
  sink.inserted(item.line, item.message.dedup_key, item.result, conflict ? writing.text(item) : std::string_view());
}

Error BulkEnqueue::Impl::not_taken(Error error, const Item& first) {
  return with_context(std::move(error), "line " + std::to_string(first.line) + " and what follows was not taken");
}

BulkEnqueue::BulkEnqueue(Store& store, Clock& clock, CrashPoints& crash_points, const EnqueueContext& context,
                         LineSink& sink)
    : impl_(new Impl{store, clock, crash_points, context, sink}) {}
BulkEnqueue::~BulkEnqueue() = default;

Result<void> BulkEnqueue::feed(std::string_view bytes) {
  impl_->splitter.push(bytes);
  return impl_->take_lines();
}

Result<void> BulkEnqueue::flush() {
  TRY(impl_->hand_over());
  return impl_->settle();
}

Result<void> BulkEnqueue::finish() {
  impl_->splitter.finish();
  TRY(impl_->take_lines());
  return flush();
}

const BulkSummary& BulkEnqueue::summary() const { return impl_->summary; }

// --- all or nothing
// ---------------------------------------------------------------------------------------------

namespace {

// Gives every line of the input from its start.
template <class Visit>
Result<void> each_line(RewindableInput& input, MessageReader& reader, Visit&& visit) {
  TRY(input.rewind());
  LineSplitter splitter;
  for (bool more = true; more;) {
    TRY_ASSIGN(const std::string_view chunk, input.read());
    more = !chunk.empty();
    splitter.push(chunk);
    if (!more) splitter.finish();
    for (InputLine line; splitter.next(line);) {
      TRY(reader.check(line));
      TRY(visit(line));
    }
  }
  return {};
}

class AtomicEnqueue {
 public:
  AtomicEnqueue(Store& store, Clock& clock, CrashPoints& crash_points, const EnqueueContext& context,
                RewindableInput& input, LineSink& sink)
      : store_(store), clock_(clock), crash_points_(crash_points), context_(context), input_(input), sink_(sink) {
    context_.now = clock_.now();  // one instant for both readings
  }

  Result<BulkSummary> run() {
    TRY(check_all());
    if (summary_.rejected > 0) return summary_;
    auto written = store_.write([&] { return insert_all(); });
    const bool refused = !written && conflicts_ && written.error().code == Code::kConflict;
    if (!written && !refused) return fail(with_context(std::move(written).error(), "nothing was taken"));
    if (written) crash_points_.reach(CrashPoint::kEnqueueAfterCommit);
    for (const Inserted& inserted : inserted_) {
      if (refused && inserted.result.kind != InsertResult::Kind::kConflict) continue;
      count(summary_, inserted.result);
      sink_.inserted(inserted.line, inserted.key, inserted.result, inserted.text);
    }
    return summary_;
  }

 private:
  struct Inserted {
    std::int64_t line;
    std::string key;
    InsertResult result;
    std::string text;  // of a conflict
  };

  Result<void> check_all() {
    NewMessage message;
    MessageReader reader;
    return each_line(input_, reader, [&](const InputLine& line) -> Result<void> {
      if (++summary_.lines > kAtomicLines)
        return fail(Code::kBadInput, "the input has more than " + std::to_string(kAtomicLines) + " lines",
                    "without --atomic it may have any number");
      if (auto read = reader.read(line, context_, message); !read) {
        ++summary_.rejected;
        sink_.rejected(line.number, read.error(), line.text);
      }
      return {};
    });
  }

  // May be run again from its start.
  Result<void> insert_all() {
    inserted_.clear();
    conflicts_ = false;
    NewMessage message;
    MessageReader reader;
    const Instant now = clock_.now();
    TRY(each_line(input_, reader, [&](const InputLine& line) -> Result<void> {
      if (!reader.read(line, context_, message))
        return fail(Code::kIo, "line " + std::to_string(line.number) + " has changed since it was checked");
      TRY_ASSIGN(InsertResult result, store_.outbox().insert(message, now));
      const bool conflict = result.kind == InsertResult::Kind::kConflict;
      conflicts_ = conflicts_ || conflict;
      inserted_.push_back({line.number, message.dedup_key, std::move(result), std::string(conflict ? line.text : "")});
      return {};
    }));
    if (conflicts_) return fail(Code::kConflict, "keys exist with other content");  // rolls back
    crash_points_.reach(CrashPoint::kEnqueueBeforeCommit);
    return {};
  }

  Store& store_;
  Clock& clock_;
  CrashPoints& crash_points_;
  EnqueueContext context_;
  RewindableInput& input_;
  LineSink& sink_;
  BulkSummary summary_{};
  std::vector<Inserted> inserted_{};
  bool conflicts_ = false;
};

}  // namespace

Result<BulkSummary> enqueue_atomic(Store& store, Clock& clock, CrashPoints& crash_points, const EnqueueContext& context,
                                   RewindableInput& input, LineSink& sink) {
  return AtomicEnqueue(store, clock, crash_points, context, input, sink).run();
}

}  // namespace notify

#include "core/bulk_enqueue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/jsonl.hpp"
#include "support/fakes.hpp"
#include "support/memory_outbox.hpp"

namespace notify {
namespace {

using namespace std::string_literals;

class NoCrash final : public CrashPoints {
 public:
  void reach(CrashPoint point) override { reached.emplace_back(name(point)); }
  std::vector<std::string> reached{};
};

class Notes final : public LineSink {
 public:
  void inserted(std::int64_t line, std::string_view key, const InsertResult& result, std::string_view text) override {
    EXPECT_FALSE(store.writing) << "reported before it was durable";
    constexpr const char* kKinds[] = {"created", "existing", "conflict"};
    notes.push_back(std::to_string(line) + " " + kKinds[static_cast<int>(result.kind)] + " " + std::string(key));
    if (!text.empty()) texts.emplace_back(text);
  }
  void rejected(std::int64_t line, const Error& error, std::string_view text) override {
    notes.push_back(std::to_string(line) + " rejected " + error.field);
    errors.push_back(error);
    texts.emplace_back(text);
  }

  explicit Notes(const test::MemoryOutbox& s) : store(s) {}
  const test::MemoryOutbox& store;
  std::vector<std::string> notes{};
  std::vector<Error> errors{};
  std::vector<std::string> texts{};
};

std::string line(std::string_view key, std::string_view body = "b") {
  return R"({"channel":"mail","to":"a@x.test","key":")" + std::string(key) + R"(","body":")" + std::string(body) +
         "\"}\n";
}

std::string lines(int from, int to) {
  std::string all;
  for (int i = from; i <= to; ++i) all += line(std::to_string(i));
  return all;
}

class BulkEnqueueTest : public testing::Test {
 protected:
  test::MemoryOutbox store{};
  test::FakeClock clock{};
  NoCrash crash_points{};
  Notes sink{store};
  BulkEnqueue bulk{store, clock, crash_points, EnqueueContext{}, sink};

  void all(std::string_view input) {
    const auto fed = bulk.feed(input);
    ASSERT_TRUE(fed) << fed.error().message;
    const auto finished = bulk.finish();
    ASSERT_TRUE(finished) << finished.error().message;
  }
  void expect_summary(std::int64_t created, std::int64_t existing, std::int64_t conflict, std::int64_t rejected) const {
    const BulkSummary& s = bulk.summary();
    EXPECT_EQ(s.lines, created + existing + conflict + rejected);
    EXPECT_EQ(s.created, created);
    EXPECT_EQ(s.existing, existing);
    EXPECT_EQ(s.conflict, conflict);
    EXPECT_EQ(s.rejected, rejected);
  }
};

TEST_F(BulkEnqueueTest, TakesGoodLinesAndReportsBadOnesInOrder) {
  all(line("1") + "\n{\"to\":\"half\"\n" + line("1") + line("1", "other") +
      R"({"channel":"mail","to":"x","body":"b","bodi":"c"})" + "\n" + line("2"));
  const std::vector<std::string> expected{"1 created 1",  "3 rejected ",     "4 existing 1",
                                          "5 conflict 1", "6 rejected bodi", "7 created 2"};
  EXPECT_EQ(sink.notes, expected);
  expect_summary(2, 1, 1, 2);
  EXPECT_EQ(store.commits, 1);
  ASSERT_EQ(sink.texts.size(), 3U);
  EXPECT_EQ(sink.texts[0], "{\"to\":\"half\"");
  EXPECT_EQ(sink.texts[1] + "\n", line("1", "other")) << "a conflict's line is there for the rejects file";
}

TEST_F(BulkEnqueueTest, F61_EmptyInput) {
  all("");
  expect_summary(0, 0, 0, 0);
  EXPECT_EQ(store.commits, 0);
}

TEST_F(BulkEnqueueTest, F61_TheLastLineNeedsNoLineEnd) {
  std::string input = line("1") + line("2");
  input.pop_back();
  all(input);
  expect_summary(2, 0, 0, 0);
}

TEST_F(BulkEnqueueTest, F61_AHalfLastLineIsRefusedWithItsNumber) {
  all(line("1") + R"({"channel":"mail","to":"a)");
  const std::vector<std::string> expected{"1 created 1", "2 rejected "};
  EXPECT_EQ(sink.notes, expected);
  EXPECT_NE(sink.errors.at(0).hint.find("cut off"), std::string::npos);
}

TEST_F(BulkEnqueueTest, F61_ByteOrderMarksAndCarriageReturns) {
  std::string first = line("1");
  first.insert(first.size() - 1, "\r");
  all("\xef\xbb\xbf" + first + "\r\n \n\xef\xbb\xbf" + line("2"));
  expect_summary(2, 0, 0, 0);
}

TEST_F(BulkEnqueueTest, F61_Utf16IsCalledByItsName) {
  const auto fed = bulk.feed("\xff\xfe{\0\"\0t\0o\0\"\0\n\0"s);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, Code::kBadInput);
  EXPECT_NE(fed.error().message.find("UTF-16"), std::string::npos);
  EXPECT_NE(fed.error().hint.find("iconv"), std::string::npos);
}

TEST_F(BulkEnqueueTest, F61_ALineOf100MegabytesIsRefusedInBoundedMemory) {
  ASSERT_TRUE(bulk.feed(line("1")));
  const std::string chunk(1024 * 1024, 'x');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(bulk.feed(chunk));
  all("\n" + line("2"));
  expect_summary(2, 0, 0, 1);
  EXPECT_LE(sink.texts.at(0).size(), kLongestLine);
}

TEST_F(BulkEnqueueTest, F59_InvalidUtf8RefusesItsLineOnly) {
  all(line("1") + line("2", "\xed\xa0\x80") + line("3"));
  expect_summary(2, 0, 0, 1);
  EXPECT_NE(sink.errors.at(0).message.find("at byte"), std::string::npos);
}

TEST_F(BulkEnqueueTest, GroupsAreBoundedInRows) {
  ASSERT_TRUE(bulk.feed(lines(1, 2500)));
  EXPECT_EQ(bulk.summary().lines, 1000);  // the second thousand is being written, and the store is not ours to look at
  all("");
  EXPECT_EQ(store.commits, 3);
  expect_summary(2500, 0, 0, 0);
}

TEST_F(BulkEnqueueTest, GroupsAreBoundedInBytes) {
  std::string input;
  for (int i = 0; i < 10; ++i) input += line(std::to_string(i), std::string(1'000'000, 'x'));
  all(input);
  EXPECT_GE(store.commits, 4);
  expect_summary(10, 0, 0, 0);
}

TEST_F(BulkEnqueueTest, APauseCommitsTheWholeLinesSoFar) {
  const std::string second = line("2");
  ASSERT_TRUE(bulk.feed(line("1") + second.substr(0, 10)));
  EXPECT_EQ(store.commits, 0);
  ASSERT_TRUE(bulk.flush());
  EXPECT_EQ(store.commits, 1);
  EXPECT_EQ(sink.notes.size(), 1U);
  ASSERT_TRUE(bulk.flush());
  EXPECT_EQ(store.commits, 1) << "nothing new";
  all(second.substr(10));
  expect_summary(2, 0, 0, 0);
}

TEST_F(BulkEnqueueTest, RelativeTimesCountFromTheLinesOwnGroup) {
  const std::string timed = R"({"channel":"mail","to":"a","body":"b","not_before":"+1h"})"
                            "\n";
  ASSERT_TRUE(bulk.feed(timed) && bulk.flush());
  clock.advance(10h);
  all(timed);
  EXPECT_EQ(store.rows.at(0).not_before, test::kSomeTime + 1h);
  EXPECT_EQ(store.rows.at(1).not_before, test::kSomeTime + 11h);
}

TEST_F(BulkEnqueueTest, OneBadRowDoesNotKeepOutTheOthers) {
  store.before_insert = [](const NewMessage& message) -> Result<void> {
    if (message.dedup_key == "2") return fail(Code::kInternal, "constraint failed");
    return {};
  };
  all(lines(1, 3));
  const std::vector<std::string> expected{"1 created 1", "2 rejected ", "3 created 3"};
  EXPECT_EQ(sink.notes, expected);
  expect_summary(2, 0, 0, 1);
  EXPECT_EQ(store.rows.size(), 2U);
}

TEST_F(BulkEnqueueTest, ATroubleOfTheDatabaseEndsTheImport) {
  for (const Code code : {Code::kBusy, Code::kDiskFull, Code::kIo, Code::kPermission}) {
    Notes heard{store};
    BulkEnqueue import(store, clock, crash_points, {}, heard);
    store.rows.clear();
    store.commit_errors = {Error{code, "no"}};
    ASSERT_TRUE(import.feed(lines(1, 3)));
    const auto finished = import.finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, code);
    EXPECT_NE(finished.error().message.find("line 1 and what follows"), std::string::npos);
    EXPECT_TRUE(heard.notes.empty()) << "what is not durable is not reported";
    EXPECT_EQ(import.summary().lines, 0);
    EXPECT_TRUE(store.rows.empty());
  }
}

TEST_F(BulkEnqueueTest, ABusyDatabaseMayRunTheGroupTwice) {
  store.repeats = 1;
  all(lines(1, 3));
  expect_summary(3, 0, 0, 0);
  EXPECT_EQ(store.rows.size(), 3U);
}

TEST_F(BulkEnqueueTest, RerunAddsNothing) {
  all(lines(1, 1500));
  Notes again_sink{store};
  BulkEnqueue again(store, clock, crash_points, {}, again_sink);
  ASSERT_TRUE(again.feed(lines(1, 1500)) && again.finish());
  EXPECT_EQ(again.summary().existing, 1500);
  EXPECT_EQ(store.rows.size(), 1500U);
}

TEST_F(BulkEnqueueTest, ReachesItsCrashPoints) {
  all(line("1"));
  const std::vector<std::string> expected{"enqueue-before-commit", "enqueue-after-commit"};
  EXPECT_EQ(crash_points.reached, expected);
}

TEST_F(BulkEnqueueTest, OneMessage) {
  NewMessage message;
  message.dedup_key = "k";
  message.fingerprint = "f";
  EXPECT_EQ(enqueue_one(store, clock, crash_points, message)->kind, InsertResult::Kind::kCreated);
  EXPECT_EQ(enqueue_one(store, clock, crash_points, message)->kind, InsertResult::Kind::kExisting);
  message.fingerprint = "g";
  EXPECT_EQ(enqueue_one(store, clock, crash_points, message)->kind, InsertResult::Kind::kConflict);
  EXPECT_EQ(store.rows.size(), 1U);
}

// --- all or nothing

class Spool final : public RewindableInput {
 public:
  explicit Spool(std::string text) : text_(std::move(text)) {}
  Result<void> rewind() override {
    ++rewound;
    at_ = 0;
    return {};
  }
  Result<std::string_view> read() override {
    const auto chunk = std::string_view(text_).substr(at_, 1000);
    at_ += chunk.size();
    return chunk;
  }
  int rewound = 0;

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class AtomicTest : public testing::Test {
 protected:
  test::MemoryOutbox store{};
  test::FakeClock clock{};
  NoCrash crash_points{};
  Notes sink{store};

  Result<BulkSummary> run(const std::string& text) {
    Spool spool(text);
    return enqueue_atomic(store, clock, crash_points, {}, spool, sink);
  }
};

TEST_F(AtomicTest, AllInOneTransaction) {
  const auto summary = run(lines(1, 2500) + line("1"));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->created, 2500);
  EXPECT_EQ(summary->existing, 1);
  EXPECT_EQ(summary->lines, 2501);
  EXPECT_EQ(store.commits, 1);
  EXPECT_EQ(store.rows.size(), 2500U);
  EXPECT_EQ(sink.notes.size(), 2501U);
}

TEST_F(AtomicTest, ABadLineStopsAll) {
  const auto summary = run(line("1") + "{}\n" + line("2") + "x");
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->lines, 4);
  EXPECT_EQ(summary->rejected, 2);
  EXPECT_EQ(summary->created, 0);
  EXPECT_EQ(store.commits, 0);
  const std::vector<std::string> expected{"2 rejected channel", "4 rejected "};
  EXPECT_EQ(sink.notes, expected);
}

TEST_F(AtomicTest, AConflictStopsAll) {
  const auto summary = run(line("1") + line("2") + line("1", "other"));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->conflict, 1);
  EXPECT_EQ(summary->created, 0);
  EXPECT_TRUE(store.rows.empty());
  const std::vector<std::string> expected{"3 conflict 1"};
  EXPECT_EQ(sink.notes, expected);
  EXPECT_EQ(sink.texts.at(0) + "\n", line("1", "other"));
}

TEST_F(AtomicTest, ABusyDatabaseMayRunItTwice) {
  store.repeats = 1;
  const auto summary = run(lines(1, 3));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->created, 3);
  EXPECT_EQ(sink.notes.size(), 3U);
  EXPECT_EQ(store.rows.size(), 3U);
}

TEST_F(AtomicTest, ATroubleOfTheDatabaseIsAnError) {
  store.commit_errors = {Error{Code::kDiskFull, "disk full"}};
  const auto summary = run(lines(1, 3));
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, Code::kDiskFull);
  EXPECT_TRUE(sink.notes.empty());
  EXPECT_TRUE(store.rows.empty());
}

TEST_F(AtomicTest, TheNumberOfLinesIsBounded) {
  std::string text;
  for (std::int64_t i = 0; i <= kAtomicLines; ++i) text += "{\"channel\":\"m\",\"to\":\"a\",\"body\":\"b\"}\n";
  const auto summary = run(text);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, Code::kBadInput);
  EXPECT_TRUE(store.rows.empty());
}

}  // namespace
}  // namespace notify

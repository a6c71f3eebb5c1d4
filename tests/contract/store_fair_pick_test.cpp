// Who goes next, without a database.

#include "store/fair_pick.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace notify::test {
namespace {

using ::testing::ElementsAre;

struct Row {
  std::string channel{};
  int priority = 5;
  std::string kind{};
  std::int64_t ready = 0;
  int id = 0;
};

// The index and its rows in memory.
class Table final : public WaitingIndex, public WaitingRows {
 public:
  Result<std::optional<std::string>> next_channel(std::string_view after) override {
    std::optional<std::string> best;
    for (const Row& row : rows)
      if (row.channel > after && (!best || row.channel < *best)) best = row.channel;
    return best;
  }
  Result<std::optional<int>> next_priority(std::string_view channel, int below) override {
    std::optional<int> best;
    for (const Row& row : rows)
      if (row.channel == channel && row.priority < below && (!best || row.priority > *best)) best = row.priority;
    return best;
  }
  Result<std::optional<WaitingKind>> next_kind(std::string_view channel, int priority,
                                               std::optional<std::string_view> after) override {
    ++seeks;
    std::optional<WaitingKind> best;
    for (const Row& row : rows) {
      if (row.channel != channel || row.priority != priority || (after && row.kind <= *after)) continue;
      if (!best || row.kind < best->kind) best = WaitingKind{row.kind, {row.ready}};
      if (best->kind == row.kind) best->first_ready = std::min(best->first_ready, Instant{row.ready});
    }
    return best;
  }
  Result<int> fetch(std::string_view channel, int priority, std::string_view kind, int limit, int offset) override {
    int taken = 0;
    for (const Row& row : rows) {
      if (row.channel != channel || row.priority != priority || row.kind != kind || row.ready > now.ms) continue;
      if (offset-- > 0) continue;
      if (taken == limit) break;
      picked.push_back(row);
      ++taken;
    }
    return taken;
  }

  // What was picked goes away, as a claim takes it out of the index.
  std::vector<Row> take() {
    for (const Row& row : picked) std::erase_if(rows, [&](const Row& r) { return r.id == row.id; });
    return std::exchange(picked, {});
  }

  std::vector<Row> rows{};
  std::vector<Row> picked{};
  Instant now{100};
  int seeks = 0;
};

TEST(FairPick, NothingFromNothing) {
  Table table;
  FairPick pick;
  EXPECT_EQ(*pick.from_all(table, table, table.now, 10), 0);
  EXPECT_EQ(*pick.from_channel(table, table, "a", table.now, 10), 0);
  EXPECT_FALSE(FairPick::first_ready(table, "a")->has_value());
}

TEST(FairPick, NeverTheSameRowTwiceAndNoneForgotten) {
  Table table;
  FairPick pick;
  int id = 0;
  std::uint64_t random = 7;
  for (int i = 0; i < 2000; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    table.rows.push_back({"c" + std::to_string(random >> 60U), static_cast<int>((random >> 50U) % 10),
                          "k" + std::to_string((random >> 40U) % 150), static_cast<std::int64_t>((random >> 30U) % 200),
                          ++id});
  }
  const auto ready = std::count_if(table.rows.begin(), table.rows.end(), [](const Row& r) { return r.ready <= 100; });
  std::set<int> seen;
  while (true) {
    const int got = *pick.from_all(table, table, table.now, 37);
    ASSERT_EQ(static_cast<std::size_t>(got), table.picked.size());
    if (got == 0) break;
    if (got < 37) {
      EXPECT_EQ(static_cast<std::ptrdiff_t>(seen.size()) + got, ready) << "fewer only when there are no more";
    }
    for (const Row& row : table.take()) {
      EXPECT_LE(row.ready, 100);
      EXPECT_TRUE(seen.insert(row.id).second);
    }
  }
  EXPECT_EQ(static_cast<std::ptrdiff_t>(seen.size()), ready);
}

TEST(FairPick, ChannelsShareEqually) {
  Table table;
  FairPick pick;
  for (int i = 0; i < 100; ++i) table.rows.push_back({"a", 9, "x", 0, i});
  for (int i = 0; i < 100; ++i) table.rows.push_back({"b", 0, "x", 0, 1000 + i});
  for (int i = 0; i < 3; ++i) table.rows.push_back({"c", 5, "x", 0, 2000 + i});
  EXPECT_EQ(*pick.from_all(table, table, table.now, 30), 30);
  const auto of = [&](const char* channel) {
    return std::count_if(table.picked.begin(), table.picked.end(), [&](const Row& r) { return r.channel == channel; });
  };
  EXPECT_EQ(of("c"), 3);
  EXPECT_GE(of("a"), 13);
  EXPECT_GE(of("b"), 13);
}

TEST(FairPick, UrgentFirstWithinAChannel) {
  Table table;
  FairPick pick;
  table.rows = {{"a", 1, "x", 0, 1}, {"a", 9, "y", 0, 2}, {"a", 5, "x", 0, 3}, {"a", 9, "z", 101, 4}};
  EXPECT_EQ(*pick.from_channel(table, table, "a", table.now, 10), 3);
  std::vector<int> ids;
  for (const Row& row : table.picked) ids.push_back(row.id);
  EXPECT_THAT(ids, ElementsAre(2, 3, 1));
}

TEST(FairPick, LooksOnlyAtAsManyKindsAsItNeeds) {
  Table table;
  FairPick pick;
  for (int i = 0; i < 1000; ++i) table.rows.push_back({"a", 5, "k" + std::to_string(i), 0, i});
  *pick.from_channel(table, table, "a", table.now, 10);
  EXPECT_LE(table.seeks, 12);
}

TEST(FairPick, FirstReadyMayLieInThePast) {
  Table table;
  table.rows = {{"a", 1, "x", 500, 1}, {"a", 9, "y", 40, 2}, {"b", 9, "y", 1, 3}};
  EXPECT_EQ(FairPick::first_ready(table, "a")->value(), Instant{40});
}

}  // namespace
}  // namespace notify::test

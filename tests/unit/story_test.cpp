#include "core/story.hpp"

#include <gtest/gtest.h>

namespace notify {
namespace {

MessageStory sent_at_once() {
  MessageStory story;
  OutboxStory& outbox = story.outbox.emplace();
  outbox.status = "PUBLISHED";
  outbox.created_at = Instant{100};
  outbox.updated_at = Instant{200};
  InboxStory& inbox = story.inbox.emplace();
  inbox.status = "SENT";
  inbox.calls = 1;
  inbox.claimed_at = Instant{300};
  inbox.settled_at = Instant{340};
  inbox.reason = "http-202";
  inbox.reference = "ref";
  inbox.vendor_status = 202;
  return story;
}

std::vector<std::string> names(const MessageStory& story) {
  std::vector<std::string> names;
  for (const EventStory& event : story.events) names.push_back(event.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Story, RowsTellOfTheUsualLife) {
  MessageStory story = sent_at_once();
  tell_from_rows(story);
  EXPECT_EQ(names(story), (Names{"enqueued", "published"}));
  EXPECT_EQ(story.events[1].at, Instant{200});
  ASSERT_EQ(story.attempts.size(), 1U);
  const AttemptStory& call = story.attempts.front();
  EXPECT_EQ(call.at, Instant{340});
  EXPECT_EQ(call.number, 1);
  EXPECT_EQ(call.outcome, "sent");
  EXPECT_EQ(call.reason, "http-202");
  EXPECT_EQ(call.reference, "ref");
  EXPECT_EQ(call.status, 202);
  EXPECT_EQ(call.elapsed, 40ms);
}

TEST(Story, WhatIsWrittenDownIsToldOnce) {
  MessageStory story = sent_at_once();
  story.attempts.push_back({Instant{340}, 1, "sent", {}, {}, {}, 200, {}, 0, 5ms, true});
  tell_from_rows(story);
  EXPECT_EQ(story.attempts.size(), 1U);

  story = sent_at_once();  // a receipt has settled it
  story.events.push_back({Instant{340}, "accepted", {}, "reconcile"});
  tell_from_rows(story);
  EXPECT_TRUE(story.attempts.empty());
  EXPECT_EQ(names(story), (Names{"enqueued", "published", "accepted"}));

  story = sent_at_once();  // the second call; of the first there is an attempt
  story.inbox->calls = 2;
  tell_from_rows(story);
  EXPECT_TRUE(story.attempts.empty());
}

TEST(Story, ALifeBeforeAReplayDoesNotHideTheLastOne) {
  MessageStory story = sent_at_once();
  story.attempts.push_back({Instant{150}, 1, "permanent"});
  story.events = {
      {Instant{120}, "published", {}, {}}, {Instant{150}, "failed", {}, {}}, {Instant{180}, "replayed", {}, {}}};
  tell_from_rows(story);
  EXPECT_EQ(names(story), (Names{"enqueued", "published", "failed", "replayed", "published"}));
  ASSERT_EQ(story.attempts.size(), 2U);
  EXPECT_EQ(story.attempts[1].outcome, "sent");
}

TEST(Story, WhatHasNotHappenedIsNotTold) {
  MessageStory story;
  story.outbox.emplace().status = "PENDING";
  tell_from_rows(story);
  EXPECT_EQ(names(story), Names{"enqueued"});
  story = {};
  tell_from_rows(story);
  EXPECT_TRUE(story.events.empty());
}

}  // namespace
}  // namespace notify

#include "core/story.hpp"

#include <algorithm>

#include "core/outcome.hpp"

namespace notify {
namespace {

template <class Told>
void insert_by_time(std::vector<Told>& entries, Told entry) {
  const auto place =
      std::upper_bound(entries.begin(), entries.end(), entry, [](const Told& a, const Told& b) { return a.at < b.at; });
  entries.insert(place, std::move(entry));
}

// Publishes before a replay have an event, since the row tells of the last one only.
bool publish_is_told(const MessageStory& story) {
  const auto replayed = std::find_if(story.events.rbegin(), story.events.rend(),
                                     [](const EventStory& e) { return e.name == "replayed"; });
  return std::any_of(story.events.rbegin(), replayed, [](const EventStory& e) { return e.name == "published"; });
}

// Calls that went any other way have their attempt, and what evidence has proven has its event.
bool succeeded_at_once(const MessageStory& story) {
  if (!story.inbox || story.inbox->status != "SENT" || story.inbox->calls != 1) return false;
  if (!story.inbox->claimed_at || !story.inbox->settled_at) return false;
  const Instant claimed = *story.inbox->claimed_at;
  return std::none_of(story.attempts.begin(), story.attempts.end(),
                      [&](const AttemptStory& a) { return a.at >= claimed; }) &&
         std::none_of(story.events.begin(), story.events.end(),
                      [&](const EventStory& e) { return e.name == "accepted" && e.at >= claimed; });
}

}  // namespace

void tell_from_rows(MessageStory& story) {
  const bool published = story.outbox && story.outbox->status == "PUBLISHED" && !publish_is_told(story);
  if (published) insert_by_time(story.events, {story.outbox->updated_at, "published", {}, {}});
  if (story.outbox) story.events.insert(story.events.begin(), {story.outbox->created_at, "enqueued", {}, {}});
  if (!succeeded_at_once(story)) return;
  const InboxStory& inbox = *story.inbox;
  AttemptStory attempt;
  attempt.at = *inbox.settled_at;
  attempt.number = 1;
  attempt.outcome = outcome_name(OutcomeClass::kSent);
  attempt.reason = inbox.reason;
  attempt.detail = inbox.detail;
  attempt.reference = inbox.reference;
  attempt.status = inbox.vendor_status;
  attempt.elapsed = *inbox.settled_at - *inbox.claimed_at;
  insert_by_time(story.attempts, std::move(attempt));
}

}  // namespace notify

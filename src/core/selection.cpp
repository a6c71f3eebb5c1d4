#include "core/selection.hpp"

#include <string_view>
#include <unordered_set>

#include "core/inbox_state.hpp"
#include "core/outbox_state.hpp"
#include "core/ports/operator_table.hpp"

namespace notify {
namespace {

constexpr std::size_t kShown = 10;

// The policies' reasons for not sending what is worthless by then.
bool says_expired(std::string_view reason) { return reason == "expired" || reason == "expires-in-quiet-hours"; }

class Selector {
 public:
  Selector(Reports& reports, ListFilter filter, Instant now)
      : reports_(reports), filter_(std::move(filter)), now_(now) {
    filter_.newest_first = false;
    limit_ = static_cast<std::size_t>(filter_.limit);
    filter_.limit = 0;  // over all tables together, and after what is chosen here
  }

  template <class Wanted>
  Result<void> take(ListSubject subject, std::string_view state, Wanted wanted) {
    if (full()) return {};
    filter_.state = state;
    return reports_.list(subject, filter_, now_, [&](const ListRow& row) {
      if (wanted(row) && seen_.insert(row.message_id).second) {
        selected_.ids.push_back(row.message_id);
        if (selected_.first.size() < kShown) selected_.first.push_back(row);
      }
      return !full();
    });
  }

  Selected result() && { return std::move(selected_); }

 private:
  bool full() const { return limit_ != 0 && selected_.ids.size() >= limit_; }

  Reports& reports_;
  ListFilter filter_;
  Instant now_;
  std::size_t limit_ = 0;
  Selected selected_{};
  std::unordered_set<std::string> seen_{};
};

}  // namespace

Result<Selected> select_messages(Reports& reports, SelectionKind kind, ListFilter filter, Instant now) {
  Selector selector(reports, std::move(filter), now);
  const auto any = [](const ListRow&) { return true; };
  const auto expired = [](const ListRow& row) { return says_expired(row.reason); };
  const auto otherwise = [](const ListRow& row) { return !says_expired(row.reason) && row.reason != kDropped; };
  const auto parked = [](const ListRow& row) { return row.parked; };  // what was dropped is not
  switch (kind) {
    case SelectionKind::kParked: TRY(selector.take(ListSubject::kParked, "", any)); break;
    case SelectionKind::kFailed:
      TRY(selector.take(ListSubject::kOutbox, name(OutboxState::kFailed), any));
      TRY(selector.take(ListSubject::kInbox, name(InboxState::kFailed), parked));
      break;
    case SelectionKind::kExpired:
      TRY(selector.take(ListSubject::kOutbox, name(OutboxState::kExpired), any));
      TRY(selector.take(ListSubject::kInbox, name(InboxState::kSkipped), expired));
      break;
    case SelectionKind::kSkipped:
      TRY(selector.take(ListSubject::kOutbox, name(OutboxState::kSkipped), any));
      TRY(selector.take(ListSubject::kInbox, name(InboxState::kSkipped), otherwise));
      break;
    case SelectionKind::kError: TRY(selector.take(ListSubject::kInbox, name(InboxState::kError), any)); break;
  }
  return std::move(selector).result();
}

}  // namespace notify

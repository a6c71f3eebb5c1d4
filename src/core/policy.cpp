#include "core/policy.hpp"

#include <algorithm>
#include <chrono>

#include "core/recipient.hpp"

namespace notify {
namespace {

bool inside(const DailyWindow& window, int minute) {
  if (window.from < window.until) return window.from <= minute && minute < window.until;
  return minute >= window.from || minute < window.until;  // spans midnight
}

CivilTime on_day(const CivilTime& date, int days_later, int minute) {
  namespace chrono = std::chrono;
  const chrono::sys_days day =
      chrono::sys_days{chrono::year{date.year} / date.month / date.day} + chrono::days{days_later};
  const chrono::year_month_day ymd{day};
  return {static_cast<int>(ymd.year()),
          static_cast<int>(static_cast<unsigned>(ymd.month())),
          static_cast<int>(static_cast<unsigned>(ymd.day())),
          minute / 60,
          minute % 60,
          0};
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Policies::Policies(const Config& config, const Zone* zone) : config_(config), zone_(zone) {
  ASSERT(config.quiet_hours.empty() || zone != nullptr);
}

bool guard_allows(const Config& config, std::string_view recipient) {
  if (!config.guarded()) return true;
  const std::string address = match_address(recipient);
  return std::any_of(config.guard.allow.begin(), config.guard.allow.end(), [&](const std::string& pattern) {
    return glob_match(match_pattern(pattern, recipient), address);
  });
}

Verdict Policies::judge(const Envelope& envelope, Stage stage, Instant now, std::string_view address) const {
  using Kind = Verdict::Kind;
  if (envelope.expires && *envelope.expires <= now) return {Kind::kExpire, {}, "expired"};
  const bool not_looked_up = address.empty() && is_recipient_reference(envelope.recipient);
  if (!not_looked_up && !guard_allows(address.empty() ? envelope.recipient : address))
    return {Kind::kSkip, {}, "guard"};
  if (const std::optional<Instant> opening = next_opening(envelope.category, stage, now)) {
    if (envelope.expires && *envelope.expires <= *opening) return {Kind::kExpire, {}, "expires-in-quiet-hours"};
    return {Kind::kDefer, *opening, "quiet-hours"};
  }
  return {};
}

// The end of the quiet hours that `now` is in; empty when it is in none.
std::optional<Instant> Policies::next_opening(std::string_view category, Stage stage, Instant now) const {
  const auto hours = config_.quiet_hours.find(std::string(category));
  if (hours == config_.quiet_hours.end()) return std::nullopt;
  const std::optional<DailyWindow>& window = stage == Stage::kRelay ? hours->second.relay : hours->second.worker;
  if (!window) return std::nullopt;

  const CivilTime local = zone_->to_local(now);
  const int minute = local.hour * 60 + local.minute;
  if (!inside(*window, minute)) return std::nullopt;
  for (const int days : {minute < window->until ? 0 : 1, 1, 2}) {
    const Result<Instant> opening = zone_->from_local(on_day(local, days, window->until));
    if (opening && *opening > now) return *opening;
    // Where clocks are set back the minute comes twice, and the first one is over.
    if (opening && *opening + 1h > now && zone_->to_local(*opening + 1h) == zone_->to_local(*opening))
      return *opening + 1h;
  }
  return now + 1h;  // a zone that cannot name the opening: ask again, never send inside
}

}  // namespace notify

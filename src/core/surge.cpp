#include "core/surge.hpp"

#include <numeric>

namespace notify {
namespace {

constexpr Duration kSpan = 1h;

std::int64_t within(const std::vector<VolumeSpan>& volume, Instant from, Instant until) {
  return std::accumulate(volume.begin(), volume.end(), std::int64_t{0}, [&](std::int64_t sum, const VolumeSpan& span) {
    return span.begin > from && span.begin <= until ? sum + span.messages : sum;
  });
}

// The busiest hour of the day before the one that is running. A mean would call every nightly batch a surge.
std::int64_t usual_hour(const std::vector<VolumeSpan>& volume, Instant now) {
  std::int64_t most = 0;
  for (const VolumeSpan& span : volume) {
    if (span.begin > now - kSpan) continue;
    most = std::max(most, within(volume, span.begin - kSpan, span.begin));
  }
  return most;
}

void limit(SurgeRoom& room, std::int64_t allowed, std::int64_t used, std::string measure) {
  const std::int64_t left = std::max<std::int64_t>(allowed - used, 0);
  if (left >= room.messages) return;
  room.messages = left;
  room.measure = std::move(measure);
}

}  // namespace

SurgeRoom surge_room(const SurgeConfig& config, std::int64_t handed_on, bool held,
                     const std::vector<VolumeSpan>& volume, Instant now) {
  SurgeRoom room;
  if (config.per_run_max > 0)
    limit(room, held ? 0 : config.per_run_max, handed_on, std::to_string(config.per_run_max) + " messages in one run");
  const std::int64_t last_hour = within(volume, now - kSpan, now);
  if (config.per_hour_max > 0)
    limit(room, config.per_hour_max, last_hour, std::to_string(config.per_hour_max) + " messages in an hour");
  if (config.hourly_factor > 0) {
    const std::int64_t allowed = std::max(config.hourly_min, config.hourly_factor * usual_hour(volume, now));
    limit(room, allowed, last_hour, std::to_string(allowed) + " messages in an hour, by the last day's volume");
  }
  return room;
}

}  // namespace notify

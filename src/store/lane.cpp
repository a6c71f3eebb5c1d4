#include "store/lane.hpp"

namespace notify {
namespace {

#define LANE_COLUMNS                                                                                           \
  "channel, paused, paused_until, reason, halted, probe_at, probe_interval_ms, hold_until, refused_in_a_row, " \
  "rate_next_us"

Lane read_lane(const sqlite::Use& row) {
  Lane lane;
  lane.channel = row.text(0);
  lane.paused = row.flag(1);
  lane.paused_until = row.maybe_instant(2);
  lane.reason = row.text(3);
  lane.halted = row.flag(4);
  lane.probe_at = row.instant(5);
  lane.probe_interval = Duration{row.integer(6)};
  lane.hold_until = row.maybe_instant(7);
  lane.refused_in_a_row = row.small(8);
  lane.rate_next_us = row.integer(9);
  return lane;
}

}  // namespace

Result<std::vector<Lane>> SqliteLanes::all() {
  // A row per channel that was ever in trouble: few.
  TRY_ASSIGN(sqlite::Use query,
             session_.database().use("SELECT " LANE_COLUMNS " FROM notification_lane WHERE channel > ''"));
  std::vector<Lane> lanes;
  while (true) {
    TRY_ASSIGN(const bool more, query.row());
    if (!more) return lanes;
    lanes.push_back(read_lane(query));
  }
}

Result<std::optional<Lane>> SqliteLanes::find(std::string_view channel) {
  TRY_ASSIGN(sqlite::Use query,
             session_.database().use("SELECT " LANE_COLUMNS " FROM notification_lane WHERE channel = ?1"));
  TRY_ASSIGN(const bool found, query.bind(channel).row());
  if (!found) return std::nullopt;
  return read_lane(query);
}

Result<void> SqliteLanes::save(const Lane& lane, Instant now) {
  TRY_ASSIGN(sqlite::Use save, session_.writer().use(R"sql(
    INSERT OR REPLACE INTO notification_lane
           (channel, paused, paused_until, reason, halted, probe_at, probe_interval_ms, hold_until, refused_in_a_row,
            rate_next_us, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11))sql"));
  TRY(save.bind(lane.channel, lane.paused, lane.paused_until, lane.reason, lane.halted, lane.probe_at,
                lane.probe_interval, lane.hold_until, lane.refused_in_a_row, lane.rate_next_us, now)
          .run());
  return {};
}

}  // namespace notify

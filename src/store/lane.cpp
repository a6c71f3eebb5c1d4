#include "store/lane.hpp"

#include "store/change_one.hpp"

namespace notify {
namespace {

#define LANE_COLUMNS                                                                                           \
  "channel, paused, paused_until, reason, halted, probe_at, probe_interval_ms, hold_until, refused_in_a_row, " \
  "rate_next_us, pause_reason, paused_at, reported_at, opened_at"

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
  lane.pause_reason = row.text(10);
  lane.paused_at = row.maybe_instant(11);
  lane.reported_at = row.maybe_instant(12);
  lane.opened_at = row.instant(13);
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
    INSERT INTO notification_lane (channel, reason, halted, probe_at, probe_interval_ms, hold_until, refused_in_a_row,
                                   rate_next_us, updated_at, reported_at, opened_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
    ON CONFLICT (channel) DO UPDATE
       SET reason = excluded.reason, halted = excluded.halted, probe_at = excluded.probe_at,
           probe_interval_ms = excluded.probe_interval_ms, hold_until = excluded.hold_until,
           refused_in_a_row = excluded.refused_in_a_row, rate_next_us = excluded.rate_next_us,
           updated_at = excluded.updated_at, reported_at = excluded.reported_at,
           opened_at = excluded.opened_at)sql"));
  TRY(save.bind(lane.channel, lane.reason, lane.halted, lane.probe_at, lane.probe_interval, lane.hold_until,
                lane.refused_in_a_row, lane.rate_next_us, now, lane.reported_at, lane.opened_at)
          .run());
  return {};
}

Result<void> SqliteLanes::pause(std::string_view channel, std::optional<Instant> until, std::string_view reason,
                                Instant now) {
  TRY_ASSIGN(sqlite::Use pause, session_.writer().use(R"sql(
    INSERT INTO notification_lane (channel, paused, paused_until, paused_at, pause_reason, updated_at)
    VALUES (?1, 1, ?2, ?4, ?3, ?4)
    ON CONFLICT (channel) DO UPDATE
       SET paused = 1, paused_until = excluded.paused_until, paused_at = excluded.paused_at,
           pause_reason = excluded.pause_reason, updated_at = excluded.updated_at)sql"));
  TRY(pause.bind(channel, until, reason, now).run());
  return {};
}

Result<bool> SqliteLanes::resume(std::string_view channel, Instant now) {
  return change_one(session_, R"sql(
    UPDATE notification_lane
       SET paused = 0, paused_until = NULL, paused_at = NULL, pause_reason = '', halted = 0, probe_at = 0,
           probe_interval_ms = 0, hold_until = NULL, refused_in_a_row = 0, reason = '', reported_at = NULL,
           opened_at = ?2, updated_at = ?2
     WHERE channel = ?1 AND (paused = 1 OR halted = 1 OR hold_until IS NOT NULL))sql",
                    channel, now);
}

}  // namespace notify

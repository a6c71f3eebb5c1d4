#include "core/lane_alerts.hpp"

namespace notify {

Result<void> note_closed_lanes(Store& store, Clock& clock, std::span<const WorkLane> lanes) {
  return store.write([&]() -> Result<void> {
    const Instant now = clock.now();
    for (const WorkLane& lane : lanes) {
      const std::string& channel = lane.config->name;
      if (lane.driver == nullptr) {
        TRY(store.alerts().raise("lane-halted", channel, {}, lane.trouble.message, now));
        continue;
      }
      TRY_ASSIGN(const std::optional<Lane> state, store.lanes().find(channel));
      if (!state || !state->halted) TRY(store.alerts().close("lane-halted", channel, now));
    }
    return {};
  });
}

}  // namespace notify

#pragma once

#include "core/report.hpp"
#include "store/session.hpp"

namespace notify {

// Inside a read transaction. `outbox_id`: what the id or key was found to be; a message whose outbox row is elsewhere
// or gone is found by its message id. Nothing when it is unknown everywhere.
Result<std::optional<MessageStory>> read_story(Session& session, std::optional<std::int64_t> outbox_id,
                                               std::string_view id_or_key, Instant now);

}  // namespace notify

#pragma once

#include "core/report.hpp"
#include "store/session.hpp"

namespace notify {

// Inside a read transaction. `outbox_id`: what the id or key was found to be; a message whose outbox row is elsewhere
// or gone is found by its message id. Nothing when it is unknown everywhere.
Result<std::optional<MessageStory>> read_story(Session& session, std::optional<std::int64_t> outbox_id,
                                               std::string_view id_or_key, Instant now);

// The id of a message that was here and that prune has taken away; nothing when none with this id or key was. A key is
// forgotten with retention.keep_keys, an id never; but an id may also belong to an insert that was ignored, which leaves
// its number out.
Result<std::optional<std::string>> read_pruned(Session& session, std::string_view id_or_key);

}  // namespace notify
